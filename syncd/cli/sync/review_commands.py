"""`syncd review …`: names, options and help."""

from typing import Annotated, Any

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

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
