"""A site is taken over as it is, things of it are adopted and let go, and what a plan did is taken back."""

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from syncd.cli.app import run
from syncd.errors import ConfigInvalid, StalePlan
from syncd.layout.site.addresses.addresses import SiteMap
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import read_site_file
from syncd.layout.site.write.emit import SCHEMA
from syncd.layout.site.write.schema import build_site_schema
from syncd.model.redirect import RedirectUpserts, SiteRedirectWrite
from syncd.model.ref import Ref
from syncd.plan.site.compose import plan_site
from syncd.plan.site.declare import FILE_MANY, REDIRECT_FILE, SiteTitles, declare_site, make_key
from syncd.plan.site.live_state import ExistingItem, LiveSite
from syncd.plan.site.options import Options
from syncd.sync.binding import Binding
from syncd.sync.site.adopt import adopt, forget
from syncd.sync.site.apply import ApplyResult, apply_plan
from syncd.sync.site.backup import list_backups, save_backup
from syncd.sync.site.import_site import ImportTarget, SiteImport, choose_site, import_site
from syncd.sync.site.lock import LockWriter
from syncd.sync.site.options import SiteOptions
from syncd.sync.site.read.foreign_files import ForeignFile, find_destination
from syncd.sync.site.read.site import read_live
from syncd.sync.site.rollback import plan_rollback, roll_back
from syncd.sync.workspace import Workspace
from tests.sites.drawn import draw, edited, file_of
from tests.sites.stage import Stage, create_stage

