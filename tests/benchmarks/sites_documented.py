"""Serve a platform that offers on sites only what the API document has: `python -m … DIRECTORY` prints its address."""

import sys
from pathlib import Path

from syncd.platform.server import serve
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage_options import StorageOptions


def main() -> None:
    """Serve the directory that the command line names, until a signal comes."""
    premises = StorageOptions(Path(sys.argv[1]))
    serve(
        premises,
        PlatformSettings(site_write=False),
        host="127.0.0.1",
        port=0,
        announce=lambda url: print(url, flush=True),
    )


if __name__ == "__main__":
    main()
