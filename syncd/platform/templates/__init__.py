"""Templates: content to start from. A template is a space of the same organization, or one that the platform has."""
