"""What the description of a change request says of pages in conflict: both versions of each, and how to settle it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from syncd.model.change_request import ChangeRequestUpdate
from syncd.plan.merge.hunks import list_hunks, split_lines, split_merged_text
from syncd.plan.merge.pages import SAME_LINES, SIDES, TITLES, TWO_NEW, Side
from syncd.plan.propose.description import update_conflicts
from syncd.plan.propose.description_conflicts import (
    NO_CONFLICTS,
    PAGES_MAX,
    ConflictingPage,
    Conflicts,
    SideVersion,
    read_fingerprint,
)
from syncd.sync.binding import Binding
from syncd.sync.merge.lines import list_blobs
from syncd.sync.merge.result import EntryConflict
from syncd.sync.propose.intent import Intent
from syncd.sync.state.conflicts import KEEP_MERGE, find_shared_branch
from syncd.sync.state.proposals import Proposal
from syncd.sync.workspace import Workspace

ConflictLines = tuple[tuple[str, ...], tuple[str, ...]]
"""The lines in conflict of a page, as ours and as theirs has them."""
FORMAT = 3
"""Version of the report's wording: when it changes, descriptions are rewritten."""


def report_conflicts(workspace: Workspace, binding: Binding, intent: Intent) -> Conflicts:
    """Return what a change request says of the pages of its branch that are in conflict."""
    if not intent.entry_conflicts:
        return NO_CONFLICTS
    reporter = _Reporter(workspace, binding, intent)
    few = intent.entry_conflicts[:PAGES_MAX]
    hunks = reporter.find_lines([page for _, page in few])
    report = [reporter.report(name, page, lines) for (name, page), lines in zip(few, hunks, strict=True)]
    rest = [ConflictingPage(page.path, page.reason) for _, page in intent.entry_conflicts[PAGES_MAX:]]
    return Conflicts(_fingerprint(workspace, intent), (*report, *rest))


def refresh_conflicts(workspace: Workspace, binding: Binding, proposal: Proposal | None, intent: Intent | None) -> None:
    """Update which conflicts the description of a change request reports, where nothing else is written to it.

    Shape: costs no request where it says so already; a person's words in it stay. `intent` is None when the branch asks
    for nothing.
    """
    if proposal is None:
        return
    known = proposal.change_request
    fingerprint = _fingerprint(workspace, intent) if intent is not None and intent.entry_conflicts else ""
    if workspace.is_dry_run or read_fingerprint(known.description) == fingerprint:
        return
    report = report_conflicts(workspace, binding, intent) if intent is not None else NO_CONFLICTS
    if update_conflicts(known.description, report) is None:
        return
    requests = workspace.client.change_requests
    fresh = update_conflicts(requests.get(binding.space, known.id).description, report)
    if fresh is not None:
        requests.update(binding.space, known.id, ChangeRequestUpdate(description=fresh))


def has_report(proposal: Proposal) -> bool:
    """Return whether the description of a change request reports conflicts."""
    return bool(read_fingerprint(proposal.change_request.description))


def _fingerprint(workspace: Workspace, intent: Intent) -> str:
    report = [
        (name, find_shared_branch(workspace, name, intent.branch), page.path, page.reason, page.pages, page.titles)
        for name, page in intent.entry_conflicts
    ]
    return hashlib.sha256(repr((FORMAT, intent.branch, report)).encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True)
class _Reporter:
    workspace: Workspace
    binding: Binding
    intent: Intent

    def find_lines(self, pages: Sequence[EntryConflict]) -> list[ConflictLines]:
        """Return the lines in conflict of each page, on both sides; none where the conflict is not one of lines."""
        repository = self.workspace.repository
        wanting = {
            number: one
            for number, page in enumerate(pages)
            if page.why in (SAME_LINES, TWO_NEW)
            for one in page.pages
            if one.ours is not None and one.theirs is not None
        }
        merged = repository.merge_texts([list_blobs(one) for one in wanting.values()])
        found: list[ConflictLines] = [((), ())] * len(pages)
        for (number, one), text in zip(wanting.items(), merged, strict=True):
            texts = {side: repository.read(version.oid) for side in SIDES if (version := one.at(side)) is not None}
            found[number] = _list_lines(pages[number].text or text.text, texts)
        return found

    def report(self, name: str, page: EntryConflict, lines: ConflictLines) -> ConflictingPage:
        """Return what is reported of a page in conflict with `name`; `lines` are those in conflict."""
        intent, is_main = self.intent, name == f"{self.workspace.remote}/main"
        place = "main content" if is_main else "this change request"
        names = (f"In Git, on {intent.branch}", f"In {place}")
        if page.titles is not None:
            mark = "" if page.why == TITLES else "title: "
            ours, theirs = (f"{mark}{page.find_title(side)}" for side in SIDES)
            lines = (ours, *lines[0]), (theirs, *lines[1])
        versions = tuple(
            SideVersion(title, ", ".join(page.list_paths(side)) or "not there", text)
            for side, title, text in zip(SIDES, names, lines, strict=True)
        )
        browser = f"In a browser: let the page read in {place} as in Git, or as it did before. "
        browser += "The next run of syncd then brings Git's page here, where it can be edited on."
        return ConflictingPage(page.path, page.reason, versions, (browser, *self._advise_git(name, page)))

    def _advise_git(self, name: str, page: EntryConflict) -> tuple[str, ...]:
        branch = quote(self.intent.branch)
        shared = find_shared_branch(self.workspace, name, self.intent.branch)
        if shared:
            return (
                f"With Git, in any clone: git switch {branch}, git pull, git merge {shared}; "
                f"settle {page.path}, commit and push.",
                f"{KEEP_MERGE[0].upper()}{KEEP_MERGE[1:]}.",
            )
        return (f"Where syncd works: syncd resolve {quote(page.path)} --branch {branch}, with {page.choices}.",)


def _list_lines(merged: bytes, texts: Mapping[Side, bytes]) -> ConflictLines:
    """The lines of the hunks of a merged text, on both sides; hunks of one side are separated by a line with "…"."""
    sides: dict[Side, list[str]] = {side: [] for side in SIDES}
    for hunk in list_hunks(split_merged_text(merged, texts)):
        for side, lines in sides.items():
            new = [line.decode("utf-8", "replace").rstrip("\r\n") for line in split_lines(hunk.at(side))]
            lines += ["…", *new] if lines else new
    return tuple(sides["ours"]), tuple(sides["theirs"])
