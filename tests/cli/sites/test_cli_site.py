"""`syncd site`: plan, apply, drift, pending and approve as people type them, with golden files of what they say."""

import json
from collections.abc import Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from syncd.model.redirect import SiteRedirectWrite
from syncd.model.site import SiteSectionCreate, SiteSectionUpdate, SiteSpaceCreate
from tests.answering import AnsweringServer, forward, send_answer
from tests.cli.sites.site_clone import SiteClone, create_sites
from tests.cli.terminal_session import TerminalSession

STRUCTURE = """\
settings: { title: Acme Docs }
structure:
  items:
    - section: guides
      title: Guides
      path: guides
      default: true
      variants: [{ variant: main, space: guides, default: true }]
    - section: api
      title: API
      path: api
      icon: code
      variants: [{ variant: main, space: api, default: true }]
"""
REDIRECTS = """\
redirects:
  - { from: /start, to: { section: guides } }
  - { from: [/old-api, /v1], to: { section: api }, note: moved in spring }
"""
URLS = "redirects:\n  - { from: /status, to: { url: 'https://example.org/status' } }\n"


@pytest.fixture
def at(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[SiteClone]:
    with create_sites(shell, capsys) as each:
        yield each


def test_a_plan_is_shown_and_applied_and_the_next_one_is_empty(at: SiteClone) -> None:
    at.write(STRUCTURE + REDIRECTS)
    at.golden("plan.txt", at("site", "plan"))
    document = at.json("site", "plan", "--exit-code", "--markdown", str(at.docs / "plan.md"), code=2)
    assert document["digest"] in at("site", "plan")
    at.golden("plan.md", (at.docs / "plan.md").read_text())
    (at.docs / "plan.md").unlink()
    assert at.sources() == [], "a plan writes nothing"
    assert at.sections() == {"guides": "Guides", "api": "Api"}
    at("site", "apply", "--expect", "000000000000", code=6)
    at.golden("apply.txt", at("site", "apply", "--expect", document["digest"]))
    assert at.sources() == ["/old-api", "/start", "/v1"]
    assert at.sections() == {"guides": "Guides", "api": "API"}
    log = at.shell.git("log", "-1", "--format=%s%n%(trailers)", cwd=at.docs)
    assert log.startswith(f"chore(syncd): lock serial 1\nSyncd-Plan: {document['digest']}")
    assert at.shell.git("status", "--porcelain", cwd=at.docs) == ""
    at.golden("in-step.txt", at("site", "plan", "--exit-code"))
    assert at.json("site", "apply", "--yes")["result"]["state"] == "unchanged"
    assert at.shell.git("log", "-1", "--format=%s", cwd=at.docs) == "chore(syncd): lock serial 1\n"
    at.shell.git("checkout", "--quiet", "--detach", cwd=at.docs)
    at.shell.git("branch", "--quiet", "-D", "main", cwd=at.docs)
    (at.docs / ".git" / "syncd" / "state.db").unlink()
    assert "Nothing to do" in at("site", "plan"), "a job's clone, on a commit and no branch, has the lock there"
    at("site", "apply", "--yes", code=78)


def test_what_is_planned_is_on_disk_what_is_applied_is_committed_and_mistakes_stop_both(at: SiteClone) -> None:
    at.write(URLS)
    for words in (
        ("plan", "--areas", "redirect"),
        ("plan", "--target", "home"),
        ("plan", "--prefer", "me"),
        ("plan", "--allow-replace", "variant"),
        ("plan", "--file", str(at.shell.root / "elsewhere.yaml")),
        ("apply", "--yes", "--force", "redirects.delete=many"),
        ("apply", "plan.json", "--areas", "redirects"),
        ("apply",),
    ):
        at("site", *words, code=64)
    at.write(URLS + "  - { from: /other, to: { url: 'https://example.org/other' } }\n", commit=False)
    assert "/other" in at("site", "plan")
    assert "differs from what is committed" in at.errors
    assert at("site", "plan").endswith("\nCommit site.yaml, then: syncd site apply\n")
    assert "/other" not in at("site", "apply", "--yes")
    assert "differs from what is committed" in at.errors, "who sees nothing to do learns why"
    assert at.sources() == ["/status"]
    at.write("redirects:\n  - { from: /a/, to: { section: guides } }\n  - { from: /b, to: { section: gone } }\n")
    at("site", "plan", code=65)
    assert "site.yaml:8:" in at.errors
    assert at.json("sync", code=65)["exit_code"] == 65
    assert at.sources() == ["/status"]


def test_a_saved_plan_is_applied_only_while_file_and_site_are_the_same(at: SiteClone) -> None:
    at.write(URLS)
    saved = at.docs / "plan.json"
    at("site", "plan", "--out", str(saved))
    assert saved.stat().st_mode & 0o777 == 0o600
    at.write(URLS.replace("/status,", "/other,"))
    at("site", "apply", str(saved), code=6)
    assert "site.yaml has changed" in at.errors
    at("site", "plan", "--out", str(saved))
    made = {"source": "/mine", "destination": {"kind": "external", "url": "https://example.org"}}
    at.client.redirects.create(at.organization, at.site, SiteRedirectWrite.model_validate(made))
    at("site", "apply", str(saved), code=6)
    assert "the site has changed" in at.errors
    at("site", "plan", "--out", str(saved))
    older = json.loads(saved.read_text()) | {"at": "2020-01-01T00:00:00+00:00"}
    (at.docs / "older.json").write_text(json.dumps(older))
    at("site", "apply", str(at.docs / "older.json"), code=6)
    for wrong in ("[]", "{", '{"kind": "syncd site plan"}'):
        (at.docs / "wrong.json").write_text(wrong)
        at("site", "apply", str(at.docs / "wrong.json"), code=65)
    assert at.sources() == ["/mine"]
    at("site", "apply", str(saved))
    assert at.sources() == ["/mine", "/other"]


def test_a_plan_fits_a_terminal_of_80_columns(at: SiteClone) -> None:
    at.write(STRUCTURE + REDIRECTS)
    words = ("site", "plan", "--config", at.docs / ".git" / "syncd.toml")
    environ = {"TERM": "xterm", "NO_COLOR": "1", "CI": "", "PAGER": "cat"}
    with TerminalSession(*words, cwd=at.docs, environ=environ, columns=80) as session:
        assert session.finish() == 0
    assert all(len(line) <= 80 for line in at.masked(session.text).splitlines())
    at.golden("plan-80.txt", session.text)


@pytest.mark.long
def test_a_gate_holds_a_plan_until_it_is_forced_by_its_number_or_approved(at: SiteClone) -> None:
    shorter = STRUCTURE.split("    - section: api")[0] + "policy: { prune: { structure: owned } }\n"
    at.write(STRUCTURE)
    at("site", "apply", "--yes")
    at.write(shorter)
    refused = at("site", "apply", "--yes", code=5)
    at.golden("refused.txt", refused + at.errors)
    at("site", "apply", "--yes", "--force", "structure.delete", code=64)
    at("site", "apply", "--yes", "--force", "structure.delete=7", code=5)
    results = at.json("sync", code=5)["results"]
    (held,) = [one for one in results if one["flow"] == "site"]
    (plan,) = at.json("site", "pending")["pending"]
    assert plan["digest"] in held["why"]
    assert f"! plan {plan['digest']} of site.yaml waits for approval" in at("status", code=5)
    at.golden("pending.txt", at("site", "pending"))
    at.golden("pending-whole.txt", at("site", "pending", plan["digest"][:5]))
    at("site", "approve", "0000", code=6)
    at.golden("approve.txt", at("site", "approve", plan["digest"][:4], "--comment", "agreed \x1b[31m"))
    assert "\\u001b[31m" in at("site", "pending")
    at.write(shorter + REDIRECTS.split("  - { from: [")[0])
    assert at.json("sync", code=5)["exit_code"] == 5, "another plan is not the one that was approved"
    at.write(shorter)
    assert at.json("sync", code=5)["exit_code"] == 5, "and the approval is void"
    at("site", "approve", at.json("site", "pending")["pending"][0]["digest"])
    assert at.json("sync")["exit_code"] == 0
    assert at.sections() == {"guides": "Guides"}
    assert at("site", "pending") == "No plan waits for approval.\n"
    at.write(STRUCTURE)
    at("site", "apply", "--yes", "--force", "exposure")
    at.write(shorter)
    count = at.json("site", "plan")["gates"][0]["count"]
    at("site", "apply", "--yes", "--force", f"structure.delete={count}")
    assert at.sections() == {"guides": "Guides"}


@pytest.mark.long
def test_drift_is_shown_and_accepted_with_comments_and_a_conflict_waits_for_a_person(at: SiteClone) -> None:
    at.write(STRUCTURE.replace("title: API", "title: API  # short"))
    at("site", "apply", "--yes")
    section = next(one for one in at.client.sections.list(at.organization, at.site) if one.path == "api")
    theirs = SiteSectionUpdate(title="Interfaces\x1b[31m", icon="plug")
    at.client.sections.update(at.organization, at.site, section.id, theirs)
    assert "drifted" not in at("status")
    at.golden("drift.txt", at("site", "drift", "--exit-code", code=3))
    assert "1 drifted  (syncd site drift)" in at("status"), "and not only after the next run"
    assert at("site", "drift", "--areas", "redirects", "--exit-code") != ""
    at.golden("drift-plan.txt", at("site", "plan"))
    at("site", "apply", "--yes")
    assert at.sections()["api"] == "Interfaces\x1b[31m", "drift is reported, not reverted"
    accepted = at.json("site", "drift", "--accept")
    assert accepted["accepted"] == ["section:api.title", "section:api.icon"]
    assert [(one["code"], one["line"]) for one in accepted["warnings"]] == [("SY006", 16)], "a person's eye is needed"
    text = (at.docs / "site.yaml").read_text()
    assert "# short" in text
    assert "icon: plug" in text
    at("site", "drift", "--exit-code")
    at.write(STRUCTURE.replace("title: API", "title: Ours").replace("icon: code", "icon: plug") + REDIRECTS)
    at.golden("conflict.txt", at("site", "plan", "--exit-code", code=6))
    at("site", "apply", "--yes", code=6)
    assert at.sources() == ["/old-api", "/start", "/v1"], "everything else goes on"
    assert at.sections()["api"] == "Interfaces\x1b[31m"
    assert "drift --accept" not in at("site", "drift"), "the file changed it, too, so nothing is to be overwritten"
    said = at("site", "drift", "--accept", "--exit-code", code=3)
    assert "! left: both sides changed section api title, and it is Interfaces" in said
    assert "; write that at site.yaml:16, or syncd site apply --prefer file" in said
    assert "No drift" not in said
    at("site", "apply", "--yes", "--prefer", "file")
    assert at.sections()["api"] == "Ours"


@pytest.mark.long
def test_what_is_blocked_makes_no_plan_a_good_one(at: SiteClone) -> None:
    at.write(STRUCTURE + REDIRECTS)
    at("site", "apply", "--yes")
    theirs = SiteSectionCreate(space_id=at.spaces["empty"], title="Theirs")
    section = at.client.sections.create(at.organization, at.site, theirs)
    at.client.sections.update(at.organization, at.site, section.id, SiteSectionUpdate(path="taken"))
    at.write(STRUCTURE.replace("path: api", "path: taken") + REDIRECTS)
    assert "is taken by section" in at("site", "plan")
    at("site", "plan", "--exit-code", code=4)
    at("site", "apply", "--yes", code=4)
    assert 'section:api: path "taken" is taken by section' in at.errors
    at.write(STRUCTURE.replace("path: api", "path: taken").replace("title: API", "title: Interfaces") + REDIRECTS)
    at("site", "plan", "--exit-code", code=4)
    assert at.json("site", "apply", "--yes", code=4)["result"]["state"] == "held"
    assert at.sections() == {"guides": "Guides", "api": "Interfaces", "taken": "Theirs"}, "all else is done"
    (site,) = [one for one in at.json("sync", code=4)["results"] if one["flow"] == "site"]
    assert (site["exit_code"], site["state"]) == (4, "held")
    assert "  site   site.yaml" in at("status", code=4)
    at.client.sections.delete(at.organization, at.site, section.id)
    at("site", "apply", "--yes")
    assert "taken" in at.sections()
    at("sync")
    at("status")


def test_the_first_sections_take_in_what_stands_at_the_root(at: SiteClone) -> None:
    for section in at.client.sections.list(at.organization, at.site):
        at.client.sections.delete(at.organization, at.site, section.id)
    root = at.client.site_spaces.create(at.organization, at.site, SiteSpaceCreate(space_id=at.spaces["guides"]))
    at.write(STRUCTURE.partition("    - section: api")[0])
    at("site", "apply", "--yes", code=4)
    assert "declare one section with all of them, and a second section" in at.errors
    assert at.sections() == {}
    at.write(STRUCTURE + REDIRECTS)
    at.golden("first-sections.txt", at("site", "plan"))
    at("site", "plan", "--exit-code", code=5)
    at("site", "apply", "--yes", code=5)
    assert at.sections() == {}, "nothing is done while the new space waits for a person"
    at("site", "apply", "--yes", "--force", "exposure")
    assert at.sections() == {"guides": "Guides", "api": "API"}
    assert "Nothing to do" in at("site", "plan")
    at("site", "plan", "--exit-code")
    shown = at.client.site_spaces.list(at.organization, at.site)
    assert [one.id for one in shown if one.space and one.space.id == at.spaces["guides"]] == [root.id]
    assert at.json("sync")["exit_code"] == 0


def test_an_apply_that_failed_in_part_is_told_by_status_history_and_log(at: SiteClone) -> None:
    is_broken = True

    def answer(request: BaseHTTPRequestHandler) -> None:
        content = request.rfile.read(int(request.headers.get("Content-Length") or 0))
        if is_broken and request.command == "POST" and b"/second" in content:
            send_answer(request, 500, "application/json", b'{"error": {"message": "boom"}}')
        else:
            forward(request, at.shell.url, content)

    at.write(URLS + URLS.replace("/status", "/second").removeprefix("redirects:\n"))
    with closing(AnsweringServer(answer)) as server:
        config = at.docs / ".git" / "syncd.toml"
        config.write_text(config.read_text().replace(at.shell.url, server.url))
        at("site", "apply", "--yes", code=75)
        assert "1 added, 1 perhaps changed: " in at("site", "history")
        shown = at("status", code=75)
        assert "! run of a command waiting since " in shown
        assert "redirect:/second: " in shown
        assert "waiting     site site.yaml: redirect:/second: " in at("log")
        is_broken = False
        at("site", "apply", "--yes")
        assert "!" not in at("status")


def test_a_plan_that_is_not_taken_back_whole_is_no_success(at: SiteClone) -> None:
    at.write(STRUCTURE)
    at("site", "apply", "--yes")
    digest = at.json("site", "history")["plans"][0]["digest"]
    section = next(one for one in at.client.sections.list(at.organization, at.site) if one.path == "api")
    at.client.sections.update(at.organization, at.site, section.id, SiteSectionUpdate(title="Theirs"))
    assert "The way back from plan" in at("undo", "--dry-run"), "it is what was done last"
    assert at.sections()["api"] == "Theirs"
    at("undo", digest, "--reset", "--yes", code=64)
    at("undo", digest, "--yes", code=6)
    assert "not all of it is taken back: section api: changed" in at.errors
    assert at.json("site", "rollback", digest, "--yes", code=6)["exit_code"] == 6
    assert at.sections()["api"] == "Theirs"


def test_a_lock_that_nobody_committed_is_told_and_so_is_a_site_that_is_not_there(at: SiteClone) -> None:
    at.write(URLS)
    at("site", "apply", "--yes")
    at.shell.git("rm", "--quiet", "--cached", "site.lock.json", cwd=at.docs)
    at.shell.git("commit", "--quiet", "--message", "No lock", cwd=at.docs)
    (at.docs / ".git" / "syncd" / "state.db").unlink()
    assert "no lock committed yet" in at("site", "plan")
    assert "site.lock.json is not committed yet" in at.errors
    assert "git add site.lock.json && git commit" in at.errors
    at.shell.git("add", "site.lock.json", cwd=at.docs)
    at.shell.git("commit", "--quiet", "--message", "Lock", cwd=at.docs)
    assert "lock serial 1\n" in at("site", "plan")
    assert at.errors == ""
    adopted = at.json("site", "forget", "redirect:/status")
    assert (adopted["declared"], adopted["waits"]) == (True, None)
    (redirect,) = at.client.redirects.list(at.organization, at.site)
    assert at.json("site", "adopt", "redirect:/status", redirect.id)["id"] == redirect.id
    at("site", "adopt", "redirect:/status", "nothing", code=78)
    assert f"syncd api GET /orgs/{at.organization}/sites/{at.site}/redirects --paginate" in at.errors
    (at.docs / "site.yaml").write_text(at.head.replace(at.site, "elsewhere") + URLS)
    (at.docs / "site.lock.json").unlink()
    at.shell.git("commit", "--quiet", "--all", "--message", "Elsewhere", cwd=at.docs)
    at("site", "plan", code=78)
    assert "error: site.yaml:2:40: there is no site elsewhere in organization" in at.errors


def test_what_was_deleted_on_the_platform_is_drift_that_is_kept_made_anew_or_taken_out(at: SiteClone) -> None:
    at.write(STRUCTURE + REDIRECTS)
    at("site", "apply", "--yes")
    for each in at.client.redirects.list(at.organization, at.site):
        if each.source != "/start":
            at.client.redirects.delete(at.organization, at.site, each.id)
    at.golden("deleted-drift.txt", at("site", "drift", "--exit-code", code=3))
    at.golden("deleted-plan.txt", at("site", "plan", "--exit-code"))
    assert [one["deleted"] for one in at.json("site", "drift")["drift"]] == [True, True]
    at("site", "apply", "--yes")
    assert at.sources() == ["/start"], "what somebody deleted stays away"
    at.golden("deleted-anew.txt", at("site", "plan", "--prefer", "file"))
    at("site", "apply", "--yes", "--prefer", "file", "--target", "redirect:/v1")
    assert at.sources() == ["/start", "/v1"]
    at.golden("deleted-accepted.txt", at("site", "drift", "--accept"))
    at.shell.git("commit", "--quiet", "--all", "--message", "Accept", cwd=at.docs)
    at("site", "apply", "--yes")
    assert "/old-api" not in (at.docs / "site.lock.json").read_text()
    at("site", "drift", "--exit-code")
    assert "from: [/v1]" in (at.docs / "site.yaml").read_text()


def test_a_section_that_was_deleted_is_told_in_one_line_and_comes_back_whole(at: SiteClone) -> None:
    at.write(STRUCTURE + REDIRECTS)
    at("site", "apply", "--yes")
    section = next(one for one in at.client.sections.list(at.organization, at.site) if one.path == "api")
    at.client.sections.delete(at.organization, at.site, section.id)
    at.golden("deleted-section.txt", at("site", "plan", "--exit-code"))
    assert "redirect /old-api leads to it (site.yaml:22" in at("site", "drift", "--accept")
    left = at.sources()
    at("site", "apply", "--yes")
    assert at.sections() == {"guides": "Guides"}
    assert at.sources() == left
    at("site", "apply", "--yes", "--prefer", "file", "--force", "exposure")
    assert at.sections() == {"guides": "Guides", "api": "API"}
    assert at.sources() == ["/old-api", "/start", "/v1"]
    assert "Nothing to do" in at("site", "plan", "--exit-code")
    assert at.json("site", "apply", "--yes")["result"]["state"] == "unchanged"


def test_where_no_site_is_configured_the_file_for_it_is_named(at: SiteClone) -> None:
    config = at.docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().split("[repository.site]")[0])
    at("site", "plan", code=78)
    assert f'add [repository.site] with file = "site.yaml" to {config}, or name the file' in at.errors
    said = at("site", "import", "--org", at.organization, "--site", at.site)
    assert f'Next: add [repository.site] with file = "site.yaml" to {config}\n' in said
