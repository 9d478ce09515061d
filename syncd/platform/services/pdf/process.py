"""A PDF as an answer: laid out in a process of its own, once for all who ask for the same one."""

import logging
import os
import sys
import tempfile
from collections.abc import Callable, Hashable
from pathlib import Path
from urllib.parse import quote

import anyio
from fastapi import Request, Response
from starlette.concurrency import run_in_threadpool

import syncd
from syncd.platform.http.failures import Failure
from syncd.platform.http.scheduler import RequestScheduler
from syncd.platform.http.time_limits import LONG_S, limit_time

MEDIA = "application/pdf"
PATIENCE_S = 90
"""For the whole PDF; its process has less computing time than that."""

_log = logging.getLogger(__name__)


async def answer_pdf(
    request: Request, title: str, key: Hashable, write_job: Callable[[Path], None], *, cache: str
) -> Response:
    """Answer with the PDF of what `write_job` writes into a directory; `cache` is for the header `Cache-Control`.

    Shape: `key` has all that the PDF depends on. Raises: Failure 413 when it is too much for one PDF, 503 when too many
    wait for theirs.
    """
    scheduler: RequestScheduler = request.app.state.scheduler

    async def make() -> bytes:
        async with scheduler.acquire_slot("pdf", request):
            with limit_time(LONG_S):
                return await _render_pdf(write_job)

    headers = {
        "Content-Disposition": f"inline; filename*=UTF-8''{quote(title, safe='')}.pdf",
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": cache,
    }
    return Response(await scheduler.share_result(("pdf", key), make), media_type=MEDIA, headers=headers)


def _find_error_name(trace: bytes) -> str:
    """Return the name of the error that ended a process, from its standard error; the message itself may quote
    content.
    """
    *_, last = trace.decode(errors="replace").strip().split("\n")
    return last.partition(":")[0] or "it said nothing"


async def _render_pdf(write_job: Callable[[Path], None]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="syncd-pdf-") as name:
        directory = Path(name)
        await run_in_threadpool(write_job, directory)
        try:
            with anyio.fail_after(PATIENCE_S):
                # Its process is killed when time is up, and when nobody waits for the PDF any more.
                done = await anyio.run_process(
                    [sys.executable, "-m", "syncd.platform.services.pdf.worker", name],
                    cwd=name,
                    env=_build_environment(name),
                    check=False,
                )
        except TimeoutError:
            raise Failure(413, "This PDF takes too long. Ask for a page of it.") from None
    if done.returncode != 0 or not done.stdout.startswith(b"%PDF"):
        _log.warning("the process that lays out PDFs ended with %d: %s", done.returncode, _find_error_name(done.stderr))
        raise Failure(413, "This cannot be laid out within the limits of a PDF. Ask for a page of it.")
    return done.stdout


def _build_environment(home: str) -> dict[str, str]:
    # Nothing of our environment, which may hold secrets; only where the program itself is.
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    return {**kept, "PYTHONPATH": str(Path(syncd.__file__).parent.parent), "HOME": home}
