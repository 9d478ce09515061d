"""Import and export: a directory in Git Sync layout goes in and comes out as it was, and pages keep their ids."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.errors import ConfigInvalid, FileInvalid, NotFound, PathRefused
from syncd.platform.revisions import revisions
from syncd.platform.revisions.outline import Outline
from syncd.platform.schema.content import spaces
from syncd.platform.services.directory.read import import_directory
from syncd.platform.services.directory.write import export_directory
from syncd.platform.storage.storage import Storage
from tests.storages import new_storage

SUMMARY = """\
# Table of contents

* [Home](README.md)
* [Alpha](alpha.md)
  * [Below](alpha/below.md)

## Group

* [Twin](one/twin.md)
* [Twin](two/twin.md)
* [Out](https://example.org)
* [Part](alpha.md#part)
* ```yaml
  type: builtin:openapi
  props:
    models: false
  dependencies:
    spec:
      ref:
        kind: openapi
        spec: pets
  ```
"""


def write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    return root


def read(root: Path) -> dict[str, bytes]:
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    pages = {
        name: f"# {name}\n\n![x](/.gitbook/assets/x.bin)\n"
        for name in ("README.md", "alpha.md", "alpha/below.md", "one/twin.md", "two/twin.md")
    }
    rest = {
        "SUMMARY.md": SUMMARY,
        ".gitbook/assets/x.bin": "x",
        ".gitbook/assets/a (1).svg": "<svg/>",
        ".gitbook/includes/note.md": "---\ntitle: Note\n---\n\nText.\n",
        ".gitbook/vars.yaml": "version: 2\nname: docs\n",
    }
    return write(tmp_path / "docs", pages | rest)


@pytest.fixture
def storage(tmp_path: Path) -> Any:
    with new_storage(tmp_path / "platform") as opened:
        opened.bootstrap()
        yield opened


def ids(storage: Storage, space: str) -> dict[str, str]:
    """Ids by path in the repository, and of pages without a file by title."""
    entries = main_content(storage, space).entries
    return {entry.node.path or entry.node.title: id for id, entry in entries.items() if not id.startswith("/")}


def main_content(storage: Storage, space: str) -> Outline:
    with storage.read() as connection:
        revision = connection.scalar(sa.select(spaces.c.revision).where(spaces.c.id == space))
        assert revision
        return revisions.open_revision(connection, space, revision)


def test_what_goes_in_comes_out_byte_for_byte(storage: Storage, docs: Path, tmp_path: Path) -> None:
    imported = import_directory(storage, docs, title="Docs")
    assert export_directory(storage, imported.space, tmp_path / "out") == len(read(docs))
    assert read(tmp_path / "out") == read(docs)


def test_importing_the_same_again_is_no_new_revision(storage: Storage, docs: Path, tmp_path: Path) -> None:
    imported = import_directory(storage, docs)
    again = import_directory(storage, docs, space=imported.space)
    assert (again.revision, again.is_changed) == (imported.revision, False)
    export_directory(storage, imported.space, tmp_path / "out")
    assert not import_directory(storage, tmp_path / "out", space=imported.space).is_changed


def test_a_built_site_is_no_source(storage: Storage, tmp_path: Path) -> None:
    built = {"public/.syncd-site.json": "{}", "public/alpha.md": "# Alpha\n", "public/index.html": "<p>"}
    write(tmp_path / "docs", {"README.md": "# Home\n", "public-notes.md": "# Notes\n", **built})
    assert ids(storage, import_directory(storage, tmp_path / "docs").space).keys() == {"README.md", "public-notes.md"}


def test_pages_keep_their_ids_by_path_and_a_new_revision_has_what_changed(storage: Storage, docs: Path) -> None:
    imported = import_directory(storage, docs)
    before = ids(storage, imported.space)
    write(docs, {"alpha.md": "# Alpha, edited\n", "new.md": "# New\n"})
    summary = SUMMARY.replace("* [Home]", "* [New](new.md)\n* [Home]").replace(
        "[Below](alpha/below.md)", "[Low](alpha/below.md)"
    )
    write(docs, {"SUMMARY.md": summary})
    again = import_directory(storage, docs, space=imported.space)
    after = ids(storage, imported.space)
    assert again.is_changed
    assert after.pop("new.md") not in before.values()
    assert after == before


def test_only_a_page_that_changed_gets_a_new_date(storage: Storage, docs: Path) -> None:
    imported = import_directory(storage, docs)
    write(docs, {"alpha.md": "# Edited\n"})
    import_directory(storage, docs, space=imported.space)
    outline = main_content(storage, imported.space)
    dated = [entry.node.path for entry in outline.entries.values() if "updatedAt" in entry.node.fields]
    assert dated == ["alpha.md"]


def test_titles_come_from_the_summary_and_slugs_from_files(storage: Storage, docs: Path) -> None:
    outline = main_content(storage, import_directory(storage, docs).space)
    shown = {entry.path: entry.node.title for entry in outline.entries.values() if entry.node.type == "document"}
    assert shown == {"": "Home", "alpha": "Alpha", "alpha/below": "Below", "group/twin": "Twin", "group/twin-1": "Twin"}


def test_git_and_symbolic_links_stay_outside(storage: Storage, docs: Path, tmp_path: Path) -> None:
    secret = write(tmp_path / "elsewhere", {"secret.png": "secret", "page.md": "# Secret\n"})
    (docs / ".gitbook/assets/link.png").symlink_to(secret / "secret.png")
    (docs / ".gitbook/assets/folder").symlink_to(secret)
    (docs / "linked.md").symlink_to(secret / "page.md")
    write(docs, {".git/config": "[core]\n", "SUMMARY.md": SUMMARY + "\n***\n\n* [Linked](linked.md)\n"})
    imported = import_directory(storage, docs)
    export_directory(storage, imported.space, tmp_path / "out")
    assert not {name for name in read(tmp_path / "out") if "link" in name or "secret" in name or ".git/" in name}


@pytest.mark.parametrize(
    ("name", "data"), [("alpha.md", b"# \xff\n"), (".gitbook/includes/note.md", b"\xff"), ("SUMMARY.md", b"\xff")]
)
def test_a_text_that_is_not_utf_8_is_refused_by_name(storage: Storage, docs: Path, name: str, data: bytes) -> None:
    (docs / name).write_bytes(data)
    with pytest.raises(FileInvalid, match=name):
        import_directory(storage, docs)


def test_an_unknown_space_or_directory_is_refused(storage: Storage, docs: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        import_directory(storage, docs, space="nothing")
    with pytest.raises(NotFound):
        export_directory(storage, "nothing", tmp_path / "out")
    with pytest.raises(ConfigInvalid):
        import_directory(storage, tmp_path / "nowhere")


def test_without_a_summary_the_folders_say_what_the_tree_is(storage: Storage, tmp_path: Path) -> None:
    docs = write(
        tmp_path / "docs", {"README.md": "# Home\n", "b.md": "# B\n", "a/README.md": "# A\n", "a/x.md": "# X\n"}
    )
    imported = import_directory(storage, docs)
    assert set(ids(storage, imported.space)) == {"README.md", "b.md", "a/README.md", "a/x.md"}


def test_an_export_never_mixes_with_what_is_there(storage: Storage, docs: Path, tmp_path: Path) -> None:
    space = import_directory(storage, docs).space
    with pytest.raises(PathRefused):
        export_directory(storage, space, docs)
    assert "README.md" in read(docs)
    (tmp_path / "link").symlink_to("nowhere")
    for place in (tmp_path / "link", docs / "README.md" / "out"):
        with pytest.raises(PathRefused, match="cannot be written"):
            export_directory(storage, space, place)
    (tmp_path / "link").unlink()
    (tmp_path / "empty").mkdir()
    assert export_directory(storage, space, tmp_path / "empty") == len(read(docs))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["docs", "empty", "platform"]


@pytest.mark.long
def test_another_process_imports_while_a_server_runs(
    http: httpx.Client, server: tuple[str, str], storage: Storage, docs: Path
) -> None:
    space = import_directory(storage, docs).space
    before = http.get(f"/v1/spaces/{space}").json()["revision"]
    write(docs, {"alpha.md": "# From another process\n"})
    script = (
        "import sys; from pathlib import Path; from syncd.platform.storage.storage import Storage\n"
        "from syncd.platform.services.directory.read import import_directory\n"
        "with Storage(Path(sys.argv[1])) as storage:\n"
        "    print(import_directory(storage, Path(sys.argv[2]), space=sys.argv[3]).revision)\n"
    )
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", script, str(storage.data), str(docs), space]
    done = subprocess.run(
        command, env=os.environ | {"PYTHONPATH": str(root)}, capture_output=True, text=True, check=True
    )
    shown = http.get(f"/v1/spaces/{space}").json()
    assert shown["revision"] == done.stdout.strip() != before
    page = http.get(f"/v1/spaces/{space}/content/path/alpha?format=markdown").json()
    assert page["markdown"] == "# From another process\n"
    assert http.get(f"/v1/spaces/{space}/content").json()["parents"] == [before]


NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,8}", fullmatch=True)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff\0"), max_size=60)


@settings(max_examples=12)
@given(tree=st.dictionaries(NAMES, st.tuples(TEXTS, st.dictionaries(NAMES, TEXTS, max_size=3)), max_size=5))
def test_any_tree_survives_the_round_trip(
    tmp_path_factory: pytest.TempPathFactory, tree: dict[str, tuple[str, dict[str, str]]]
) -> None:
    room = tmp_path_factory.mktemp("trip")
    tree = {name: page for name, page in tree.items() if name not in ("readme", "summary")}
    lines = ["# Table of contents", "", "* [Home](README.md)"]
    files = {"README.md": "# Home\n"}
    for name, (text, below) in tree.items():
        path = f"{name}/README.md" if below else f"{name}.md"
        files[path] = text
        lines.append(f"* [{name}]({path})")
        for child, inner in below.items():
            if child != "readme":
                files[f"{name}/{child}.md"] = inner
                lines.append(f"  * [{child}]({name}/{child}.md)")
    files["SUMMARY.md"] = "\n".join(lines) + "\n"
    write(room / "docs", files)
    with new_storage(room / "platform") as storage:
        storage.bootstrap()
        imported = import_directory(storage, room / "docs")
        export_directory(storage, imported.space, room / "out")
        assert read(room / "out") == read(room / "docs")
        assert not import_directory(storage, room / "out", space=imported.space).is_changed


def test_real_repositories_survive_the_round_trip(storage: Storage, corpora: Path | None, tmp_path: Path) -> None:
    roots = [path.parent for path in sorted(corpora.rglob("SUMMARY.md"))] if corpora else []
    for number, root in enumerate(roots):
        imported = import_directory(storage, root, title=f"Corpus {number}")
        out = tmp_path / f"out-{number}"
        export_directory(storage, imported.space, out)
        here, there = read(root), read(out)
        written = {name for name in there if name not in ("SUMMARY.md", ".gitbook/vars.yaml", ".gitbook/tags.yaml")}
        assert {name: there[name] for name in written} == {name: here[name] for name in written}
        assert {name for name in here if name.startswith(".gitbook/")} <= set(there)
        assert not import_directory(storage, out, space=imported.space).is_changed
        assert not import_directory(storage, root, space=imported.space).is_changed
