"""`syncd redirects …`: edit, test, replay and export the redirects of a site file, mostly offline."""
