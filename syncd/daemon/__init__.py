"""The service: clock, watcher, signals and systemd around the flows; it decides when, never what."""
