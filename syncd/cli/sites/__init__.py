"""`syncd site …` and `syncd redirects …`: what people do with a site that follows a file."""
