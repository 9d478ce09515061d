"""`example`: files that come with syncd for people to copy: configuration, units of systemd, monitoring, CI, hooks."""

import typer

from syncd.cli.terminal.packaged_files import read_packaged_file
from syncd.layout.lint.suggestions import NearMisses, format_suggestion

EXAMPLES = {
    "config": "config.example.toml",
    "syncd.service": "systemd/syncd.service",
    "syncd@.service": "systemd/syncd@.service",
    "syncd-worker@.service": "systemd/syncd-worker@.service",
    "syncd-platform.service": "systemd/syncd-platform.service",
    "alerts": "monitoring/alerts.yaml",
    "dashboard": "monitoring/dashboard.json",
    "user/syncd.service": "systemd/user/syncd.service",
    "github-action": "docs/recipes/github/action.yml",
    "github-workflow": "docs/recipes/github/workflow.yml",
    "github-pages": "docs/recipes/github/pages.yml",
    "gitlab-pages": "docs/recipes/gitlab/pages.yml",
    "gitlab": "docs/recipes/gitlab/docs.yml",
    "pre-push": "docs/recipes/hooks/pre-push",
    "pre-commit": "docs/recipes/hooks/pre-commit",
    "pre-commit-config": "docs/recipes/hooks/pre-commit-config.yaml",
}


def read_example(name: str) -> str:
    """Return the text of the file that this version of syncd has under a name of `EXAMPLES`."""
    return read_packaged_file(EXAMPLES[name])


def complete_name(incomplete: str) -> list[str]:
    """Return the names that a shell offers for the beginning of a word."""
    return [name for name in EXAMPLES if name.startswith(incomplete)]


def print_example(name: str) -> None:
    """Print the file with a name of `EXAMPLES`; "" lists the names. Raises: BadParameter when there is no such file."""
    if not name:
        print("syncd example NAME prints a file to copy.\n", *(f"  {each}" for each in EXAMPLES), sep="\n")
        return
    if name not in EXAMPLES:
        hint = format_suggestion(NearMisses(EXAMPLES).find(name)) or f"there are {', '.join(EXAMPLES)}"
        raise typer.BadParameter(f"there is no example of {name[:80]}; {hint}")
    print(read_example(name), end="")
