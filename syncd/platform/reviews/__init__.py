"""Reviews of change requests, and who is asked for one."""
