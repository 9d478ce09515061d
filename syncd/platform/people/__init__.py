"""People: members of organizations, how they come in, the teams that they form, and what they are allowed."""
