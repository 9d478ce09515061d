"""`preview`: show in a browser what is being written, until Ctrl-C."""

import signal
import sys
import webbrowser
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from syncd.cli.preview.gather import PreviewSource, SourceReader, find_source
from syncd.cli.preview.live import LivePreview, PreviewState
from syncd.cli.preview.report import PreviewReport
from syncd.cli.preview.serve import PreviewHandler
from syncd.cli.terminal.output import print_document
from syncd.cli.terminal.text import escape, print_text
from syncd.daemon.inbox import Inbox
from syncd.errors import ConfigInvalid
from syncd.net.page_server import serve_pages

_WAIT_SECONDS = 3600.0
"""Between two looks whether somebody asked it to end; a signal ends the wait at once."""


@dataclass(frozen=True)
class PreviewOptions:
    """What a person typed behind `preview`."""

    path: Path
    port: int = 0
    change_request: str = ""
    branch: str = ""
    should_open: bool = False
    as_json: bool = False


def run_preview(options: PreviewOptions) -> int:
    """Serve a preview on this machine until the person ends it, and return 0.

    Raises: ConfigInvalid when there is nothing to show, or the port is taken.
    """
    if options.change_request and options.branch:
        raise ConfigInvalid("--change-request and --branch exclude each other", hint="name one of the two")
    source = find_source(options.path, change_request=options.change_request, branch=options.branch)
    report = PreviewReport(source.path, is_quiet=options.as_json)
    with ExitStack() as stack:
        live = LivePreview(SourceReader(source, stack), report.print_state)
        if not _count_pages(live.read_state()):
            raise ConfigInvalid(f"there are no pages in {source.path}", hint="name a directory with Markdown files")
        handler = PreviewHandler(live, source.label)
        server = stack.enter_context(
            serve_pages(f"127.0.0.1:{options.port}", handler.answer, report.print_notice, name="syncd-preview-pages")
        )
        # Who asks it to end, at whatever moment from here on, is done with it: that is no failure. What a handler
        # raised would be lost in a destructor that runs just then.
        inbox = stack.enter_context(closing(Inbox()))
        stack.enter_context(inbox.handle_signals({signal.SIGTERM: live.stop, signal.SIGINT: live.stop}))
        url = f"{server.url}/"
        if options.as_json:
            print_document({"address": url, "shows": source.label, "pages": _count_pages(live.read_state())})
        else:
            print_text(f"Preview of {escape(source.label)}: {url}")
            print_text(f"Ctrl-C ends it. {escape(format_news(source))}")
        sys.stdout.flush()
        stack.callback(live.stop)
        live.start()
        if options.should_open:
            webbrowser.open(url)
        # The message itself is not carried out: leaving the block stops what it names.
        while not any(inbox.take(_WAIT_SECONDS)):
            pass
    return 0


def format_news(source: PreviewSource) -> str:
    """Return the sentence that says when a preview shows something else."""
    return f"It follows {source.label} as it is in Git." if source.ref else "What is saved is shown at once."


def _count_pages(state: PreviewState) -> int:
    return sum(len(space.draft.documents) for space in state.site.spaces.values())
