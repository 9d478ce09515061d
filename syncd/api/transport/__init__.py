"""One request to the platform: deadlines, limits, tries, and what an answer may be."""
