"""Ask: questions about a site, answered from what it publishes, in its own words or by a model that read them."""
