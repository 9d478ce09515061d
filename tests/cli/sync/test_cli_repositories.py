"""What `sync` says where a configuration has several repositories: each result says whose it is."""

import json
from pathlib import Path
from typing import Any


def test_of_several_repositories_each_result_says_whose_it_is(shell: Any) -> None:
    docs, bare = shell.clone(), shell.root / "bare.git"
    shell.git("clone", "--quiet", "--bare", str(docs), str(bare), cwd=shell.root)
    named = shell.root / "service.toml"
    repository = '[[repository]]\npath = "{}"\ninstance = "00000a"\n[[repository.space]]\nid = "{}"\n'
    text = f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n'
    named.write_text(text + "".join(repository.format(path, shell.space) for path in (docs, bare)))
    assert shell.fine("sync", "--config", named) == "Everything is in step.\n"
    write(shell, docs, "new.md")
    said = shell.fine("sync", "--config", named)
    assert said.startswith("docs:\n")
    assert "not sent: new.md is not listed in SUMMARY.md" in said
    bare.rename(shell.root / "moved.git")
    said = shell.syncd("sync", "--config", named)
    assert said.returncode == 4
    assert said.stdout.startswith("bare:\n! run bare held: ")
    assert "\n\ndocs:\n" in said.stdout
    document = json.loads(shell.syncd("sync", "--json", "--config", named).stdout)
    assert {one["repository"] for one in document["results"] if one["exit_code"]} == {"bare"}
    assert [one["repository"] for one in document["unsent"]] == ["docs"]


def write(shell: Any, docs: Path, name: str) -> None:
    (docs / name).write_text("# New\n")
    shell.git("add", "--all", cwd=docs)
    shell.git("commit", "--quiet", "--message", "Write", cwd=docs)
