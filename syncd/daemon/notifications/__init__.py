"""Notifications: people hear of what needs them, once when it begins and once when it ends."""
