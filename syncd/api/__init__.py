"""The platform over HTTP: one transport, and one class per resource group; sole importer of httpx."""

import sys

# The command line that httpx brings for itself takes a third of its import; without it httpx is the same library.
if "httpx" not in sys.modules:
    sys.modules["httpx._main"] = None  # type: ignore[assignment]
    import httpx as httpx

    del sys.modules["httpx._main"]
