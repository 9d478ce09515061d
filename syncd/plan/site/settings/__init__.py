"""What a site has once: its own settings, what it may know of its visitors, and how it looks."""
