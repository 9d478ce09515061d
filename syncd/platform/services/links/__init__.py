"""Links and backlinks: what each page refers to, whether that is there, and who refers to a page or file."""
