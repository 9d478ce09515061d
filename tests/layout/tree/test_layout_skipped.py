"""What real repositories hold and no platform takes: one mistake costs only itself, and is told with its line."""

from collections.abc import Mapping

import pytest

from syncd.layout.lint.check import check_space
from syncd.layout.lint.space import SpaceFile
from syncd.layout.tree.draft import Draft, read_draft
from syncd.layout.tree.settings import Settings, read_settings
from syncd.layout.tree.summary import parse_summary, render_summary


def draft(files: Mapping[str, str]) -> Draft:
    return read_draft(files.keys(), lambda path: files[path].encode())


def codes(files: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    items = {path: SpaceFile(len(text), lambda text=text: text.encode()) for path, text in files.items()}  # type: ignore[misc]
    return {one.code: (one.line, one.column) for one in check_space(items)}


@pytest.mark.parametrize(
    "sign", ["\u200b", "\ufeff", "\u2060", "\u00a0", "\u202e", "\u00ad", "\u061c", "\u180e", "\u206a"]
)
def test_a_key_with_an_unseen_character_counts_as_the_platform_counts_it(sign: str) -> None:
    text = f"root: ./docs/\n\n{sign}structure:\n  readme: home.md\n"
    settings = read_settings(text)
    assert settings == Settings(root="docs"), "the platform takes the default readme"
    (part,) = settings.skipped
    assert (part.line, part.column) == (3, 1)
    assert f"U+{ord(sign):04X}" in part.reason
    assert codes({".gitbook.yaml": text, "docs/README.md": "# Home\n"})["settings-unseen"] == (3, 1)


def test_an_entry_that_leaves_the_space_costs_only_itself() -> None:
    files = {
        "SUMMARY.md": "# Contents\n\n* [Home](README.md)\n* [Else](../else/x.md)\n"
        "  * [Below](below.md)\n* [Last](last.md)\n",
        **{name: f"# {name}\n" for name in ("README.md", "below.md", "last.md")},
    }
    found = draft(files)
    assert found.documents == ("README.md", "below.md", "last.md")
    assert [(part.path, part.line, part.column) for part in found.skipped] == [("SUMMARY.md", 4, 10)]
    assert codes(files)["summary-outside"] == (4, 10)


def test_entries_from_the_root_are_pages() -> None:
    files = {
        "SUMMARY.md": "# Contents\n\n* [Home](/README.md)\n* [Nine](/contents/9/x.md)\n* [None](/contents/none.md)\n",
        "README.md": "# Home\n\n![](/images/a.png) [site](/pricing)\n",
        "contents/9/x.md": "# Nine\n",
        "images/a.png": "png",
    }
    found = draft(files)
    assert found.documents == ("README.md", "contents/9/x.md")
    assert [entry.path for entry in found.missing] == ["contents/none.md"]
    assert found.files == ("images/a.png",), "an image from the root is a file of the space"
    assert codes(files)["summary-missing"][0] == 5


def test_from_the_root_means_below_the_root_of_the_settings() -> None:
    files = {
        ".gitbook.yaml": "root: ./docs/\n",
        "docs/SUMMARY.md": "# Contents\n\n* [Home](/README.md)\n",
        "docs/README.md": "# Home\n\n![](/a.png)\n",
        "docs/a.png": "png",
    }
    found = draft(files)
    assert found.documents == ("docs/README.md",)
    assert found.files == ("docs/a.png",)


def test_a_link_to_another_host_stays_a_link() -> None:
    (entry,) = parse_summary("* [Else](//example.org/x.md)\n")
    assert entry.target == "//example.org/x.md"
    assert parse_summary(render_summary([entry])) == (entry,)
