"""Write, patch and convert site files."""
