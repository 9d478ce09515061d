"""The process that lays out one PDF: reads its job as JSON, writes the file, and can do nothing else for long.

Run as `python -m syncd.platform.services.pdf.worker DIRECTORY`, where the directory has the job and the images. It
never opens a connection: an image is drawn when it is in the directory, and an address is only ever written down.
"""

import json
import os
import resource
import sys
from contextlib import suppress
from pathlib import Path

CPU_S = 60
MEMORY_BYTES = 2 * 1024**3
FILE_BYTES = 256 * 1024**2
JOB = "job"
"""Name of the file with the job: lines of JSON, the title first, then a page each."""
NICE = 10


def main() -> None:
    """Lay out the job in the directory that is the argument, and write the PDF to standard output."""
    # The server, whose answers are waited for, goes first; where a sandbox forbids to say so, the two compete.
    with suppress(PermissionError):
        os.nice(NICE)
    # Whatever a hostile image or text leads a library to do, it ends here.
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    from syncd.platform.services.pdf.layout import PdfLayout

    directory = Path(sys.argv[1])
    with (directory / JOB).open("rb") as file:
        title, *pages = map(json.loads, file)
    sys.stdout.buffer.write(PdfLayout({"title": title, "pages": pages}, directory).draw())


if __name__ == "__main__":
    main()
