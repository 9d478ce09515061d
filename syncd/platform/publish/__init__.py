"""What visitors get of a site: how it looks, who may see what, and by which secret addresses."""
