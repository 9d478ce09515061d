"""What needs a person's word, and who may see what."""
