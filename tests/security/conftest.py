"""What attacks are tried on: the program as people run it."""

from tests.cli.conftest import shell

__all__ = ["shell"]
