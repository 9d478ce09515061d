"""What a live preview follows, and what it says of itself when it can follow no more."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from syncd.cli.preview.gather import SourceReader, find_source
from syncd.cli.preview.live import LivePreview
from syncd.cli.preview.report import PreviewReport
from syncd.cli.preview.serve import PreviewHandler
from syncd.net.page_values import PageRequest, PageResponse
from syncd.sync.publish.content import SiteContent


class DefectiveReader(SourceReader):
    """Reads once, and has a defect afterwards."""

    has_read = False

    def gather(self) -> SiteContent:
        if self.has_read:
            raise ZeroDivisionError
        self.has_read = True
        return super().gather()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_defect_is_said_on_every_page(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Home\n")
    with ExitStack() as stack:
        live = LivePreview(DefectiveReader(find_source(tmp_path), stack), lambda state: None)
        live.start()
        stack.callback(live.stop)
        (tmp_path / "new.md").write_text("# New\n")
        version = "0"
        while not live.read_state().trouble:
            version = live.wait_for_change(version, 60)
        assert "a defect inside syncd" in live.read_state().trouble


def test_what_is_put_into_a_new_directory_is_seen(tmp_path: Path) -> None:
    """A directory that was made first has no file, so no listing of files names it."""
    (tmp_path / "README.md").write_text("# Home\n")
    with ExitStack() as stack:
        live = LivePreview(SourceReader(find_source(tmp_path), stack), lambda state: None)
        live.start()
        stack.callback(live.stop)
        before = live.read_state().site
        folder = tmp_path / "pictures" / "of" / "us"
        folder.mkdir(parents=True)
        version = "0"
        while live.read_state().site is before:
            version = live.wait_for_change(version, 60)
        (folder / "one.png").write_bytes(b"x")
        while "pictures/of/us/one.png" not in _list_files(live):
            version = live.wait_for_change(version, 60)


def test_an_icon_and_an_image_that_are_saved_are_shown_anew(tmp_path: Path) -> None:
    def make_png(width: int) -> bytes:
        return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + width.to_bytes(4) + (20).to_bytes(4) + b"\x08\x06\x00\x00\x00"

    image = tmp_path / ".gitbook/assets/one.png"
    image.parent.mkdir(parents=True)
    image.write_bytes(make_png(30))
    (tmp_path / "README.md").write_text("# Home\n\n![One](.gitbook/assets/one.png)\n")
    (tmp_path / "SUMMARY.md").write_text("* [Home](README.md)\n* [Other](other.md)\n")
    (tmp_path / "other.md").write_text("---\nicon: gear\n---\n\n# Other\n")
    with ExitStack() as stack:
        live = LivePreview(SourceReader(find_source(tmp_path), stack), lambda state: None)
        live.start()
        stack.callback(live.stop)
        handler = PreviewHandler(live, "work tree")

        def read_home() -> str:
            answer = handler.answer(PageRequest("GET", "/", {}, {}))
            assert isinstance(answer, PageResponse)
            return answer.body.decode()

        before = read_home()
        assert 'width="30" height="20"' in before
        assert '<a href="/other"><svg' in before
        image.write_bytes(make_png(90))
        (tmp_path / "other.md").write_text("# \u2705 Other\n")
        version = "0"
        while not ('width="90"' in (now := read_home()) and ">\u2705</span>Other</a>" in now):
            version = live.wait_for_change(version, 60)


@contextmanager
def check_preview(directory: Path) -> Iterator[LivePreview]:
    """Given a directory, start a preview of it that has checked all pages, and stop it behind the block."""
    with ExitStack() as stack:
        live = LivePreview(SourceReader(find_source(directory), stack), PreviewReport(directory).print_state)
        live.start()
        stack.callback(live.stop)
        version = "0"
        while not live.read_state().is_checked:
            version = live.wait_for_change(version, 60)
        yield live


def test_a_broken_site_file_is_a_finding_everywhere(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# Home\n\nWords.\n")
    (tmp_path / "site.yaml").write_text("path: [x\n")
    with check_preview(tmp_path) as live:
        handler = PreviewHandler(live, "work tree")
        shown = [handler.answer(PageRequest("GET", path, {}, {})) for path in ("/", "/~syncd/problems")]
        texts = [one.body.decode() for one in shown if isinstance(one, PageResponse)]
    assert ["1 error" in text for text in texts] == [True, True]
    assert "<code>SY001</code>" in texts[1]
    said = capsys.readouterr().err
    assert "error SY001: " in said
    assert "1 problem left." in said
    assert "Nothing to mend" not in said + "".join(texts)


def test_the_terminal_counts_each_finding_as_the_strip_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# Home\n\n[One](no.md) and [two](no.md).\n\n[Three](no.md).\n")
    with check_preview(tmp_path) as live:
        home = PreviewHandler(live, "work tree").answer(PageRequest("GET", "/", {}, {}))
    assert isinstance(home, PageResponse)
    assert "3 errors" in home.body.decode()
    said = capsys.readouterr().err
    assert "3 problems left." in said
    assert said.count("error link-broken") == 3


def _list_files(live: LivePreview) -> set[str]:
    return {path for space in live.read_state().site.spaces.values() for path in space.files.items}
