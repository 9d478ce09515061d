"""Comments that syncd writes on change requests: what a platform lost of a page, and proposals that it cannot take."""

import hashlib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from posixpath import basename

from syncd.layout.compare.lost_words import LostLine
from syncd.model.page import walk_pages
from syncd.plan.change import Change
from syncd.plan.propose.alignment import ExistingSide
from syncd.plan.propose.proposal import ContentPlan
from syncd.plan.propose.steps import ROOT, AddFile, DeleteStep, InsertStep, Step, UpdateStep

COMMENT_CHARACTERS_MAX = 40_000
"""Characters of one comment's text. The API names no limit; other parts of it begin to refuse at 50,000."""
PAGE_COMMENTS_MAX = 10
"""Comments for one page; a longer page is named instead, with the command that shows it."""
TEXTS_MAX = 100
"""Pages whose texts are posted; further ones are named."""
INSTRUCTIONS_MAX = 200
LINES_MAX = 50
"""Lines that lost words and are named in one comment."""
NO_CONTENT = "this platform takes no content through its API"
CHOSEN = "syncd writes comments alone here, as `write` says"
"""Why comments carry a proposal: the platform takes it in no other way, or the configuration wants it so."""

_MARK = re.compile(r"syncd proposal ([0-9a-f]{12}) ([0-9]{1,3}) ([0-9a-f]{12}) ([0-9A-Za-z]{1,40})\s*\Z")
_FENCE = re.compile(r"^[ \t]*(`{3,})", re.MULTILINE)


@dataclass(frozen=True)
class WantedComment:
    """A comment that shall be there: about which page (None: the change request), and what it says, mark and all."""

    key: str
    part: int
    digest: str
    page: str | None
    text: str


@dataclass(frozen=True)
class Mark:
    """What a comment's last line says of it."""

    key: str
    part: int
    digest: str


def read_mark(text: str, instance: str) -> Mark | None:
    """Return the mark of this repository in a comment's text, or None when it is somebody else's comment."""
    found = _MARK.search(text[-200:])
    return Mark(found[1], int(found[2]), found[3]) if found is not None and found[4] == instance else None


def retire_mark(text: str) -> str:
    """Return the text of a comment with its mark changed to one that no proposal has."""
    found = _MARK.search(text)
    return text if found is None else f"{text[: found.start(3)]}{'0' * len(found[3])}{text[found.end(3) :]}"


def build_comments(
    proposal: ContentPlan, *, read: Callable[[str], str], paths: Mapping[str, str], instance: str, source: str, why: str
) -> list[WantedComment]:
    """Return the comments that describe a proposal where the platform cannot be written to, in order.

    Shape: the text of a page is on the page, in numbered parts when it is long, that of a new page on the change
    request; everything else is a list of what to do there. `read` returns a blob, `paths` has the name of a page by id,
    `source` is what Git needs before a page's path to show it, `why` is NO_CONTENT or CHOSEN.
    """
    steps = list(_complete_renames(proposal.steps))
    texts = [step for step in steps if isinstance(step, InsertStep | UpdateStep) and step.oid]
    orders = [order for step in steps if (order := _describe_step(step, paths))]
    orders += [
        f"The text of {format_code(step.path)}: {_format_command(source, step.path)}." for step in texts[TEXTS_MAX:]
    ]
    orders += [change.message for change in proposal.report.select("report") if change.message]
    found = list(_mark_bodies("", "", None, [_render_steps(orders, why)], instance)) if orders else []
    for step in texts[:TEXTS_MAX]:
        page = step.id if isinstance(step, UpdateStep) else None
        bodies = list(_render_bodies(step.path, read(step.oid or ""), new=page is None, source=source))
        found += _mark_bodies("page" if page else "new", page or step.path, page, bodies, instance)
    return found


def name_pages(existing: ExistingSide) -> dict[str, str]:
    """Return the names by which comments call the pages of existing content, by id.

    Shape: the path in Git where it tells where the page lies on the platform too, else the path on the platform, the
    only one that somebody knows who looks for it there. The home page has none: it has the name of its file.
    """
    names = {}
    for page, _ in walk_pages(existing.revision.pages):
        anchor = existing.anchors.get(page.id)
        file = anchor.path if anchor is not None else ""
        tells_place = file in (f"{page.path}.md", f"{page.path}/README.md", "README.md")
        elsewhere = basename(file) if page.path == "" else page.path or file
        names[page.id] = file if tells_place else elsewhere or page.title
    return names


def build_comments_report(number: int, why: str) -> Change:
    """Return the report that the comments of a change request have the content that it proposes, and `why`."""
    return Change("report", "change request", f"#{number}", f"{why}: the comments have the text, to be put in by hand")


def format_loss_lines(path: str, losses: Sequence[LostLine]) -> list[str]:
    """Return a line for each line of a page in Git that the platform does not keep, `file:line` first.

    Source: syncd/manual/explanation/fidelity.md.
    """
    return [f"{path}:{loss.line}: the platform does not keep: {loss}" for loss in losses]


def build_loss_mark(page: str, losses: Sequence[LostLine]) -> str:
    """Return the mark of the comment about a page's lost words: the same for the same words."""
    return f"syncd lost {_compute_digest(page, *(word for loss in losses for word in loss.words))}"


