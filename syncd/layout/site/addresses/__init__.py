"""Where visitors read what."""
