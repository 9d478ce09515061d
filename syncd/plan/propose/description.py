"""The description of a change request: what its commits say, what is left to do by hand, and which commit it holds."""

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from syncd.layout.richtext.nodes import Node, add_keys, collect_text, make_block, make_mark, make_paragraph, make_text
from syncd.model.document import Document
from syncd.model.text import join_lines
from syncd.plan.change import Change
from syncd.plan.propose.description_conflicts import (
    NO_CONFLICTS,
    Conflicts,
    read_fingerprint,
    render_conflicts,
    replace_conflicts,
)
from syncd.plan.propose.description_paths import (
    compute_path_digest,
    read_manual_paths,
    render_manual_paths,
    replace_manual_paths,
)

BODY_MAX = 2000
"""Characters of one commit's message that are repeated."""
TEXT_MAX = 30_000
"""Characters of all messages together; later ones are only named."""
LINE_MAX = 2000
"""Characters of a line that names something."""
LISTED_MAX = 100
"""Things of one list that are named each."""
_LINE = re.compile(
    r"Syncd-Commit: ([0-9a-f]{40}(?:[0-9a-f]{24})?)(?: ([=+!-])([A-Za-z0-9_-]{0,128})(?: @([A-Za-z0-9_-]{1,128}))?)?"
    r"(?: then (?P<part>[0-9a-f]{40}(?:[0-9a-f]{24})?) @(?P<revision>[A-Za-z0-9_-]{1,128}) but (?P<lacks>[0-9a-f,]+))?"
    r"(?: from (?P<start>[@?]?[A-Za-z0-9_-]{1,128}))?"
    r" \((?P<digest>[0-9a-f]{8})\)"
)
_FIRST = "Proposed by syncd from branch "
_FORMER = re.compile(rf"{re.escape(_FIRST)}[^\n]*(?:\n\n[0-9a-f]{{10}} [^\n]*)*")
"""The whole description as version 0.1 wrote it."""
_ITEM = re.compile(r"[*+-][ \t]+")


@dataclass(frozen=True)
class CommitSummary:
    """One commit's message: its id, its subject, and the rest of its message without trailers."""

    commit: str
    subject: str
    body: str = ""


@dataclass(frozen=True)
class SentPart:
    """The part of a commit that was sent.

    Shape: `revision` is what it became; `left_out` are digests of the paths, below the space's directory, of the pages
    that were not sent.
    """

    commit: str = ""
    revision: str = ""
    left_out: frozenset[str] = frozenset()

    def is_left_out(self, path: str) -> bool:
        """Return whether the page at a path was not sent."""
        return compute_path_digest(path) in self.left_out


NOTHING_SENT = SentPart()


@dataclass(frozen=True)
class Description:
    """What a change request's description has to tell.

    Shape: `commit` is the full id of the branch's commit; `commits` are newest first; `manual_steps` hold what content
    write cannot express; `losses` name text that the platform did not keep, one line each. `conflicts` are pages that
    both sides changed. `state` is one of:

    - `=R`: the commit became revision R.
    - `+R`: R is the commit, as far as it can be written, joined with main content.
    - `-R @W`: R is from an earlier commit; this one was written together with reviewers' edits, and became W.
    - `!R`: pages of the commit were left out.

    `part` is what was sent last, where pages of it were left out. `start` is what the branch grew from, where a job of
    CI found that out: a commit, `@R` for revision R of the platform, or `?R` where that was taken for granted.
    """

    branch: str
    commit: str
    commits: Sequence[CommitSummary] = ()
    manual_steps: Sequence[Change] = ()
    losses: Sequence[str] = ()
    state: str = ""
    part: SentPart = NOTHING_SENT
    conflicts: Conflicts = NO_CONFLICTS
    start: str = ""


def render_description(description: Description) -> Document:
    """Return the description of a change request; its last line is for machines.

    Shape: that line holds the commit's full id and a digest of all text before it, by which a person's edit is noticed.
    """
    nodes = [*_render_opening(description), *_render_commits(description.commits)]
    nodes += _render_section("By hand", [_format_manual_step(change) for change in description.manual_steps])
    nodes += _render_section("Text that the platform did not keep", description.losses)
    nodes += render_conflicts(description.conflicts)
    nodes += render_manual_paths(description.manual_steps)
    line = _format_machine_line(description, _compute_digest(_read_text(nodes)))
    return Document(object="document", data={}, nodes=tuple(add_keys([*nodes, make_paragraph([_render_code(line)])])))


