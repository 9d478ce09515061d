"""Integrations: apps that organizations publish and install, what happens to them, and the webhooks that tell it."""
