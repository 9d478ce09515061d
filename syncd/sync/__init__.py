"""The hall: the only place where plans meet I/O."""