def read_proposed_commit(description: Document | None) -> str:
    """Return the full id of the commit that a change request says it holds, or ""."""
    found = _find_machine_line(description)
    return found[1] if found is not None else ""


def read_commit_unless_partial(description: Document | None) -> str:
    """Return the commit that a change request says it holds, or "" where pages of it were left out (sign `!`)."""
    return "" if read_base_revision(description)[0] == "!" else read_proposed_commit(description)


def read_commit_of_revision(description: Document | None) -> str:
    """Return that commit, or "" where the description does not say that a revision is this commit, with at most main
    content (signs `=` and `+`)."""
    return read_proposed_commit(description) if read_base_revision(description)[0] in ("=", "+") else ""


def read_arrived_commit(description: Document | None) -> str:
    """Return that commit, or "" where the description does not say that all of it has arrived, be it together with
    reviewers' edits."""
    return read_proposed_commit(description) if read_written_revision(description) else ""


def read_base_revision(description: Document | None) -> tuple[str, str]:
    """Return the sign and the revision of the base that a change request names, or twice ""."""
    found = _find_machine_line(description)
    return (found[2] or "", found[3] or "") if found is not None else ("", "")


def read_written_revision(description: Document | None) -> str:
    """Return the revision that syncd wrote last to a change request, or "" where it does not say."""
    found = _find_machine_line(description)
    if found is None:
        return ""
    return found[4] or (found[3] if found[2] in ("=", "+") else "") or ""


def read_sent_part(description: Document | None) -> SentPart:
    """Return the part of a commit that a change request was sent last; NOTHING_SENT where nothing was left out."""
    found = _find_machine_line(description)
    if found is None or found["part"] is None:
        return NOTHING_SENT
    return SentPart(found["part"], found["revision"], frozenset(found["lacks"].split(",")))


def read_part_without_steps(description: Document | None) -> SentPart:
    """Return the commit that a change request says it holds, without the files with manual steps; NOTHING_SENT where
    there are none, or not all else of it has arrived."""
    commit, left_out = read_arrived_commit(description), read_manual_paths(description)
    if not commit or not left_out:
        return NOTHING_SENT
    return SentPart(commit, read_written_revision(description), left_out)


def read_start(description: Document | None) -> str:
    """Return what a change request says that its branch grew from, in the form of `Description.start`, or ""."""
    found = _find_machine_line(description)
    return (found["start"] or "") if found is not None else ""


def is_about(description: Document | None, branch: str) -> bool:
    """Return whether a description may be about a branch: it names this one, or none in syncd's words."""
    first = description.text().partition("\n")[0] if description is not None else ""
    return not first.startswith(_FIRST) or first == f"{_FIRST}{_shorten_line(branch)}."


def update_description(existing: Document | None, description: Description) -> Document | None:
    """Return what the description of a change request has to become; None when it stays.

    Shape: what syncd wrote is written anew. What a person changed keeps every word and only gets the commit's new id,
    and what is in conflict now; without the line for machines it is left alone.
    """
    text = existing.text() if existing is not None else ""
    if existing is None or not text.strip() or _FORMER.fullmatch(text):
        return render_description(description)
    found = _find_machine_line(existing)
    if found is None:
        return None
    if found["digest"] == _compute_digest(text.replace(found[0], "")):
        fresh = render_description(description)
        return fresh if fresh.text() != text else None
    line = _format_machine_line(description, found["digest"])
    nodes = [_replace_text(node, found[0], line) for node in existing.nodes]
    if read_fingerprint(existing) != description.conflicts.fingerprint:
        nodes = replace_conflicts(nodes, description.conflicts, before=_find_machine_block(existing))
    last = _find_machine_block(existing.model_copy(update={"nodes": tuple(nodes)}))
    fresh = existing.model_copy(
        update={"nodes": tuple(replace_manual_paths(nodes, description.manual_steps, before=last))}
    )
    return fresh if fresh.text() != text else None


