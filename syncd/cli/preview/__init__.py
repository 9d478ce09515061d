"""`syncd preview`: what is being written, as readers will see it, on this machine."""
