"""`web`: a link to the status page of the service, and what that page reads."""
