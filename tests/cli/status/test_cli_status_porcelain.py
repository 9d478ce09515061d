"""The lines of `status --porcelain=v1`: no path breaks one, and a reader gets back what was there."""

import re

from hypothesis import given
from hypothesis import strategies as st

from syncd.cli.status.porcelain import HEADER, format_porcelain, format_records, quote_field
from tests.cli.status.test_cli_status_text import SITUATIONS

UNITS = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}


def unquote(field: str) -> str:
    """Return what a quoted field stands for, as git-config(1) describes it."""
    if not field.startswith('"'):
        return field
    parts = re.findall(r'\\([0-7]{3})|\\([abtnvfr"\\])|([^\\])', field[1:-1])
    data = bytes(int(octal, 8) if octal else UNITS[sign] if sign else ord(plain) for octal, sign, plain in parts)
    return data.decode("utf-8", "surrogateescape")


@given(st.text(st.characters(exclude_categories=["Cs"]) | st.sampled_from('\udc80\udcff\t\n\r"\\'), max_size=30))
def test_a_hostile_path_breaks_no_line_and_is_not_lost(path: str) -> None:
    (line,) = format_records([("uncommitted", "main", path)], is_nul=False).splitlines()
    kind, branch, quoted = line.split("\t")
    assert (kind, branch) == ("uncommitted", "main")
    assert quoted.isascii()
    assert quoted.isprintable()
    assert unquote(quoted) == (path or "-")


def test_git_quotes_the_same() -> None:
    assert quote_field('a\t"b"\\é\x01.md') == '"a\\t\\"b\\"\\\\\\303\\251\\001.md"'
    assert quote_field("a page.md") == "a page.md"


def test_with_nul_a_path_stands_as_it_is() -> None:
    text = format_records([(HEADER,), ("conflict", "a\nb\t.md"), ("conflict", "é.md")], is_nul=True)
    assert text.split("\0") == [HEADER, "conflict\ta\nb\t.md", "conflict\té.md", ""]


def test_each_situation_is_told_in_known_records() -> None:
    lines = format_porcelain(list(SITUATIONS.values()), start="/home/ann/docs", is_nul=False).splitlines()
    assert lines[0] == "# syncd-status v1"
    assert [line for line in lines if line.startswith("request")][1].split("\t")[1:9] == [
        *("guides", "12", "open", "author", "outdated", "2", "all"),
        "https://app.example.com/o/Tv2xHdz9SpCoCEPixh2x/s/pMY0G6Cg62sGw8hhtCqq/~/changes/12",
    ]
    for line in (
        "branch\t2\t1\tmain",
        "conflict\tguides/getting-started/webhooks.md",
        "push\tmain\tguides\tguides/use.md",
        "unlisted\tmain\tguides\tguides/draft.md",
        "uncommitted\tmain\tguides/a page with spaces.md",
        "plan\t7f3a00c1d2e4\twaiting\tsite_kvXZm\tsite.yaml",
        "site\tsite_kvXZm\t220\t1\t0\t2026-11-21T14:02:11+00:00\tsite.yaml",
        "run\tfailed\tservice\t2026-11-21T14:02:11+00:00\t2026-11-20T09:00:00+00:00",
        "error\tno such directory",
        "next\tsyncd doctor",
    ):
        assert line in lines