FILE = "docs/site.yaml"
WISH = SiteOptions(FILE, lock="state")
DOCUMENT: dict[str, Any] = {
    "version": 1,
    "settings": {"title": "Lumen Docs", "visibility": "public", "adaptive_content": True},
    "policy": {"prune": {"structure": "owned"}, "limits": {"structure": {"max_delete": 9}}, "allow_empty": True},
    "visitors": {
        "claims": {"ally": {"type": "boolean", "description": "Signed in as an ally."}},
        "unsigned": {"beta": {"type": "boolean", "description": "Asked for the beta docs."}},
    },
    "structure": {
        "holding_space": "holding",
        "items": [
            {"section": "start", "title": "Start", "path": "start", "icon": "house", "default": True, "variants": [
                {"variant": "en", "space": "s0", "path": "en", "default": True},
                {"variant": "fr", "space": "s1", "path": "fr", "hidden": True}]},
            {"group": "products", "title": "Products", "items": [
                {"section": "wallet", "title": "Wallet", "path": "wallet", "description": "Pay.", "variants": [
                    {"variant": "en", "space": "s2", "path": "en", "default": True}]}]},
            {"section": "allies", "title": "Allies", "path": "allies", "condition": "visitor.claims.ally == true",
             "variants": [{"variant": "en", "space": "s3", "path": "en", "default": True}]},
        ],
    },
    "redirects": [
        {"from": "/api", "to": {"section": "wallet"}},
        {"from": "/francais", "to": {"variant": "start/fr"}},
        {"from": "/status", "to": {"url": "https://status.lumen.example"}},
    ],
    "customization": {
        "site": {"styling": {"theme": "clean", "primaryColor": {"light": "#534AB7", "dark": "#B2A5FF"}},
                 "announcement": {"enabled": True, "style": "info", "message": "Soon"}, "pdf": {"enabled": False}},
        "overrides": {"start/fr": {"announcement": {"enabled": True, "style": "warning", "message": "Bientôt"}}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with create_stage(tmp_path_factory.mktemp("import")) as stage:
        yield stage


@pytest.fixture
def stage(platform: Stage, tmp_path: Path) -> Stage:
    fresh = platform.emptied()
    fresh.store = tmp_path / "state.db"
    return fresh


def declared(stage: Stage, **changes: Any) -> SiteFile:
    spaces = {f"s{number}": id for number, id in enumerate(stage.spaces)} | {"holding": stage.holding}
    document = {**DOCUMENT, "site": {"org": stage.organization, "id": stage.site}, "spaces": spaces, **changes}
    return read(json.dumps(document))


def read(text: str, others: Mapping[str, str] | None = None) -> SiteFile:
    file, findings = read_site_file(text, path=FILE, others=others or {})
    assert not findings, findings
    assert file is not None
    return file


def applied(workspace: Workspace, file: SiteFile) -> ApplyResult:
    lock_writer = LockWriter(workspace, file, "state")
    lock = lock_writer.load()
    live = read_live(workspace, file, lock)
    plan = plan_site(file, live, lock)
    keep = partial(save_backup, workspace, FILE, lock=lock)
    done = apply_plan(workspace, file, plan, live, lock_writer, options=Options(), keep_before=keep)
    assert not done.exit_code, (done.failed, done.left.lines)
    return done


def import_from(workspace: Workspace, stage: Stage, **more: Any) -> SiteImport:
    return import_site(workspace, ImportTarget(stage.organization, stage.site, FILE, **more))


def test_a_site_is_imported_as_it_is_and_the_plan_is_empty(stage: Stage) -> None:
    with stage.workspace() as workspace:
        want = declared(stage)
        applied(workspace, want)
        found = import_from(workspace, stage)
        assert not found.plan, found.plan.lines
        assert not found.findings
        assert not found.unexpected
        assert not found.outside
        assert list(found.files) == [FILE]
        assert {entry.by for entry in found.lock.items.values()} == {"adopted"}
        again = read(found.files[FILE])
    kept = {ref: dict(item.fields) for ref, item in again.items.items()}
    for ref, item in want.items.items():
        assert {name: kept[ref][name] for name in item.fields} == dict(item.fields), ref
    assert again.orders == want.orders
    assert set(again.spaces.values()) == set(want.spaces.values()) - {stage.holding} - set(stage.spaces[4:])


def test_many_redirects_go_to_a_file_of_their_own(stage: Stage) -> None:
    with stage.workspace() as workspace:
        many = [
            {"source": f"/old/{number}", "destination": {"kind": "external", "url": f"https://e.example/{number}"}}
            for number in range(FILE_MANY + 1)
        ]
        for start in (0, 500):
            body = RedirectUpserts.model_validate({"redirects": many[start : start + 500]})
            workspace.client.redirects.upsert(stage.organization, stage.site, body)
        lines = "/OLD/1 https://e.example\n/x https://x.example 301\n/y/* /z/:splat\n/z /space-0\n"
        found = import_from(workspace, stage, foreign=ForeignFile("_redirects", lines))
    assert list(found.files) == [FILE, f"docs/{REDIRECT_FILE}"]
    assert found.files[f"docs/{REDIRECT_FILE}"].count("\n") == FILE_MANY + 2
    assert [step.ref for step in found.plan.steps] == ["redirect:/x", "redirect:/z"]
    assert [(str(one.place), one.what) for one in found.remarks] == [
        ("_redirects:3:1", "/y/* stands for many addresses, and the API takes them one by one")
    ]
    assert not found.unexpected


def test_keys_of_docs_yaml_and_redirects_of_a_space_are_taken() -> None:
    spaces = {"s0": "id0", "s1": "id1", "s2": "id2", "s3": "id3", "holding": "id4"}
    document = {**DOCUMENT, "site": {"org": "o", "id": "s"}, "spaces": spaces}
    bound = (Binding("id2", "wallet", "wallet"),)
    docs = """site:
  title: Lumen
  structure:
    - { type: section, key: begin, title: Start, path: start, children: [{ type: space, key: english, path: en }] }
    - { type: section-group, key: goods, title: Products, children: [] }
"""
    keys = ForeignFile("docs.yaml", docs, bound).keys()
    assert keys == {
        ("section", "start"): "begin",
        ("variant", "start", "en"): "english",
        ("group", "Products"): "goods",
    }
    things = {
        "g": ExistingItem("group", "g", {"title": "Products"}),
        "a": ExistingItem("section", "a", {"title": "Start", "path": "start", "default": True}),
        "v": ExistingItem("variant", "v", {"space": "id0", "path": "en", "default": True}, "a"),
    }
    live = LiveSite(items=things, orders={"": ("g", "a"), "a": ("v",)})
    drawn = declare_site("o", "s", live, SiteTitles(keys=keys))
    assert dict(drawn.keys) == {"g": "goods", "a": "begin", "v": "begin/english"}

    old = "redirects:\n  old/setup: guide/setup.md\n  usage: README.md\n"
    found = ForeignFile("wallet/.gitbook.yaml", old, bound).import_for(SiteMap(read(json.dumps(document))))
    assert found.document["redirects"] == [
        {"from": "/wallet/old/setup", "to": {"page": "guide/setup", "in": "wallet/en"}},
        {"from": "/wallet/usage", "to": {"variant": "wallet/en"}},
    ]
    site = SiteMap(read(json.dumps(document)))
    elsewhere = ForeignFile("old/.gitbook.yaml", old, bound, "start/fr").import_for(
        site, {"id1": {"guide/setup.md": "set-up"}}.get
    )
    assert elsewhere.document["redirects"] == [{"from": "/fr/old/setup", "to": {"page": "set-up", "in": "start/fr"}}]
    assert [one.what for one in elsewhere.remarks] == ["usage leads to README.md, which is the file of no page"]
    with pytest.raises(ConfigInvalid, match="there is no variant start/de"):
        ForeignFile("old/.gitbook.yaml", old, bound, "start/de").import_for(site)


def test_paths_of_another_tool_lead_to_what_is_there_now() -> None:
    spaces = {"s0": "id0", "s1": "id1", "s2": "id2", "s3": "id3", "holding": "id4"}
    document = {**DOCUMENT, "site": {"org": "o", "id": "s", "hosts": ["d.example/b"]}, "spaces": spaces}
    site = SiteMap(read(json.dumps(document)), {"id0": {"intro": "Intro"}})
    assert find_destination(site, "/wallet") == {"section": "wallet"}
    assert find_destination(site, "/fr/") == {"variant": "start/fr"}
    assert find_destination(site, "/intro") == {"page": "intro", "in": "start/en"}
    assert find_destination(site, "/nowhere") == {"url": "https://d.example/b/nowhere"}
    live = replace(site, hosts=(("d.example", "/b"),))
    assert find_destination(live, "/nowhere") == {"url": "https://d.example/b/nowhere"}


def test_redirects_alone_are_imported_with_the_ids_that_they_have_also_of_what_is_gone(stage: Stage) -> None:
    with stage.workspace() as workspace:
        applied(workspace, declared(stage))
        client, at = workspace.client, (stage.organization, stage.site)
        section = next(one for one in client.sections.list(*at) if one.path == "allies")
        to = {"kind": "site-section", "siteSectionId": section.id}
        client.redirects.create(*at, SiteRedirectWrite(source="/gone", destination=to))
        client.sections.delete(*at, section.id)
        found = import_from(workspace, stage, areas=frozenset({"redirects"}))
        assert not found.plan, found.plan.lines
        assert found.file.managed == {"redirects"}
        assert found.outside == {"group": 1, "section": 2, "variant": 3}
        assert {*found.file.items[Ref("redirect:/api")].fields["to"]} == {"raw"}
        assert found.file.items[Ref("redirect:/gone")].fields["to"] == {"raw": to}


@pytest.mark.parametrize(
    ("text", "taken", "key"),
    [
        ("Home (FR)", set(), "home-fr"),
        ("Über uns", set(), "uber-uns"),
        ("日本", set(), "section"),
        ("new", set(), "new-2"),
        ("a", {"a", "a-2"}, "a-3"),
        ("x" * 80, {"x" * 63}, "x" * 61 + "-2"),
    ],
)
def test_keys_are_plain_and_unlike_any_other(text: str, taken: set[str], key: str) -> None:
    assert make_key(text, taken, fallback="section") == key


def test_the_only_site_need_not_be_named_and_several_are_listed(stage: Stage) -> None:
    with stage.workspace() as workspace:
        assert choose_site(workspace, "", stage.site) == (stage.organization, stage.site)
        with pytest.raises(ConfigInvalid) as refused:
            choose_site(workspace, "", "")
    assert stage.site in refused.value.hint
    assert "--site" in refused.value.hint


def test_what_is_adopted_is_owned_and_what_is_forgotten_stays(stage: Stage) -> None:
    with stage.workspace() as workspace:
        at = (stage.organization, stage.site)
        made = workspace.client.redirects.create(
            *at, SiteRedirectWrite(source="/old", destination={"kind": "external", "url": "https://e.example"})
        )
        file = declared(stage, redirects=[{"from": "/new", "to": {"url": "https://e.example"}}])
        file = replace(file, managed=frozenset({"redirects"}))
        with pytest.raises(ConfigInvalid, match="declares no redirect:/newer") as unknown:
            adopt(workspace, file, "redirect:/newer", made.id, "state")
        assert "redirect:/new" in unknown.value.hint
        with pytest.raises(ConfigInvalid, match="nothing with the id"):
            adopt(workspace, file, "redirect:/new", "nobody", "state")
        assert adopt(workspace, file, "redirect:/new", made.id, "state") == ""
        assert adopt(workspace, file, "redirect:/new", made.id, "state") == ""
        both = declared(
            stage, redirects=[{"from": path, "to": {"url": "https://e.example"}} for path in ("/new", "/two")]
        )
        with pytest.raises(ConfigInvalid, match="is redirect:/new already"):
            adopt(workspace, both, "redirect:/two", made.id, "state")
        lock = LockWriter(workspace, file, "state").load()
        plan = plan_site(file, read_live(workspace, file, lock), lock)
        assert [(line.action, line.ref) for line in plan.lines] == [("update", "redirect:/new")]
        forget(workspace, file, "redirect:/new", "state")
        assert not LockWriter(workspace, file, "state").load().items
        with pytest.raises(ConfigInvalid, match="has no redirect:/new"):
            forget(workspace, file, "redirect:/new", "state")
        assert workspace.client.redirects.get_by_source(*at, "/old").redirect.id == made.id


def test_what_a_plan_did_is_taken_back_and_nothing_else(stage: Stage) -> None:
    with stage.workspace() as workspace:
        first = declared(stage)
        applied(workspace, first)
        before = seen(workspace, stage)
        items = json.loads(json.dumps(DOCUMENT["structure"]["items"]))
        items[0]["title"], items[0]["default"], items[1]["items"][0]["default"] = "Begin", False, True
        del items[0]["variants"][1], items[2]
        changes = {
            "structure": {**DOCUMENT["structure"], "items": items},
            "redirects": [{"from": "/api", "to": {"section": "start"}}, {"from": "/new", "to": {"section": "start"}}],
            "settings": {**DOCUMENT["settings"], "title": "Other"},
            "customization": {"site": {**DOCUMENT["customization"]["site"], "pdf": {"enabled": True}}},
        }
        second = declared(stage, **changes)
        applied(workspace, second)
        assert seen(workspace, stage) != before
        newest = next(
            one
            for one, kept in list_backups(workspace, stage.site)
            if kept.actions.get(Ref("section:allies")) == "delete"
        )
        with pytest.raises(StalePlan, match="nothing is kept of a plan zz"):
            plan_rollback(workspace, second, WISH, "zz")
        back = plan_rollback(workspace, second, WISH, newest.digest[:6])
        assert {"section:allies", "variant:start/fr", "redirect:/francais", "redirect:/status"} <= set(back.anew)
        done = roll_back(workspace, back)
        assert not (*done.failed, *done.stale)
        assert seen(workspace, stage) == before
        assert not plan_rollback(workspace, second, WISH, newest.digest).plan.steps


@pytest.mark.long
@pytest.mark.parametrize("seed", range(40))
def test_any_site_is_imported_with_an_empty_plan_and_any_edit_of_it_is_taken_back(stage: Stage, seed: int) -> None:
    chance, at = Random(seed), (stage.organization, stage.site, stage.holding)
    drawn = draw(chance, stage.spaces)
    following = file_of(edited(chance, drawn), *at)
    with stage.workspace() as workspace:
        applied(workspace, file_of(drawn, *at))
        found = import_from(workspace, stage)
        assert not found.plan, found.plan.lines
        assert not [one for one in found.findings if one.severity == "error"]
        before, known = seen(workspace, stage), {one.digest for one, _ in list_backups(workspace, stage.site)}
        applied(workspace, following)
        for digest in {one.digest for one, _ in list_backups(workspace, stage.site)} - known:
            done = roll_back(workspace, plan_rollback(workspace, following, WISH, digest))
            assert not (*done.failed, *done.stale)
        assert seen(workspace, stage) == before


def seen(workspace: Workspace, stage: Stage) -> Any:
    """Everything that a site shows, with names in the place of ids."""
    found = import_from(workspace, stage)
    document = {ref: dict(item.fields) for ref, item in found.file.items.items()}
    return document, found.file.orders


@pytest.mark.long
def test_the_story_of_a_take_over_as_it_is_typed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    home = stage.root / "clone"
    monkeypatch.chdir(home)
    token = stage.root / "platform" / "token"
    (home / ".git" / "syncd.toml").write_text(
        f'[platform]\nurl = "{stage.url}"\ntoken_file = "{token}"\n\n[[repository]]\n[[repository.space]]\n'
        f'id = "{stage.spaces[0]}"\ndirectory = "space"\n[repository.site]\nfile = "{FILE}"\n'
    )
    assert run(["trust", "--yes"]) == 0
    capsys.readouterr()
    with stage.workspace() as workspace:
        applied(workspace, declared(stage))

    def typed(*words: str) -> tuple[int, str]:
        code = run(list(words))
        said = capsys.readouterr()
        return code, said.out + said.err

    def commit() -> None:
        for words in (["add", "--all"], ["commit", "--quiet", "--message", "Edit"]):
            subprocess.run(["git", *words], cwd=home, check=True)

    code, said = typed("site", "import", "--site", stage.site)
    assert (code, said.splitlines()[0]) == (
        0,
        "Wrote docs/.syncd/schema/site-v1.json, docs/site.lock.json, docs/site.yaml.",
    ), said
    assert json.loads((home / "docs" / SCHEMA).read_text()) == build_site_schema()
    assert "the plan is empty" in said
    assert typed("site", "import", "--site", stage.site)[0] == 78
    (home / "_redirects").write_text("/old /wallet\n/api /x\n/a/* /b\n")
    code, said = typed("site", "import", "--from", "_redirects")
    assert (code, said.splitlines()[:2]) == (0, ["redirects:", "  - { from: /old, to: { section: wallet } }"])
    assert "_redirects:3:1: not taken: /a/*" in said
    (home / "space").mkdir(exist_ok=True)
    (home / "space" / "SUMMARY.md").write_text("# Table of contents\n\n* [Set it up](guide/01-setup.md)\n")
    (home / "space" / "guide").mkdir()
    (home / "space" / "guide" / "01-setup.md").write_text("# Set it up\n")
    (home / "space" / ".gitbook.yaml").write_text("redirects:\n  old: guide/01-setup.md\n  older: guide/02-use.md\n")
    code, said = typed("site", "import", "--from", "space/.gitbook.yaml")
    assert (
        code,
        "page: 01-setup," in said,
        "older leads to guide/02-use.md, which is the file of no page" in said,
    ) == (
        0,
        True,
        True,
    ), said
    (home / "wrong.csv").write_text("/wrong,section:nowhere\n")
    code, said = typed("site", "import", "--site", stage.site, "--from", "wrong.csv", "--out", "other/site.yaml")
    assert (code, "the file has 1 error" in said, "the plan is empty" in said) == (65, True, False), said
    shutil.rmtree(home / "other")
    commit()
    assert typed("site", "plan", "--exit-code")[0] == 0
    assert typed("redirects", "rm", "/status")[0] == 0
    assert typed("redirects", "test", "/status", "--online") == (
        1,
        "/status\n  1. nothing    no page and no redirect has this address\n"
        "  2. platform   redirects to https://status.lumen.example\n"
        "result by the file: nothing matches: visitors get a page that says so\n",
    )
    commit()
    assert typed("site", "apply", "--yes")[0] == 0
    code, said = typed("site", "history", "--json")
    digest = json.loads(said)["plans"][0]["digest"]
    assert json.loads(said)["plans"][0]["actions"] == {"redirect:/status": "delete"}
    code, said = typed("site", "rollback", digest[:5])
    assert (code, "nobody is here to ask; nothing was taken back: add --yes" in said) == (64, True)
    code, said = typed("site", "rollback", digest[:5], "--yes")
    assert (code, "made again under a new id: redirect /status" in said) == (0, True), said
    assert "still says the opposite" in said
    assert typed("site", "plan", "--exit-code")[0] == 2
    assert typed("site", "forget", "redirect:/status")[0] == 0
    assert typed("site", "plan", "--exit-code")[0] == 0
    assert typed("site", "adopt", "section:walet", "x")[0] == 78