def update_conflicts(existing: Document | None, conflicts: Conflicts) -> Document | None:
    """Return the description of a change request with the present conflicts, and all else as it is.

    Shape: None when it stays, as one without the line for machines does.
    """
    found = _find_machine_line(existing)
    if existing is None or found is None or read_fingerprint(existing) == conflicts.fingerprint:
        return None
    text = existing.text()
    nodes = replace_conflicts(existing.nodes, conflicts, before=_find_machine_block(existing))
    if found["digest"] == _compute_digest(text.replace(found[0], "")):
        digest = _compute_digest(_read_text(nodes).replace(found[0], ""))
        line = found[0].replace(f"({found['digest']})", f"({digest})")
        nodes = [_replace_text(node, found[0], line) for node in nodes]
    return existing.model_copy(update={"nodes": tuple(nodes)})


def _render_opening(description: Description) -> Iterator[Node]:
    yield make_paragraph([make_text(f"{_FIRST}{_shorten_line(description.branch)}.")])


def _render_commits(commits: Sequence[CommitSummary]) -> Iterator[Node]:
    room = TEXT_MAX
    for said in commits:
        yield make_paragraph(
            [
                make_text(_shorten_line(said.subject), [make_mark("bold")]),
                make_text(" "),
                _render_code(said.commit[:10]),
            ]
        )
        body = said.body[: min(BODY_MAX, max(room, 0))]
        room -= len(body)
        yield from _render_paragraphs(body + ("…" if len(body) < len(said.body.rstrip()) else ""))


def _render_paragraphs(text: str) -> Iterator[Node]:
    """The body of a commit as blocks: its lists stay lists, and its lines are joined, since Git's are cut at 72."""
    for part in re.split(r"\n[ \t]*\n", text.strip()):
        items: list[str] = []
        lines = [line for line in part.split("\n") if line.strip()]
        if lines and _ITEM.match(lines[0]):
            for line in lines:
                found = _ITEM.match(line)
                items += [line[found.end() :]] if found else []
                items[-1] += "" if found else f" {line}"
            yield _render_list(items)
        elif lines:
            yield make_paragraph([make_text(join_lines(part))])


def _render_section(title: str, items: Sequence[str]) -> Iterator[Node]:
    if not items:
        return
    more = [f"and {len(items) - LISTED_MAX} more"] if len(items) > LISTED_MAX else []
    yield make_block("heading-2", {}, [make_text(title)])
    yield _render_list([*items[:LISTED_MAX], *more])


def _shorten_line(text: str) -> str:
    return join_lines(text[: 2 * LINE_MAX])[:LINE_MAX]


def _format_manual_step(change: Change) -> str:
    sentence = change.message or f"{change.noun} {change.key}"
    return f"{change.where}: {sentence}" if change.where else sentence


def _render_list(items: Sequence[str]) -> Node:
    list_items = [make_block("list-item", {}, [make_paragraph([make_text(_shorten_line(item))])]) for item in items]
    return make_block("list-unordered", {}, list_items)


def _render_code(text: str) -> Node:
    return make_text(text, [make_mark("code")])


def _read_text(nodes: Sequence[Node]) -> str:
    return Document(object="document", data={}, nodes=tuple(nodes)).text()


def _compute_digest(text: str) -> str:
    """A digest of the text without white space, so that an editor that only reflows it changes nothing."""
    return hashlib.sha256("".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _format_machine_line(description: Description, digest: str) -> str:
    state = f" {description.state}" if description.state else ""
    sent = description.part
    part = f" then {sent.commit} @{sent.revision} but {','.join(sorted(sent.left_out))}" if sent.left_out else ""
    start = f" from {description.start}" if description.start else ""
    return f"Syncd-Commit: {description.commit}{state}{part}{start} ({digest})"


def _find_machine_line(description: Document | None) -> re.Match[str] | None:
    """The line for machines: the last one, since a commit's own message may hold such a line too."""
    found = list(_LINE.finditer(description.text() if description is not None else ""))
    return found[-1] if found else None


def _find_machine_block(description: Document) -> int:
    """The number of the block that the line for machines stands in."""
    found = [at for at, node in enumerate(description.nodes) if _LINE.search(collect_text(node))]
    return found[-1] if found else len(description.nodes)


def _replace_text(node: Any, former: str, line: str) -> Any:
    """Return a node with the line for machines replaced in every leaf that holds all of it."""
    if isinstance(node, list):
        return [_replace_text(each, former, line) for each in node]
    if not isinstance(node, dict):
        return node
    text = node.get("text")
    if isinstance(text, str) and former in text:
        return node | {"text": text.replace(former, line)}
    return node | {
        name: _replace_text(node[name], former, line) for name in ("nodes", "leaves", "fragments") if name in node
    }
