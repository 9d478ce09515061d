"""`syncd site …`: names, options and help."""

from pathlib import Path
from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, FormatOption, JsonOption, StrictOption, exit_with

site = typer.Typer(help="Keep a site as its site file says.", **GROUP_SETTINGS)


FileOption = Annotated[
    Path | None, typer.Option("--file", metavar="FILE", help="The site file; else the one that is configured.")
]
AreasOption = Annotated[
    list[str] | None, typer.Option("--areas", metavar="AREA", help="Only these areas, such as redirects.")
]
TargetOption = Annotated[
    list[str] | None, typer.Option("--target", metavar="KEY", help="Only this thing, such as section:home.")
]
PreferOption = Annotated[str, typer.Option("--prefer", metavar="SIDE", help="Who wins a conflict: file or live.")]
ReplaceOption = Annotated[
    list[str] | None,
    typer.Option("--allow-replace", metavar="KIND", help="Make anew what cannot be moved: group."),
]
SiteForceOption = Annotated[
    list[str] | None, typer.Option("--force", metavar="CLASS[=N]", help="Open this gate, and no other.")
]


@site.command("validate")
def site_validate(
    path: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="The site file; else site.yaml, or the configured one.")
    ] = None,
    file: FileOption = None,
    online: Annotated[bool, typer.Option("--online", help="Ask the platform, too.")] = False,
    strict: StrictOption = False,
    fix: Annotated[bool, typer.Option("--fix", help="Flatten chains, and drop was: where it is done with.")] = False,
    format: FormatOption = "text",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Check the site file; offline, it needs no configuration.

    It says everything that is wrong at once, each with its place and its code.
    """
    from syncd.cli.sites.validate import ValidateOptions, run_validate

    if path is not None and file is not None:
        raise typer.BadParameter("FILE and --file name the same thing: give one of them")
    if json and format not in ("text", "json"):
        raise typer.BadParameter(f"--json and --format {format} exclude each other")
    exit_with(run_validate(ValidateOptions(path or file, config, online, strict, fix), "json" if json else format))


@site.command("plan")
def site_plan(
    config: ConfigOption = None,
    file: FileOption = None,
    areas: AreasOption = None,
    target: TargetOption = None,
    prefer: PreferOption = "",
    allow_replace: ReplaceOption = None,
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Save the plan for apply.")] = None,
    markdown: Annotated[
        Path | None, typer.Option("--markdown", metavar="FILE", help="Write the plan as a page for a review.")
    ] = None,
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Return 2 when changes are pending, 5 behind a gate, 6 in conflict.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="List what is not in the file, too.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what would change on the site; nothing is written."""
    from syncd.cli.sites.plan import PlanOptions, PlanOutputOptions, show_plan

    asked = PlanOptions(config, file, areas or (), target or (), prefer, allow_replace or ())
    exit_with(show_plan(asked, PlanOutputOptions(out, markdown, verbose, json, exit_code)))


@site.command("apply")
def site_apply(
    plan: Annotated[Path | None, typer.Argument(metavar="PLAN", help="A plan that was saved with --out.")] = None,
    config: ConfigOption = None,
    file: FileOption = None,
    areas: AreasOption = None,
    target: TargetOption = None,
    prefer: PreferOption = "",
    allow_replace: ReplaceOption = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; gates hold all the same.")] = False,
    expect: Annotated[
        str, typer.Option("--expect", metavar="DIGEST", help="Apply only the plan with this digest.")
    ] = "",
    force: SiteForceOption = None,
    json: JsonOption = False,
) -> None:
    """Carry out the plan between the committed site file and the site."""
    from syncd.cli.sites.apply import Consent, run_apply
    from syncd.cli.sites.plan import PlanOptions

    asked = PlanOptions(config, file, areas or (), target or (), prefer, allow_replace or ())
    if plan is not None and (areas or target or prefer or allow_replace or expect):
        raise typer.BadParameter("a saved plan says itself what it is about: take the other options away")
    exit_with(run_apply(asked, plan, Consent(yes, expect, force or ()), as_json=json))


