"""Real documentation goes in, out, and in again without a difference: by import, and by a change request."""

import subprocess
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd.layout.tree.draft import read_draft
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.content_write import FILE_BYTES_MAX
from syncd.model.page import Page, walk_pages
from syncd.model.revision import Revision
from syncd.model.space import SpaceCreate
from syncd.platform.services.directory.read import import_directory
from syncd.sync.outcome import Applied

CORPORA = Path(__file__).parents[2].parent / "shared" / "corpora"
MADE: Mapping[str, str | bytes] = {
    "SUMMARY.md": (
        "# Table of contents\n\n* [Welcome](README.md)\n\n## Guides\n\n* [Start](guides/start/README.md)\n"
        '  * [Install & \\[run\\]](guides/start/install.md "Install")\n* [Elsewhere](https://example.com/x)\n'
        "* [Step two](guides/start/install.md#two)\n\n"
        '## API <a href="#own" id="own"></a>\n\n* [Overview](own/README.md)\n* ```yaml\n  type: builtin:openapi\n'
        "  props:\n    models: false\n  ```\n\n***\n\n* [Imprint](imprint.md)\n"
    ),
    "README.md": "---\nmine: 'yes'\nicon: house\ncover: .gitbook/assets/a (1).svg\n---\n\n# ✅ Welcome\n",
    "guides/start/README.md": (
        "---\ndescription: >-\n  Folded by hand,\n  not by us.\n---\n\n# Start\n\n![](../../images/run.png)\n"
    ),
    "guides/start/install.md": (
        '# Install & \\[run\\]\n\n[home](../../README.md)\n\n{% include "../../.gitbook/includes/note.md" %}\n'
    ),
    "own/README.md": '{% hint style="info" %}\nA hint first.\n{% endhint %}\n\n# Overview\n',
    "imprint.md": "no heading and no newline",
    "images/run.png": b"\x89PNG",
    ".gitbook/assets/a (1).svg": "<svg/>",
    ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nA note.\n",
    ".gitbook/vars.yaml": "rate: 500\nanswer: 'no'\n",
    ".gitbook/tags.yaml": "- tag: payments\n  label: Payments\n  icon: credit-card\n",
}


def _spaces(*quick: str) -> list[Any]:
    found = sorted(path.parent for path in CORPORA.rglob("SUMMARY.md")) if CORPORA.is_dir() else []
    names = [(directory, directory.relative_to(CORPORA).as_posix()) for directory in found]
    real = [pytest.param(path, id=name, marks=() if name in quick else pytest.mark.long) for path, name in names]
    return [pytest.param(None, id="made"), *real]


def _files(directory: Path) -> dict[str, bytes]:
    paths = (path for path in directory.rglob("*") if path.is_file())
    inner = ((path.relative_to(directory), path) for path in paths)
    return {name.as_posix(): path.read_bytes() for name, path in inner if name.parts[0] != ".git"}


def _published(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """What an import of these files publishes; all else is the repository's own."""
    draft = read_draft(files.keys(), files.__getitem__)
    assert draft.missing == ()
    names = {"SUMMARY.md", *draft.documents, *draft.files, *draft.includes, *({VARIABLES, TAGS} & files.keys())}
    return {name: files[name] for name in sorted(names)}


def _facts(revision: Revision) -> list[Any]:
    """All that a reader can tell of a revision: no ids, dates or addresses."""
    paths = {page.id: page.path for page, _ in walk_pages(revision.pages)} | {
        file.id: file.name for file in revision.files
    }
    named = {page.id: f"page {number}" for number, (page, _) in enumerate(walk_pages(revision.pages))}
    named |= {file.id: f"file {file.git.path if file.git else file.name}" for file in revision.files}

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [plain(item) for item in value]
        return named.get(value, value) if isinstance(value, str) else value

    def page_facts(page: Page) -> Any:
        members = page.model_dump(mode="json", exclude={"pages", "created_at", "updated_at", "urls", "markdown"})
        return plain(members)

    assert paths
    pages = [(page_facts(page), above and named[above.id]) for page, above in walk_pages(revision.pages)]
    files = [file.model_dump(mode="json", exclude={"id", "download_url"}) for file in revision.files]
    includes = [content.model_dump(mode="json", exclude={"id"}) for content in revision.reusable_contents]
    return [pages, files, includes, revision.variables, revision.tags]


@pytest.fixture
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if request.param is not None:
        return Path(request.param)
    directory = tmp_path / "made"
    for name, content in MADE.items():
        path = directory / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return directory


@pytest.mark.parametrize("source", _spaces("evolve-site/home"), indirect=True)
def test_a_space_goes_in_and_out_and_in_again_without_a_difference(world: Any, source: Path) -> None:
    first = import_directory(world.storage, source, title="First")
    clone = replace(world, space=first.space, requests=[]).clone("first")
    assert _files(clone) == _published(_files(source))
    second = import_directory(world.storage, clone, title="Second")
    assert not import_directory(world.storage, clone, space=first.space).is_changed
    with world.client() as client:
        there, again = (client.content.get(space) for space in (first.space, second.space))
    assert _facts(again) == _facts(there)


@pytest.mark.parametrize("source", _spaces(), indirect=True)
def test_what_a_change_request_can_carry_comes_back_as_it_was_written(world: Any, source: Path) -> None:
    with world.client() as client:
        organization = client.spaces.get(world.space).organization
        space = client.spaces.create(organization, SpaceCreate(title="Empty", empty=True)).id
    here = replace(world, space=space, requests=[])
    clone = here.clone("written")
    files = _published(_files(source))
    here.commit("Write it all", dict(files), clone="written")
    results = here.push("written")
    assert not [result for result in results if result.outcome.exit_code], results
    (proposed,) = [
        result.outcome for result in results if isinstance(result.outcome, Applied) and result.flow == "propose"
    ]
    by_hand = {change.where.partition(":")[0] or change.key for change in proposed.changes if change.verb == "report"}
    by_hand |= {name for name, data in files.items() if len(data) > FILE_BYTES_MAX}
    assert here.merge(1) == "merge"
    results = here.sync("written")
    assert not [result for result in results if result.outcome.exit_code], results
    listed = subprocess.run(
        ["git", "ls-tree", "-r", "-z", "--name-only", "platform/main"], cwd=clone, capture_output=True, check=True
    )
    names = {name for name in listed.stdout.decode().split("\0") if name}
    mirrored = {
        name: subprocess.run(
            ["git", "show", f"platform/main:{name}"], cwd=clone, capture_output=True, check=True
        ).stdout
        for name in names
    }
    differing = {name for name in mirrored.keys() | files.keys() if mirrored.get(name) != files.get(name)}
    assert differing <= by_hand, (differing, by_hand)
    again = [result.outcome for result in here.sync("written") if isinstance(result.outcome, Applied)]
    assert {change.verb for outcome in again for change in outcome.changes} <= {"report"}, again
