"""What a site shows, from Git alone, and a static site that is built of it."""
