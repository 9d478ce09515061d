"""Titles, names of files, slugs and blocks that need quoting, that look like something else, or that collide."""

from tests.faults.twoway.schedule import Step

_TITLES = (
    "Title {} & more",
    "Title [{}]",
    "😀 Title {}",
    "Title *{}*",
    "Title `{}`",
    'Title {}: "x" <b>',
    "Title {} | y",
    "2. Title {}",
    "Title {} #",
    "Title {} \\ x",
    "Títle {} (draft)",
    "Title {} %20",
    "Title](x.md) {}",
    "- {}",
    "Title {} {{% hint %}}",
    "`{}",
)
_NAMES = (
    "n {}.md",
    "Ünï-{}.md",
    "n{} (x).md",
    "N-{}.md",
    "n{}%20y.md",
    "n{}#z.md",
    "n{}.v1.md",
    "_n{}.md",
    "n{}&'q.md",
    "n{}é.md",
    "日本{}.md",
    "README {}.md",
    "l" * 90 + "{}.md",
    "n{}+[y].md",
)
_COLLIDING_NAMES = ("c 1.md", "c-1.md", "C-1.md", "c_1.md", "c.1.md")
_SLUGS = (
    "README",
    "SUMMARY",
    "readme",
    "c-1",
    "C-1",
    "c 1",
    "s {}",
    "Ü{}",
    "s{}.v2",
    "_s{}",
    "l" * 90 + "{}",
    "s{}.md",
)
_BLOCKS = (
    "```js\n{}\n```",
    "| a | b |\n|---|---|\n| {} | \\| |",
    '{{% hint style="info" %}}\n{}\n{{% endhint %}}',
    "<!-- {} -->",
    "$$\n{}\n$$",
    "> a\n> {}",
    "{}\n=======",
    "---\ntitle: {}\n---",
    "* a\n  * {}\n\n    b",
    '{{% include "x.md" %}}\n{}',
    "<details>\n<summary>{}</summary>",
    "{}  \na\\\nb",
    "&nbsp;{} &lt; \\* [a]: b",
    '[{}]: https://example.com "a"',
    "````markdown\n```\n{}",
    "\t{}",
    '{{% tabs %}}\n{{% tab title="{}" %}}',
    "# {}",
    "{} " + "a" * 3000,
    "* * *\n{}\n* * *",
    "{}\n\n\n\n",
    "1. a\n   {}\n2) b",
    "```\n{}\n\n\n```",
)


def choose_title(step: Step) -> str:
    """Given a step, return a title with its word, as people read it."""
    return _TITLES[(step.n + step.m) % len(_TITLES)].format(f"t{step.id}")


def escape_title(title: str) -> str:
    """Return a title as the text of a link: only what would end that is escaped."""
    return title.replace("[", "\\[").replace("]", "\\]")


def choose_name(step: Step) -> str:
    """Given a step, return the name of a page's file."""
    if step.m % 3 == 0:
        return _COLLIDING_NAMES[step.n % len(_COLLIDING_NAMES)]
    return _NAMES[(step.n + step.m) % len(_NAMES)].format(step.id)


def choose_slug(step: Step) -> str:
    """Given a step, return a slug."""
    return _SLUGS[step.m % len(_SLUGS)].format(step.id)


def choose_block(word: str, about: int) -> str:
    """Given a new word, return a block of text that has it."""
    return _BLOCKS[about % len(_BLOCKS)].format(word)
