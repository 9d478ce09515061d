"""`syncd site import --from` beside a site file, as people type it: in any directory, without a configuration."""

import json
from pathlib import Path

import pytest

from tests.cli.command_runner import CommandRunner, make_runner

SITE = """\
version: 1
site: { org: o, id: s, hosts: [docs.acme.example/v] }
spaces: { guides: id0 }
structure:
  items:
    - section: start
      title: Start
      path: start
      variants: [{ variant: en, space: guides, path: en, default: true }]
redirects:
  - { from: /known, to: { section: start } }
"""
CSV = "source,destination,note\n/a,/c,why\n/b,/start\n/known,/d\n/x,/y/*\n/z,section:start\n"


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    (tmp_path / "old.csv").write_text(CSV)
    return make_runner("site import --from old.csv", tmp_path, monkeypatch, capsys)


def test_paths_of_a_csv_file_lead_to_what_the_site_file_declares(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(SITE)
    done = typed()
    assert done.code == 0, done.err
    assert done.out.splitlines() == [
        "redirects:",
        '  - { from: /a, to: { url: "https://docs.acme.example/v/c" }, note: why }',
        "  - { from: /b, to: { section: start } }",
        "  - { from: /z, to: { section: start } }",
    ]
    assert 'old.csv:5:4: not taken: "/y/*" is no destination' in done.err
    document = json.loads(typed("--json").out)
    assert [one["from"] for one in document["missing"]["redirects"]] == ["/a", "/b", "/z"]
    assert [one["place"] for one in document["not_taken"]] == ["old.csv:5:4"]


def test_the_site_file_may_have_another_name_and_has_to_be_there(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "docs.site.yaml").write_text(SITE)
    assert "/b" in typed("--out", "docs.site.yaml").out
    done = typed()
    assert (done.code, "there is no configuration" in done.err) == (78, True), done.err


def test_a_path_without_any_known_address_says_what_is_missing(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(SITE.replace(", hosts: [docs.acme.example/v]", ""))
    assert 'old.csv:2:4: not taken: "/c" is no destination: the site\'s own address is not known' in typed().err
