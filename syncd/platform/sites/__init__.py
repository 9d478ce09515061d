"""Sites: sections, site-spaces and redirects."""
