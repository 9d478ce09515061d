"""`syncd clone` and `syncd init`: names, options and help."""

from typing import Annotated

import typer

from syncd.cli.terminal.options import GROUP_SETTINGS, ConfigOption, JsonOption, TokenOption, exit_with

setup = typer.Typer(**GROUP_SETTINGS)

UrlOption = Annotated[str, typer.Option("--url", metavar="URL", help="The platform; the words are the rest then.")]
SpaceOption = Annotated[
    list[str] | None, typer.Option("--space", metavar="SPACE[=DIR]", help="A space, and its directory.")
]
InsecureOption = Annotated[bool, typer.Option("--insecure", help="Allow plain http to another host.")]


@setup.command()
def clone(
    url: Annotated[
        str,
        typer.Argument(
            metavar="URL", help="The platform, for example https://api.gitbook.com; an address of a space says it, too."
        ),
    ] = "",
    targets: Annotated[
        list[str] | None, typer.Argument(metavar="SPACE[=DIR]... REPO", help="Spaces, then the directory.")
    ] = None,
    url_option: UrlOption = "",
    space: SpaceOption = None,
    directory: Annotated[
        str, typer.Option("--directory", metavar="DIR", help="Directory of the new repository; else the last word.")
    ] = "",
    token_file: TokenOption = None,
    insecure: InsecureOption = False,
) -> None:
    """Make a Git repository that mirrors one or more spaces.

    It writes the configuration too. On a terminal it asks for what is left out.
    """
    from syncd.cli.setup.clone import run_clone
    from syncd.cli.setup.wizard import SetupWords, split_setup_words

    url, words = split_setup_words((url, *(targets or ())), url_option)
    if not directory and (len(words) > 1 or (words and space)):
        directory = words.pop()
    run_clone(SetupWords(url, [*words, *(space or ())], directory, token_file, insecure))


@setup.command()
def init(
    url: Annotated[str, typer.Argument(metavar="URL", help="The platform; left out, the configuration names it.")] = "",
    spaces: Annotated[list[str] | None, typer.Argument(metavar="SPACE[=DIR]", help="Spaces to bind.")] = None,
    url_option: UrlOption = "",
    space: SpaceOption = None,
    prefer: Annotated[
        list[str] | None,
        typer.Option("--prefer", metavar="SIDE", help="Side that goes first where both differ: platform or git."),
    ] = None,
    branch: Annotated[str, typer.Option("--branch", metavar="B", help="Branch to bind; else the current one.")] = "",
    token_file: TokenOption = None,
    insecure: InsecureOption = False,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Bind an existing repository to existing spaces.

    Where both sides differ it shows how, and changes neither until --prefer, or you, say which goes first.
    """
    from syncd.cli.setup.init import InitOptions, run_init
    from syncd.cli.setup.wizard import SetupWords, split_setup_words

    url, words = split_setup_words((url, *(spaces or ())), url_option)
    setup_words = SetupWords(url, [*words, *(space or ())], None, token_file, insecure)
    exit_with(run_init(InitOptions(setup_words, prefer or (), branch, config), as_json=json))
