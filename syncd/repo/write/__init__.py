"""Write objects and move refs."""
