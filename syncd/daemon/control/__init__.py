"""How other processes speak to the service: its socket, its commands, and what outlasts a restart."""
