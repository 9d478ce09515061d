"""The service and the link to its status page: names, options and help."""

from typing import Annotated, Any

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, exit_with

service_page = typer.Typer(**GROUP_SETTINGS)


@service_page.command("run")
def run_command(
    config: ConfigOption = None,
    listen: Annotated[
        str, typer.Option("--listen", metavar="ADDRESS:PORT", help="Answer /metrics, /livez and /readyz there.")
    ] = "",
    web: Annotated[
        str,
        typer.Option(
            "--web",
            metavar="ADDRESS:PORT",
            show_default="127.0.0.1:9471",
            help="Where syncd web finds the status page; or off.",
        ),
    ] = "",
    log_format: Annotated[
        str, typer.Option("--log-format", metavar="FORMAT", help="text, json or journal; else by where stderr leads.")
    ] = "",
) -> None:
    """Keep all repositories in step, in the foreground."""
    from syncd.cli.service.run import RunOptions, run_service

    exit_with(run_service(RunOptions(config, listen, web, log_format), _make_reader))


@service_page.command("web")
def web_command(
    open_it: Annotated[bool, typer.Option("--open", help="Open it in the browser.")] = False,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Print a link to the service's status page.

    It works once, within a minute.
    """
    from syncd.cli.web.command import WebOptions, show_link

    exit_with(show_link(WebOptions(config, open_it, json)))


def _make_reader(*sources: Any) -> Any:
    """What reads for the status page, loaded when somebody looks."""
    from syncd.cli.web.reader import PageReader

    return PageReader(*sources)
