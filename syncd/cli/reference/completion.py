"""`completion`: what a shell reads so that it completes the words of a command."""

import typer
from typer.completion import get_completion_script  # type: ignore[attr-defined] # exported, but not by `__all__`

SHELLS = ("bash", "zsh", "fish")
COMPLETION_VARIABLE = "_SYNCD_COMPLETE"
"""In the environment of a `syncd` that a shell asks for words; the name is typer's."""


def print_completion(shell: str) -> None:
    """Print the script that a shell reads. Raises: BadParameter when the shell is not known."""
    if shell not in SHELLS:
        raise typer.BadParameter(f"there is no completion for {shell[:80]}; there is for {', '.join(SHELLS)}")
    script = get_completion_script(prog_name="syncd", complete_var=COMPLETION_VARIABLE, shell=shell)
    # zsh runs a file of $fpath at the first Tab and takes what that completes; a file that is sourced only registers.
    registered = "compdef _syncd_completion syncd"
    chosen = f"if [[ $funcstack[1] = _syncd ]]; then _syncd_completion; else {registered}; fi"
    print(script.replace(registered, chosen) if shell == "zsh" else script)
