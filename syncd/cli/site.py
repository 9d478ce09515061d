"""`site plan` and `site apply`: redirects as the site file declares them."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import typer

from syncd.cli.context import configuration, forced
from syncd.cli.output import change_document, emit, plan_lines
from syncd.daemon.workplace import Circumstances, workplace
from syncd.errors import ConfigInvalid
from syncd.sync.site import SitePlan, apply_site, plan_site
from syncd.sync.workspace import Workspace


def show_plan(config_file: Path | None, *, as_json: bool, exit_code: bool) -> int:
    """Print what would change on each configured site; return 2 when asked to tell pending changes."""
    pending = False
    for _, plan in _plans(config_file, []):
        pending = pending or bool(plan.plan)
        _show(plan, as_json=as_json)
    return 2 if exit_code and pending else 0


def apply_plan(config_file: Path | None, *, yes: bool, expect: str, as_json: bool, force: Sequence[str]) -> int:
    """Print the plan of each configured site, ask, and carry it out."""
    for workspace, plan in _plans(config_file, force):
        _show(plan, as_json=as_json)
        if not plan.plan:
            continue
        if not yes and not expect:
            if not sys.stdin.isatty():
                raise typer.BadParameter("nobody is here to ask: add --yes, or --expect with the plan's digest")
            typer.confirm("Apply this plan?", abort=True)
        apply_site(workspace, plan, expect=expect)
        if not as_json:
            print("Applied.")
    return 0


def _plans(config_file: Path | None, force: Sequence[str]) -> Iterator[tuple[Workspace, SitePlan]]:
    config = configuration(config_file)
    sited = [(repository, repository.site) for repository in config.repository if repository.site is not None]
    if not sited:
        raise ConfigInvalid(
            "no repository has a site", hint='add [repository.site] with file = "site.yaml" to the configuration'
        )
    for repository, site in sited:
        with workplace(config, repository, Circumstances(os.environ, force=forced(force))) as workspace:
            yield workspace, plan_site(workspace, repository.named[0], site.file)


def _show(plan: SitePlan, *, as_json: bool) -> None:
    if as_json:
        changes = [change_document(change) for change in plan.plan.changes]
        counts = dict(plan.plan.counts())
        emit({"site": plan.file.site, "digest": plan.plan.digest(), "summary": counts, "changes": changes})
        return
    print(f"Site {plan.file.site}")
    print("\n".join(plan_lines(plan.plan)))
