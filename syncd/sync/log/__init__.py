"""Log: what happened, from what Git and the state database have recorded already."""
