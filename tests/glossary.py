"""The words of syncd: one table for the manual's glossary and for the names in the code; `python -m tests.glossary`
writes the page."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "syncd" / "manual" / "reference" / "glossary.md"


@dataclass(frozen=True)
class Banned:
    """A word that is not used in names, and with `in_text` not in messages and the manual either.

    Shape: `words` are all its forms, in lower case.
    """

    words: tuple[str, ...]
    reason: str
    in_text: bool = False


@dataclass(frozen=True)
class Term:
    """A word, what it means in syncd, where it comes from, and words that are not used for the same."""

    word: str
    meaning: str
    source: str
    banned: tuple[Banned, ...] = ()


_PRIVATE = "private language: a reader has to learn it first"

TERMS = (
    Term(
        "base",
        "The commit whose content both sides have known: a merge compares each side with it.",
        "Git (merge base)",
        (Banned(("ground", "footing", "upon"), "a picture of a base, and each picture had several meanings"),),
    ),
    Term("binding", "A space together with its directory in a repository.", "syncd"),
    Term(
        "change",
        "One action of a plan on one page, file or resource: create, update, move, adopt, delete or report.",
        "Terraform (plan)",
        (Banned(("deed", "deeds"), "plans have changes, and a change has a verb"),),
    ),
    Term(
        "change request",
        "A draft of a space's content that people review and merge on the platform.",
        "API: Change requests",
    ),
    Term(
        "conflict",
        "A page that both sides changed in the same place, so that a person has to choose.",
        "Git",
        (
            Banned(("knot",), f"a conflict; {_PRIVATE}", in_text=True),
            Banned(("meeting", "met", "meet", "meets"), "two sides are merged: merge, merge result"),
        ),
    ),
    Term("content", "The pages and files of one revision of a space, with their order.", "API: Content"),
    Term(
        "desired, existing",
        "What the files in Git declare, and what the platform has: a plan leads from the second to the first.",
        "Terraform, Kubernetes",
        (
            Banned(("wish", "wishes"), "what is declared is desired; what is typed is an option", in_text=True),
            Banned(("thing", "things"), "say what it is: a page, a resource, an item, a change"),
        ),
    ),
    Term("drift", "A change that somebody made on the platform to what the site file declares.", "Terraform"),
    Term(
        "dry run",
        "A run that shows its changes and writes nothing.",
        "make, rsync (`--dry-run`)",
        (Banned(("rehearsal", "rehearse"), "other tools call it a dry run", in_text=True),),
    ),
    Term(
        "entry",
        "A file with its paths on all sides of a merge, and its line in SUMMARY.md: merged, or left out, as a whole.",
        "Git (index entry)",
    ),
    Term("fast-forward", "A branch moves to a descendant of its tip; nothing has to be merged.", "Git"),
    Term("finding", "What a check found wrong in a file, with its place, its severity and its code.", "linters"),
    Term(
        "guard",
        "A check that holds a run which would delete too much, until a person approves with `--force`.",
        "syncd",
        (Banned(("crowd",), f"a guard counts; {_PRIVATE}", in_text=True),),
    ),
    Term("gate", "A guard of a site's plan; it has a class, and a number of affected resources.", "deployment tools"),
    Term("hunk", "Lines of a page in conflict that are settled together, with a number.", "Git"),
    Term(
        "integrate",
        "Bring the platform's changes into a tracked branch, by fast-forward or by a merge.",
        "continuous integration",
    ),
    Term(
        "intent",
        "What a branch asks of one space: its own commits merged with main content and with its change request.",
        "syncd",
    ),
    Term(
        "lane",
        "One stream of content that a branch is in step with: main content, or one change request.",
        "syncd",
    ),
    Term(
        "lock",
        "The file in which syncd keeps which resource on the site belongs to which entry of the site file.",
        "Terraform (state), npm (lock file)",
        (Banned(("begun",), "an entry whose creation has not been confirmed is in flight"),),
    ),
    Term(
        "main content", "The published line of a space's revisions, as opposed to its change requests.", "API: Spaces"
    ),
    Term(
        "manual step",
        "Something that a person has to do on the platform because its API has no operation for it.",
        "runbooks",
    ),
    Term("mirror", "The commits on `platform/main`, one for each revision of a space.", "Git (`git clone --mirror`)"),
    Term(
        "normalised form",
        "The text that a server makes of a page that was written to it.",
        "Unicode, XML",
        (Banned(("weave", "weaving", "weaves"), "text is composed, merged or patched"),),
    ),
    Term(
        "options",
        "The values that a caller chooses for a command or a function.",
        "command lines",
        (
            Banned(("asked",), "what a person typed behind a command are its options"),
            Banned(("circumstances",), "the environment, or a context"),
        ),
    ),
    Term(
        "outcome",
        "The end of one flow: unchanged, applied, waiting or held.",
        "syncd",
        (Banned(("told", "tells", "telling"), "results are returned, formatted or printed"),),
    ),
    Term(
        "part",
        "A commit that stands for another one but for some entries, which are as the base has them.",
        "syncd",
    ),
    Term("plan", "The list of changes that a run would make, computed without changing anything.", "Terraform"),
    Term("propose", "Make a change request hold what a branch holds.", "syncd"),
    Term("redirect", "A rule that leads visitors from an old path of a site to another address.", "API: Sites"),
    Term(
        "resource", "Anything that the site file declares: a section, a variant, a redirect, an override.", "Terraform"
    ),
    Term("revision", "One numbered, immutable state of a space's content.", "API: Spaces"),
    Term(
        "run",
        "One execution of the flows of a repository, by the service or by a command.",
        "CI services",
    ),
    Term("section, variant, group", "The parts of a site's structure; a variant shows one space.", "API: Sites"),
    Term("site", "A published place for readers, with sections, redirects, settings and customization.", "API: Sites"),
    Term("space", "A collection of pages and files with revisions and change requests.", "API: Spaces"),
    Term(
        "status",
        "What this machine knows of both sides without asking the platform.",
        "Git (`git status`)",
        (Banned(("glance", "looks"), "reading the recorded state is status; reading the platform is a poll"),),
    ),
    Term(
        "storage",
        "Where an embedded platform keeps its database and its files.",
        "operations",
        (Banned(("premises",), f"the data directory, or storage options; {_PRIVATE}", in_text=True),),
    ),
    Term("tip", "The last commit of a branch or another ref.", "Git"),
    Term("trailer", "A line `Key: value` at the end of a commit message.", "Git"),
    Term("upstream", "A Git remote that commits come from and go to.", "Git"),
    Term(
        "workspace",
        "A repository, its state and the platform, opened for one run.",
        "Terraform, editors",
        (Banned(("workplace",), "workspace is the word, and one is enough"),),
    ),
)

ELSEWHERE = (
    Banned(("doomed",), "what a plan deletes are deletions", in_text=True),
    Banned(("whereabouts",), "a location, or positions", in_text=True),
    Banned(("util", "utils", "helper", "helpers", "misc", "stuff"), "they say nothing of what is inside"),
)
"""Words that stand for no term of the table."""


def list_banned() -> tuple[Banned, ...]:
    """Return every word that is not used."""
    return (*(banned for term in TERMS for banned in term.banned), *ELSEWHERE)


def render() -> str:
    """Return the text of the manual's page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield "---"
    yield "description: The words of syncd, what each means, and the tool or the part of the API that it comes from."
    yield "---\n"
    yield "# Glossary\n"
    yield (
        "syncd speaks the language of Git, Terraform and the platform's API. This table has every word that it uses "
        "in a sense of its own, or that comes from another tool.\n"
    )
    yield "| Word | What it means | Where it comes from |\n|---|---|---|"
    for term in sorted(TERMS, key=lambda term: term.word):
        yield f"| {term.word} | {term.meaning} | {term.source} |"
    yield "\n## Words that syncd does not use\n"
    yield "Neither the names in the code nor messages use these words; `tests/test_words.py` finds them.\n"
    yield "| Not | For | Because |\n|---|---|---|"
    rows = [(banned, term.word) for term in TERMS for banned in term.banned]
    for banned, word in [*rows, *((banned, "") for banned in ELSEWHERE)]:
        yield f"| {', '.join(banned.words)} | {word} | {banned.reason} |"


if __name__ == "__main__":
    PAGE.write_text(render(), encoding="utf-8")
