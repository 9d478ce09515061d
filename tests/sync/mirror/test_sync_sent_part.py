"""The part of a commit that was sent is found again by what the change request's description says of it."""

import subprocess
from pathlib import Path

from syncd.plan.propose.description import SentPart
from syncd.plan.propose.description_paths import compute_path_digest
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.mirror.sent_part import list_left_out

TABLE = "# Table of contents\n\n* [Home](README.md)\n* [Options](options.md)\n"
DOCS = Binding("space", "docs", "docs")


def test_a_page_that_has_another_title_in_the_table_alone_was_left_out(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    before = {"docs/README.md": "# Home\n", "docs/options.md": "# Options\n", "docs/SUMMARY.md": TABLE}
    after = before | {"docs/README.md": "# Home\n\nMore.\n", "docs/SUMMARY.md": TABLE.replace("Options", "Settings")}
    sent = SentPart(left_out=frozenset({compute_path_digest("options.md")}))
    with Repository.open(tmp_path) as repository:
        base, commit = (
            repository.write_tree(None, {path: text.encode() for path, text in files.items()})
            for files in (before, after)
        )
        assert list_left_out(repository, DOCS, sent, base, commit) == [("docs/options.md",)]
