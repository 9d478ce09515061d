"""The commands for many hosts."""
