"""Plans for sites: file, lock and platform in; steps in waves, and the gates before them, out. All pure."""
