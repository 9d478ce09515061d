"""`syncd site validate` as people type it: every rule with a file that breaks it, --fix, formats and exit codes."""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from syncd.layout.site.read.rules import SITE_RULES
from syncd.model.ref import Ref
from syncd.plan.site.live_state import LockEntry, SiteLock
from syncd.plan.site.lockfile.lockfile import render_lock
from tests.cli.command_runner import CommandRunner, make_runner
from tests.cli.sites.site_clone import create_sites
from tests.growing import assert_linear

ROOT = Path(__file__).parents[3]
GOLDEN = ROOT / "tests" / "golden" / "site" / "rules"
BROKEN = sorted(GOLDEN.glob("SY*.yaml"))
RULES_PAGE = (ROOT / "syncd" / "manual" / "reference" / "site-rules.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### (SY\d+)\n\n(.*?)(?=^##|\Z)", RULES_PAGE, re.MULTILINE | re.DOTALL))
ONLY_ONLINE = {"SY108", "SY304", "SY504"}
HEAD = "version: 1\nsite: { org: o, id: s, hosts: [docs.acme.example] }\n"
RENAMED = """structure:
  items:
    - section: developers
      title: Developers
      path: developers
      was: [api] # since June
      variants: [{ variant: en, space: api-en, path: en, default: true }]
"""
LOCK = SiteLock(
    "s",
    items={
        Ref("section:developers"): LockEntry("sitesc_1", "created", {"path": "developers"}),
        Ref("redirect:/gone"): LockEntry("rd_1", "created", {"source": "/gone"}),
    },
)


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    return make_runner("site validate", tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize("broken", BROKEN, ids=lambda path: path.stem)
def test_every_rule_says_what_is_wrong_where_and_what_to_do(typed: CommandRunner, tmp_path: Path, broken: Path) -> None:
    (tmp_path / broken.name).write_bytes(broken.read_bytes())
    (tmp_path / "site.lock.json").write_text(render_lock(replace(LOCK, site="site_kvXZm")))
    done = typed(broken.name)
    golden = broken.with_suffix(".txt")
    if os.environ.get("GOLDEN") == "write":
        golden.write_text(done.out)
    assert done.out == golden.read_text(), "GOLDEN=write takes it as it is"
    found = re.findall(rf"^{broken.name}:\d+:\d+: (error|warning) {broken.stem}: ", done.out, re.MULTILINE)
    assert SITE_RULES[broken.stem].severity in found
    assert done.code == (65 if ": error SY" in done.out else 0)


def test_every_rule_that_needs_no_platform_has_a_file_that_breaks_it() -> None:
    assert {path.stem for path in BROKEN} == SITE_RULES.keys() - ONLY_ONLINE


def test_the_manual_tells_every_rule_as_the_catalogue_does() -> None:
    assert SECTIONS.keys() == SITE_RULES.keys()
    for code, rule in SITE_RULES.items():
        told = SECTIONS[code].replace("`", "")
        assert told.startswith(f"**{rule.severity}** · {rule.meaning}\n"), code
        assert rule.remedy in told, code


@pytest.mark.parametrize("code", sorted(SITE_RULES.keys() - ONLY_ONLINE))
def test_the_manuals_examples_break_their_rules(typed: CommandRunner, tmp_path: Path, code: str) -> None:
    example = re.search(r"^```yaml\n(.*?)^```", SECTIONS[code], re.MULTILINE | re.DOTALL)
    assert example is not None
    text = example[1] if "version:" in example[1] else f"version: 1\nsite: {{ org: o, id: s }}\n{example[1]}"
    if "spaces:" not in text:
        aliases = sorted(set(re.findall(r"space: ([\w-]+)", text)))
        text += "".join(["spaces:\n", *(f"  {alias}: id-{alias}\n" for alias in aliases)] if aliases else [])
    (tmp_path / "site.yaml").write_text(text)
    (tmp_path / "site.lock.json").write_text(render_lock(LOCK))
    assert f" {code}: " in typed().out


def test_a_good_file_needs_nothing_else(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(HEAD + 'redirects:\n  - { from: /a, to: { url: "https://acme.example/" } }\n')
    done = typed()
    assert (done.code, done.out) == (
        0,
        "site.yaml is valid: 1 redirect (checked offline; add --online for 7 more rules).\n",
    )
    assert typed("site.yaml").out == typed("--file", "site.yaml").out == done.out
    assert typed("site.yaml", "--file", "site.yaml").code == 64
    assert typed("--format", "xml").code == 64
    assert typed("nothing.yaml").code == 78


IN_IT = "name a file in it, such as site.yaml"


def test_what_is_no_file_is_refused_without_a_place(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link.yaml").symlink_to("site.yaml")
    done = typed("docs")
    assert (done.code, done.out) == (78, "")
    assert done.err == f"error: {tmp_path}/docs is a directory, and no site file\n  hint: {IN_IT}\n"
    done = typed("link.yaml")
    assert (done.code, done.out) == (65, "")
    assert done.err.startswith(
        "error: link.yaml: cannot be read: link.yaml is a symbolic link, which is not followed\n"
    )


def test_warnings_fail_only_when_asked(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(HEAD + 'redirects:\n  - { from: /a, to: { url: "http://acme.example/" } }\n')
    assert typed().code == 0
    assert typed("--strict").code == 65


def test_a_file_that_cannot_be_read_is_a_finding_too(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_bytes(b"version: 1\nsite: \xff\n")
    done = typed("--format", "json")
    assert done.code == 65
    (one,) = json.loads(done.out)["diagnostics"]
    assert (one["code"], one["range"]["start"]["line"]) == ("SY001", 2)


def test_fix_flattens_chains_in_every_kind_of_file_and_keeps_the_rest(typed: CommandRunner, tmp_path: Path) -> None:
    chains = {
        "site.yaml": HEAD
        + "# ours\nredirect_files: [more.csv, more.yaml, _redirects]\nredirects:\n"
        + '  - from: [/a, /b] # two\n    to:\n      url: "https://docs.acme.example/c"\n    note: kept\n'
        + '  - { from: /c, to: { url: "https://acme.example/end" } }   # the end\n',
        "more.csv": 'source,destination,note\r\n/d,https://docs.acme.example/a,"one, two"\r\n',
        "more.yaml": '# more\n- { from: /e, to: { url: "https://docs.acme.example/d" } }\n',
        "_redirects": "# old\n/f   https://docs.acme.example/e   301\n",
    }
    for name, text in chains.items():
        (tmp_path / name).write_bytes(text.encode())
    done = typed("--fix", "--strict")
    assert done.code == 0, done.out
    assert done.out.splitlines()[0] == "mended _redirects:2: SY306: point /f at https://acme.example/end"
    assert done.out.count("mended ") == 5
    assert (tmp_path / "more.csv").read_bytes() == (
        b'source,destination,note\r\n/d,https://acme.example/end,"one, two"\r\n'
    )
    assert (tmp_path / "_redirects").read_text() == "# old\n/f   https://acme.example/end   301\n"
    text = (tmp_path / "site.yaml").read_text()
    assert "docs.acme.example/c" not in text
    assert all(kept in text for kept in ("# ours\n", "from: [/a, /b] # two", "note: kept", "# the end"))
    assert "# more" in (tmp_path / "more.yaml").read_text()
    assert "mended" not in typed("--fix").out


def test_fix_takes_a_former_name_out_once_the_lock_knows_the_new_one(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(HEAD + "spaces:\n  api-en: abc\n" + RENAMED)
    assert "SY109" not in typed().out
    (tmp_path / "site.lock.json").write_text(render_lock(LOCK))
    assert 'warning SY109: the rename from "api" has been carried out' in typed().out
    assert "mended site.yaml:10: SY109: take was: out of section developers" in typed("--fix").out
    assert "was:" not in (tmp_path / "site.yaml").read_text()
    assert "SY109" not in typed().out


def test_an_empty_list_is_a_mistake_only_where_syncd_owns_something(typed: CommandRunner, tmp_path: Path) -> None:
    (tmp_path / "site.yaml").write_text(f"{HEAD}redirects: []\n")
    assert typed().code == 0
    (tmp_path / "site.lock.json").write_text(render_lock(LOCK))
    assert "error SY501: redirects is empty, but syncd owns 1 redirect\n" in typed().out
    for policy in ("allow_empty: true", "prune: { redirects: never }"):
        (tmp_path / "site.yaml").write_text(f"{HEAD}policy: {{ {policy} }}\nredirects: []\n")
        assert typed().code == 0


def test_fix_mends_beside_an_error_and_says_what_is_left(typed: CommandRunner, tmp_path: Path) -> None:
    targets = {"/a": "https://docs.acme.example/b", "/b": "https://x.example/", "/c/": "x"}
    entries = "".join(f'  - {{ from: {source}, to: {{ url: "{url}" }} }}\n' for source, url in targets.items())
    (tmp_path / "site.yaml").write_text(f"{HEAD}redirects:\n{entries}")
    done = typed("--fix", "--format", "json")
    assert done.code == 65
    assert done.err == "mended site.yaml:4: SY306: point /a at https://x.example/\n"
    assert {one["code"] for one in json.loads(done.out)["diagnostics"]} == {"SY301", "SY303"}


def test_online_asks_the_platform_that_the_configuration_names(
    shell: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    structure = """\
structure:
  items:
    - section: guides
      title: Guides
      path: guides
      default: true
      variants: [{ variant: en, space: guides, path: guides, default: true }]
redirects:
  - { from: /begin, to: { page: instal, in: guides/en } }
  - { from: /setup, to: { page: install, in: guides/en } }
"""
    with create_sites(shell, capsys) as at:
        monkeypatch.chdir(at.docs)
        at.write(structure + "  - { from: /api, to: { section: guides } }\n", commit=False)
        offline = at("site", "validate")
        assert offline.endswith(
            "(checked offline; add --online for 7 more rules). What a code means: syncd explain CODE\n"
        )
        at.golden("validate-online.txt", at("site", "validate", "--online", code=65))
        at.write(structure + "  - { from: /wrong/, to: { section: guides } }\n", commit=False)
        assert "the platform was not asked, because of the errors" in at("site", "validate", "--online", code=65)
        told = json.loads(at("site", "validate", "--online", "--format", "json", code=65))
        assert told["checked"] == {"file": "site.yaml", "online": False}


@pytest.mark.long
@pytest.mark.parametrize("kind", ["yaml", "csv"])
def test_ten_thousand_redirects_are_validated_in_linear_time(typed: CommandRunner, tmp_path: Path, kind: str) -> None:
    url = "https://www.acme.example/new"

    def validate(count: int) -> None:
        if kind == "csv":
            rows = "".join(f"/old/{number},{url}/{number}\n" for number in range(count))
            (tmp_path / "all.csv").write_text(f"source,destination\n{rows}")
            text = f"{HEAD}redirect_files: [all.csv]\n"
        else:
            entries = "".join(f'  - {{ from: /old/{n}, to: {{ url: "{url}/{n}" }} }}\n' for n in range(count))
            text = f"{HEAD}redirects:\n{entries}"
        (tmp_path / "site.yaml").write_text(text)
        assert f"{count:,} redirects" in typed().out

    assert_linear(validate, 1_250)
