"""What is known of own change requests: in Git, in notes, and in what was sent."""