@site.command("drift")
def site_drift(
    config: ConfigOption = None,
    file: FileOption = None,
    areas: AreasOption = None,
    accept: Annotated[bool, typer.Option("--accept", help="Write it into the files of the work tree.")] = False,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="Return 3 when there is any.")] = False,
    json: JsonOption = False,
) -> None:
    """Show what somebody changed on the platform.

    Since syncd was there, that is; --accept takes it into the file.
    """
    from syncd.cli.sites.drift import run_drift
    from syncd.cli.sites.plan import PlanOptions

    exit_with(run_drift(PlanOptions(config, file, areas or ()), accept=accept, exit_code=exit_code, as_json=json))


@site.command("pending")
def site_pending(
    digest: Annotated[str, typer.Argument(metavar="ID", help="Show all of the plan whose digest begins so.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """List the plans that wait for approval.

    It reads only what is on this machine.
    """
    from syncd.cli.sites.approve import show_pending

    exit_with(show_pending(config, digest, as_json=json))


@site.command("approve")
def site_approve(
    digest: Annotated[str, typer.Argument(metavar="ID", help="The plan's digest, or how it begins.")],
    comment: Annotated[str, typer.Option("--comment", metavar="TEXT", help="Why; it is kept with the plan.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Let one plan that waits through, once, within a day."""
    from syncd.cli.sites.approve import run_approve

    exit_with(run_approve(config, digest, comment, as_json=json))


@site.command("import")
def site_import(
    site_id: Annotated[
        str, typer.Option("--site", metavar="SITE", help="The site; left out where the organization has only one.")
    ] = "",
    organization: Annotated[
        str, typer.Option("--org", metavar="ORG", help="The organization; left out where the token sees only one.")
    ] = "",
    areas: AreasOption = None,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="FILE", help="Take redirects or structure from docs.yaml, _redirects, CSV, docs.json."
        ),
    ] = None,
    variant: Annotated[
        str,
        typer.Option(
            "--variant",
            metavar="KEY",
            help="The variant whose space the .gitbook.yaml of --from is, if it lies elsewhere.",
        ),
    ] = "",
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Where the site file goes.")] = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Write the file and the lock of a site as it is now.

    It proves them: the plan is empty. Nothing that exists is overwritten, and nothing on the site changes.
    """
    from syncd.cli.sites.import_ import ImportOptions, run_import

    exit_with(run_import(ImportOptions(config, organization, site_id, areas or (), source, variant, out), as_json=json))


@site.command("adopt")
def site_adopt(
    ref: Annotated[str, typer.Argument(metavar="REF", help="What the file declares, such as section:home.")],
    id: Annotated[str, typer.Argument(metavar="ID", help="The id of what it is on the site.")],
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Say which thing on the site is the one that the file means.

    Only the lock changes.
    """
    from syncd.cli.sites.adopt import run_adopt

    exit_with(run_adopt(config, file, ref, id, as_json=json))


@site.command("forget")
def site_forget(
    ref: Annotated[str, typer.Argument(metavar="REF", help="What the lock has, such as section:home.")],
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Let go of something that is syncd's; it stays on the site.

    Only the lock changes.
    """
    from syncd.cli.sites.adopt import run_forget

    exit_with(run_forget(config, file, ref, as_json=json))


@site.command("history")
def site_history(config: ConfigOption = None, json: JsonOption = False) -> None:
    """List the plans that ran and can be taken back.

    It reads only what is on this machine.
    """
    from syncd.cli.sites.rollback import show_history

    exit_with(show_history(config, as_json=json))


@site.command("rollback")
def site_rollback(
    digest: Annotated[str, typer.Argument(metavar="ID", help="The plan's digest, or how it begins.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; gates hold all the same.")] = False,
    force: SiteForceOption = None,
    file: FileOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Take a plan back that ran.

    What it deleted is made again under a new id.
    """
    from syncd.cli.sites.rollback import RollbackOptions, run_rollback

    exit_with(run_rollback(RollbackOptions(digest, config, file, yes, force or ()), as_json=json))


@site.command("fmt")
def site_fmt(
    file: FileOption = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; 1 and a diff when something differs.")] = False,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Put the site file into one spelling; comments stay.

    So it does with the redirect files in YAML that the site file names.
    """
    from syncd.cli.sites.fmt import run_fmt

    exit_with(run_fmt(config, file, check=check, as_json=json))


@site.command("migrate")
def site_migrate(file: FileOption = None, config: ConfigOption = None, json: JsonOption = False) -> None:
    """Bring a site file of an earlier syncd into the form of today."""
    from syncd.cli.sites.fmt import run_migrate

    exit_with(run_migrate(config, file, as_json=json))
