"""`python -m syncd` is the same program as `syncd`."""

from syncd.cli import main

main()
