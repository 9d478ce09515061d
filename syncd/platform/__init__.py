"""The embedded platform: the whole API as a real server with a real database; only `cli` and `daemon` import it."""
