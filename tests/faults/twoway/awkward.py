"""Titles, names of files and slugs that need quoting, that look like something else, or that collide."""

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
