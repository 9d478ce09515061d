"""`syncd run` on a repository with a site: it follows commits, waits for a person, and its own commits wake nothing."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from syncd.daemon.locks import STATE_FILE
from syncd.model.site import SiteSectionUpdate
from syncd.store.status import read_store_summary
from tests.cli.service.test_cli_daemon import daemon, soon
from tests.cli.sites.site_clone import SiteClone, create_sites

pytestmark = pytest.mark.story

SECTION = """\
    - section: {key}
      title: {title}
      path: {key}
      default: {default}
      variants: [{{ variant: main, space: {key}, default: true }}]
"""
GUIDES = "structure:\n  items:\n" + SECTION.format(key="guides", title="Guides", default="true")
BOTH = GUIDES + SECTION.format(key="api", title="Api", default="false")
PRUNED = "policy: { prune: { structure: owned } }\n"


@pytest.fixture
def at(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[SiteClone]:
    with create_sites(shell, capsys) as each:
        config = each.docs / ".git" / "syncd.toml"
        config.write_text(config.read_text().replace("[[repository]]", "[[repository]]\ninterval = 1"))
        yield each


def commits(at: SiteClone) -> list[str]:
    said: str = at.shell.git("log", "--format=%s", "main", cwd=at.docs)
    return said.splitlines()


def looked(at: SiteClone) -> str:
    """When the service last looked at the site."""
    return next((look.at for look in read_store_summary(at.docs / ".git" / STATE_FILE).site_states), "")


def test_the_service_follows_commits_waits_for_a_person_and_is_quiet_after_its_own(at: SiteClone) -> None:
    at.write(BOTH)
    at.configure("every = 3600\n")
    with daemon(at.docs):
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 1"), "everything is adopted"
        first = looked(at)
        time.sleep(2.2)
        assert looked(at) == first, "neither its own commit nor an interval is a reason to look"
        at.write(BOTH.replace("title: Api", "title: API"))
        assert soon(lambda: at.sections() == {"guides": "Guides", "api": "API"}), "a commit is, at once"
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 2")
        at.write(PRUNED + GUIDES)
        assert soon(lambda: bool(at.json("site", "pending")["pending"])), "a deletion waits"
        assert "api" in at.sections()
        at("site", "approve", at.json("site", "pending")["pending"][0]["digest"])
        assert soon(lambda: at.sections() == {"guides": "Guides"}), "until somebody agrees"
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 3")
    assert not list(at.client.change_requests.list(at.shell.space, status="open")), "nothing of this is content"
    assert at.shell.git("status", "--porcelain", cwd=at.docs) == ""


@pytest.mark.long
def test_the_service_takes_edits_back_or_offers_them_on_a_branch_as_the_policy_says(at: SiteClone) -> None:
    def edit(title: str) -> None:
        here = at.organization, at.site
        (api,) = [one.id for one in at.client.sections.list(*here) if one.path == "api"]
        at.client.sections.update(*here, api, SiteSectionUpdate(title=title))

    def offered() -> str:
        said: str = at.shell.git("for-each-ref", "--format=%(refname:short)", "refs/heads/syncd", cwd=at.docs)
        return at.shell.git("show", "syncd/site/drift:site.yaml", cwd=at.docs) if said else ""

    at.write("policy: { on_drift: { structure: revert } }\n" + BOTH)
    at.configure("every = 1\n")
    with daemon(at.docs):
        assert soon(lambda: commits(at)[0] == "chore(syncd): lock serial 1")
        edit("Theirs")
        assert soon(lambda: at.sections()["api"] == "Api"), "it is taken back"
        at.write("policy: { on_drift: { structure: accept } }\n" + BOTH)
        edit("Better")
        assert soon(lambda: "title: Better" in offered()), "it is offered"
        assert at.sections()["api"] == "Better", "and stays"
        at.shell.git("merge", "--quiet", "--no-edit", "syncd/site/drift", cwd=at.docs)
        assert soon(lambda: '"Better"' in at.shell.git("show", "main:site.lock.json", cwd=at.docs))
    assert at("site", "drift", "--exit-code")
    assert at.shell.git("status", "--porcelain", cwd=at.docs) == ""
