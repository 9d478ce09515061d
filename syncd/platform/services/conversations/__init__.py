"""Conversations: what people asked elsewhere, taken in, searched for issues, and the issues put into clusters."""
