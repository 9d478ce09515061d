"""`syncd sync`, `pull`, `push`, `resolve` and `review …`: names, options and help."""

from pathlib import Path
from typing import Annotated, Any

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, ForceOption, JsonOption, exit_with


def sync(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Run every flow once.

    Mirror, review, integrate, propose, redirects.
    """
    from syncd.cli.sync.flow_runs import FlowsOptions
    from syncd.cli.sync.flows import run_flows

    exit_with(run_flows(FlowsOptions("sync", config, force or ()), as_json=json))


def pull(config: ConfigOption = None, json: JsonOption = False, force: ForceOption = None) -> None:
    """Bring the platform's content to Git and to tracked branches."""
    from syncd.cli.sync.flow_runs import FlowsOptions
    from syncd.cli.sync.flows import run_flows

    exit_with(run_flows(FlowsOptions("pull", config, force or ()), as_json=json))


def push(
    branch: Annotated[
        str | None, typer.Argument(metavar="BRANCH", help="Branch to propose; else the one checked out.")
    ] = None,
    subject: Annotated[str, typer.Option("--subject", metavar="TEXT", help="Subject of a new change request.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
    force: ForceOption = None,
    ci: Annotated[bool, typer.Option("--ci", help="In a CI job: needs no state and leaves none.")] = False,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="With --ci: the platform.")] = "",
    space: Annotated[
        list[str] | None, typer.Option("--space", metavar="SPACE[=DIR]", help="With --ci: a space and its directory.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="With --ci: write nothing; 2 when changes wait.")] = False,
    quality: Annotated[
        Path | None, typer.Option("--quality", metavar="FILE", help="With --ci: write GitLab's code quality report.")
    ] = None,
) -> None:
    """Propose the commits of a branch in its change request."""
    if ci:
        from syncd.cli.ci.command import PushCiOptions, push_ci

        options = PushCiOptions(config, url, space or (), branch or "", subject, dry_run, json, quality)
        exit_with(push_ci(options, force or []))
        return
    if url or space or dry_run or quality is not None:
        raise typer.BadParameter("--url, --space, --dry-run and --quality belong to --ci; syncd status says what waits")
    from syncd.cli.sync.flow_runs import FlowsOptions
    from syncd.cli.sync.flows import run_flows

    exit_with(run_flows(FlowsOptions("push", config, force or (), branch, subject), as_json=json))


def resolve_command(
    paths: Annotated[list[str] | None, typer.Argument(metavar="PATH", help="Pages or folders; . is all.")] = None,
    ours: Annotated[bool, typer.Option("--ours", help="Take each page as the branch has it.")] = False,
    theirs: Annotated[bool, typer.Option("--theirs", help="Take each page as the platform has it.")] = False,
    edit: Annotated[bool, typer.Option("--edit", help="Open each page with both texts in $VISUAL or $EDITOR.")] = False,
    hunk: Annotated[
        list[str] | None, typer.Option("--hunk", metavar="N[,N...]", help="With --ours or --theirs: only these hunks.")
    ] = None,
    interactive: Annotated[bool, typer.Option("--interactive", "-p", help="Ask for each hunk, on a terminal.")] = False,
    branch: Annotated[str, typer.Option("--branch", metavar="B", help="Branch; else the one checked out.")] = "",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show the conflicts of a branch, hunk by hunk, or settle them.

    It reads only what is on this machine, and records the decision in the branch.
    """
    from syncd.cli.sync.resolve import ResolveOptions, parse_hunks, run_resolve

    flags = {"ours": ours, "theirs": theirs, "edit": edit, "interactive": interactive}
    ways = [way for way, is_set in flags.items() if is_set]
    if len(ways) > 1:
        raise typer.BadParameter(f"--{ways[0]} and --{ways[1]} exclude each other")
    exit_with(
        run_resolve(ResolveOptions(tuple(paths or ()), branch, "".join(ways), parse_hunks(hunk or ()), json, config))
    )


_SETTINGS: dict[str, Any] = GROUP_SETTINGS | {"no_args_is_help": False, "invoke_without_command": True}
"""`syncd review` without a command lists."""
CommentArgument = Annotated[str, typer.Argument(metavar="COMMENT", help="The comment's id, or how it begins.")]

review = typer.Typer(help="Read and answer what is said of your change requests.", **_SETTINGS)


@review.callback()
def review_list(
    context: typer.Context,
    with_resolved: Annotated[bool, typer.Option("--all", help="Show resolved comments, too.")] = False,
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help="text or quickfix.")] = "text",
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Show your live change requests and what is said of them, problems first.

    Each comment with its file and line. It reads the platform, and writes nothing.
    """
    if context.invoked_subcommand is not None:
        return
    from syncd.cli.sync.review import show_review

    if format not in ("text", "quickfix"):
        raise typer.BadParameter(f"--format {format}: text or quickfix")
    exit_with(show_review(config, with_resolved=with_resolved, quickfix=format == "quickfix", as_json=json))


@review.command("reply")
def review_reply(
    comment: CommentArgument,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The reply, as Markdown; - reads stdin.")],
    config: ConfigOption = None,
) -> None:
    """Answer a comment."""
    from syncd.cli.sync.review import reply_to_comment

    reply_to_comment(config, comment, text)


@review.command("resolve")
def review_resolve(
    comment: CommentArgument,
    reopen: Annotated[bool, typer.Option("--reopen", help="Open it again instead.")] = False,
    config: ConfigOption = None,
) -> None:
    """Mark a comment as resolved."""
    from syncd.cli.sync.review import resolve_comment

    resolve_comment(config, comment, resolved=not reopen)
