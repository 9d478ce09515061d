"""A published site for agents that speak the Model Context Protocol: its search and its pages as tools."""