def render_loss_comment(page: str, path: str, losses: Sequence[LostLine]) -> str:
    """Return the comment that tells reviewers which words of a page are lost."""
    lines = [f"* line {loss.line}: {format_code(str(loss))}" for loss in losses[:LINES_MAX]]
    more = len(losses) - LINES_MAX
    rest = [f"* and {more} more lines"] if more > 0 else []
    opening = f"The platform does not keep some text of {format_code(path)}. Git keeps it; here it cannot be seen:"
    return "\n".join([opening, "", *lines, *rest, "", build_loss_mark(page, losses)])


def format_code(text: str) -> str:
    """Return a text as a code span of Markdown, whatever characters it has."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    ticks = "`" * (longest + 1)
    pad = " " if text[:1] in ("`", " ") or text[-1:] in ("`", " ") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _complete_renames(steps: Sequence[Step]) -> Iterator[Step]:
    """Yield the steps with the slug that each page is to have in the end: pages that exchange slugs pass through
    others, which are of no use to a person."""
    slugs = {step.id: step.slug for step in steps if isinstance(step, UpdateStep) and step.later}
    for step in steps:
        if not isinstance(step, UpdateStep):
            yield step
        elif not step.later:
            yield replace(step, slug=slugs.get(step.id, step.slug))


def _describe_step(step: Step, paths: Mapping[str, str]) -> str:
    """What a person has to do for a step besides pasting a text."""
    match step:
        case AddFile():
            return f"Upload the file {format_code(step.path)}."
        case InsertStep():
            place = _describe_place(step.into, step.at, paths)
            text = f"its text is in the comment about {format_code(step.path)}"
            return f"Add the page {format_code(step.title)} {place}; {text}."
        case DeleteStep():
            below = f", with {len(step.below)} pages below it" if step.below else ""
            return f"Delete the page {format_code(paths.get(step.id, step.path))}{below}."
    news = [f"call it {format_code(step.title)}"] if step.title is not None else []
    news += [f"give it the slug {format_code(step.slug)}"] if step.slug is not None else []
    if step.into is not None or step.at is not None:
        news.append(f"move it {_describe_place(step.into, step.at, paths)}")
    return f"Page {format_code(paths.get(step.id, step.path))}: {', '.join(news)}." if news else ""


def _describe_place(into: str | None, at: int | None, paths: Mapping[str, str]) -> str:
    below = {None: "where it is", ROOT: "at the top level"}.get(
        into
    ) or f"below {format_code(paths.get(into or '', into or ''))}"
    return below if at is None else f"{below}, as number {at + 1}"


def _render_steps(orders: Sequence[str], why: str) -> str:
    more = [f"And {len(orders) - INSTRUCTIONS_MAX} more."] if len(orders) > INSTRUCTIONS_MAX else []
    lines = [f"{number}. {order}" for number, order in enumerate([*orders[:INSTRUCTIONS_MAX], *more], start=1)]
    return "\n".join([f"{why[0].upper()}{why[1:]}. What is left to do by hand:", "", *lines])


def _render_bodies(path: str, text: str, *, new: bool, source: str) -> Iterator[str]:
    parts = list(_split_text(text))
    what = f"{'Text of the new page' if new else 'Proposed text of'} {format_code(path)}"
    if len(parts) > PAGE_COMMENTS_MAX:
        yield f"{what}: {len(text)} characters, too many for comments. See it with {_format_command(source, path)}."
        return
    for number, part in enumerate(parts, start=1):
        numbered = f", part {number} of {len(parts)}" if len(parts) > 1 else ""
        # A fence that begins a line of the text must not end the one around it.
        fence = "`" * max([3, *(len(run) + 1 for run in _FENCE.findall(part))])
        yield f"{what}{numbered}:\n\n{fence}markdown\n{part}{'' if part.endswith(chr(10)) else chr(10)}{fence}"


def _format_command(source: str, path: str) -> str:
    return format_code(f"git show {shlex.quote(source + path)}")


def _split_text(text: str) -> Iterator[str]:
    """A text in parts that end at line ends, but for a line that is longer than a part."""
    lines = [
        line[at : at + COMMENT_CHARACTERS_MAX]
        for line in text.splitlines(keepends=True)
        for at in range(0, len(line), COMMENT_CHARACTERS_MAX)
    ]
    size = 0
    numbers: list[int] = []
    number = 0
    for line in lines:
        if size and size + len(line) > COMMENT_CHARACTERS_MAX:
            number, size = number + 1, 0
        size += len(line)
        numbers.append(number)
    for _, group in groupby(zip(numbers, lines, strict=True), key=lambda pair: pair[0]):
        yield "".join(line for _, line in group)


def _mark_bodies(
    kind: str, name: str, page: str | None, bodies: Sequence[str], instance: str
) -> Iterator[WantedComment]:
    key = _compute_digest(kind, name)
    for number, body in enumerate(bodies, start=1):
        digest = _compute_digest(body)
        yield WantedComment(key, number, digest, page, f"{body}\n\nsyncd proposal {key} {number} {digest} {instance}")


def _compute_digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:12]
