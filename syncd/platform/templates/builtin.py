"""Templates that the platform has of itself, for a space that starts from nothing."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class TemplatePage:
    """A page of a template. Shape: links between pages are to their paths, as in a repository."""

    path: str
    title: str
    text: str
    below: tuple["TemplatePage", ...] = ()


_PRODUCT = (
    TemplatePage(
        "README.md",
        "Welcome",
        "Say in one sentence what your product does, and for whom.\n\n"
        "* [Quickstart](quickstart.md) leads to a first result in five minutes.\n"
        "* [Concepts](concepts.md) explains the words that the other pages use.\n"
        "* [Guides](guides/README.md) answer one question each.\n"
        "* [Reference](reference.md) names every setting.\n",
    ),
    TemplatePage(
        "quickstart.md",
        "Quickstart",
        "## Before you start\n\nList what a reader needs.\n\n"
        "## Install\n\n```sh\n# the one command that installs it\n```\n\n"
        "## First result\n\nEnd with something that the reader can see.\n",
    ),
    TemplatePage("concepts.md", "Concepts", "Explain each word once, here, and link to it from everywhere else.\n"),
    TemplatePage(
        "guides/README.md",
        "Guides",
        "A guide begins with what the reader wants to do, and ends when it is done.\n",
        (TemplatePage("guides/first-guide.md", "First guide", "## Steps\n\n1. Do this.\n2. Then do that.\n"),),
    ),
    TemplatePage(
        "reference.md",
        "Reference",
        "| Setting | Default | What it does |\n| --- | --- | --- |\n| `example` | `true` | Says what it does. |\n",
    ),
)

_HELP = (
    TemplatePage(
        "README.md",
        "Help center",
        "## Most asked\n\n* [Your account](account.md)\n* [Something does not work](troubleshooting.md)\n",
    ),
    TemplatePage(
        "account.md", "Your account", "## Sign in\n\nSay where and how.\n\n## Change your plan\n\nSay who may.\n"
    ),
    TemplatePage(
        "troubleshooting.md",
        "Something does not work",
        "## What you see\n\nName the message as it is shown.\n\n## Why\n\nOne cause.\n\n## What to do\n\n1. A step.\n",
    ),
)

TEMPLATES: Mapping[str, tuple[TemplatePage, ...]] = {"blank": (), "product-docs": _PRODUCT, "help-center": _HELP}
"""Templates by their id; `blank` has no page."""
