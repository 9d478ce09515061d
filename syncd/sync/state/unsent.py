"""What of a branch and of its work tree no change request holds yet, as this machine knows it; reads Git only."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property
from posixpath import basename
from typing import TYPE_CHECKING, Literal

from syncd.errors import FileInvalid
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.merge.parts import PART_TRAILER, find_present_original
from syncd.sync.state.manual_steps import WAITING, count_waiting_steps, describe_state
from syncd.sync.state.notes import ADDRESS, NO_REQUEST, STATUS, read_notes
from syncd.sync.state.proposed_refs import find_awaited, list_proposed
from syncd.sync.state.resend import has_new_work
from syncd.sync.state.sent_log import COMMENTED

if TYPE_CHECKING:
    from syncd.layout.tree.draft import Draft


FilePlace = Literal["content", "unlisted", "other"]
"""What a file is to a space: content, a page that no table of contents lists, or nothing that the platform gets."""


@dataclass(frozen=True)
class SentRequest:
    """The newest change request of a branch that is not done: its number, and its address when the platform said it.

    Shape: `is_archived` says that somebody archived it; the last run noted that. `is_commented` says that its comments
    have what it proposes, so that somebody has to put that in.
    """

    number: int
    address: str
    commit: str
    is_archived: bool = False
    is_commented: bool = False


@dataclass(frozen=True)
class Unsent:
    """What a branch has of its own in one space.

    Shape: `changed` are paths of content that differ from main content, `unlisted` are changed pages that no table of
    contents lists, so that they are no content; `missing` are pages that it lists and the commit lacks, and
    `still_listed` those of them that main content has, so that the branch deletes them; all from the repository's root.
    `is_sent` says that `request` was made from the branch's newest commit, or holds the same.
    `conflicting` are changed paths that no push takes before a person has settled them. `was_tried` says that a push of
    just this state found nothing to write, but for `manual_steps` that only a person can do on the platform.
    `is_taken_back` says that `request` was archived, and nothing was committed since. `awaited` are new paths that are
    left to the change request of another branch, each with its number. `held` are changed paths that `request` has
    already as they are. `former` are the numbers of older change requests of the branch that are open: nothing is
    written to them. `is_unrelated` says that the branch has no commit in common with main content: what it lacks counts
    as never seen, and as no deletion. `refused` are changed paths of pages that no platform takes as they are.
    """

    binding: Binding
    changed: tuple[str, ...] = ()
    unlisted: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    still_listed: tuple[str, ...] = ()
    request: SentRequest | None = None
    is_sent: bool = False
    was_tried: bool = False
    manual_steps: int = 0
    conflicting: tuple[str, ...] = ()
    is_taken_back: bool = False
    awaited: tuple[tuple[str, int], ...] = ()
    held: tuple[str, ...] = ()
    former: tuple[int, ...] = ()
    is_unrelated: bool = False
    refused: tuple[str, ...] = ()

    @property
    def pending(self) -> tuple[str, ...]:
        """The changed paths that a push is needed for; all of them where the change request has each, but not so."""
        return tuple(path for path in self.changed if path not in self.held) or self.changed

    @property
    def needs_push(self) -> bool:
        """Whether a push would write something."""
        return bool(self.changed) and not (self.is_sent or self.was_tried or self.is_taken_back)


def find_unsent(
    repository: Repository,
    binding: Binding,
    branch: str,
    *,
    main: str | None,
    remote: str,
    conflicts: Collection[str] = (),
    refused: Collection[str] = (),
) -> Unsent:
    """Return what main content lacks of a branch; `main` is the commit of main content.

    Shape: `remote` is the platform's name in Git; `conflicts` are the paths of pages in conflict that the last run
    reported of the branch, and `refused` those of pages that no platform takes.
    Raises: GitFailed.
    """
    tip = repository.resolve(f"{HEADS}{branch}")
    if tip is None or main is None or repository.is_ancestor(tip, main):
        return Unsent(binding)
    base = _find_merged(repository, binding, tip, main) or repository.find_merge_base(main, tip)
    paths = _list_own_changes(repository, binding, base, main, tip)
    content = [_SpaceContent(repository, binding, commit, base or main) for commit in (tip, main)] if paths else []
    held = {path for path in paths if binding.path(path) in conflicts}
    changed = [path for path in sorted(paths - held) if any(one.holds(path) for one in content)]
    request = find_request(repository, binding, branch)
    own = request.number if request is not None else None
    named = [binding.path(path) for path in changed]
    awaited = find_awaited(repository, binding, branch, named, remote=remote, own=own, main=main, tip=tip)
    changed = [path for path in changed if binding.path(path) not in awaited]
    if request is None and content and not any(content[0].has_other_text(path, content[1]) for path in changed):
        changed = []  # line ends and the end of the file are no reason to open a change request
    is_archived = request is not None and request.is_archived
    is_taken_back = request is not None and is_archived and not has_new_work(repository, request.commit, main, tip)
    is_sent = request is not None and not is_archived and _is_sent(repository, binding, tip, request)
    lane = _find_lane(repository, binding, request, remote) if changed else None
    steps = _read_steps(repository, binding, branch, (tip, main)) if changed else None
    count = len(steps or ())
    if request is not None and is_sent and lane is not None:
        count = count_waiting_steps(repository, binding, request.number, lane)
    return Unsent(
        binding,
        tuple(binding.path(path) for path in changed),
        tuple(binding.path(path) for path in sorted(paths) if content and content[0].leaves_out(path)),
        *(_list_absent(binding, content[0], content[1], paths) if content else ((), ())),
        request,
        is_sent,
        steps is not None,
        count,
        tuple(binding.path(path) for path in sorted(held)),
        is_taken_back,
        tuple(sorted(awaited.items())),
        _find_held(repository, binding, changed, tip, lane) if lane is not None else (),
        tuple(_find_former(repository, binding, branch)),
        base is None,
        tuple(path for path in named if path in refused),
    )


def _find_merged(repository: Repository, binding: Binding, tip: str, main: str) -> str | None:
    """The newest commit of a branch that main content has in a part, and of this space as a whole; None for none."""
    for part in repository.find_marked(tip, main, PART_TRAILER)[1]:
        original = find_present_original(repository, part)
        if original is None or not repository.is_ancestor(original, tip):
            continue
        if repository.find_tree(part.oid, binding.directory) == repository.find_tree(original, binding.directory):
            return original
    return None


def _list_own_changes(repository: Repository, binding: Binding, base: str | None, main: str, tip: str) -> set[str]:
    """The paths in which a branch differs from main content, without those that only main content has changed since."""
    paths = {change.path for change in repository.list_changes(main, tip, binding.directory)}
    if base is not None and base != main:
        paths &= {change.path for change in repository.list_changes(base, tip, binding.directory)}
    return paths


def _list_absent(
    binding: Binding, here: "_SpaceContent", main: "_SpaceContent", changed: Collection[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The pages, from the root, that a table of contents lists and that are not here; and those of them that main
    content has and the branch, of whose `changed` paths they are, deleted."""
    missing = here.list_missing()
    deleted = [path for path in missing if path in changed and main.has_file(path)]
    return tuple(map(binding.path, missing)), tuple(map(binding.path, deleted))


def _read_steps(repository: Repository, binding: Binding, branch: str, commits: tuple[str, str]) -> list[object] | None:
    """The manual steps that a push of a branch in just this state noted, and opened no change request; None without
    one. The commits are those of the branch and of main content."""
    noted = read_notes(repository, binding, NO_REQUEST).get(WAITING)
    steps = noted.get(describe_state(repository, binding, *commits, branch=branch)) if isinstance(noted, dict) else None
    return steps if isinstance(steps, list) else None


def _find_lane(repository: Repository, binding: Binding, request: SentRequest | None, remote: str) -> str | None:
    """The commit with the content of a change request that is not archived."""
    if request is None or request.is_archived:
        return None
    return repository.resolve(f"refs/remotes/{remote}/changes/{binding.name}/{request.number}")


def _find_held(
    repository: Repository, binding: Binding, changed: Collection[str], tip: str, lane: str
) -> tuple[str, ...]:
    """The changed paths, from the root, that the content of a change request has as the branch has them."""
    different = {change.path for change in repository.list_changes(lane, tip, binding.directory)}
    return tuple(binding.path(path) for path in changed if path not in different)


def find_place(repository: Repository, binding: Binding, commit: str, path: str, *, base: str | None) -> FilePlace:
    """Return what a file of a commit is to a space: content, not listed there, or something else.

    Shape: `path` is below the space's directory; `base` is what the commit and main content have in common. Raises:
    GitFailed.
    """
    content = _SpaceContent(repository, binding, commit, base or commit)
    if content.leaves_out(path):
        return "unlisted"
    return "content" if content.holds(path) else "other"


def find_request(repository: Repository, binding: Binding, branch: str) -> SentRequest | None:
    """Return the newest change request of a branch as Git has recorded it, or None."""
    numbers = {number: commit for number, other, commit in list_proposed(repository, binding) if other == branch}
    if not numbers:
        return None
    newest = max(numbers)
    notes = read_notes(repository, binding, newest)
    address, is_archived = notes.get(ADDRESS), notes.get(STATUS) == "archived"
    is_commented = repository.resolve(f"{COMMENTED}{binding.name}/{newest}") is not None
    return SentRequest(newest, address if isinstance(address, str) else "", numbers[newest], is_archived, is_commented)


def _find_former(repository: Repository, binding: Binding, branch: str) -> Iterator[int]:
    """The change requests of a branch that are open beside its newest one: somebody opened one of them again."""
    numbers = sorted(number for number, other, _ in list_proposed(repository, binding) if other == branch)
    for number in numbers[:-1]:
        if read_notes(repository, binding, number).get(STATUS) != "archived":
            yield number


def _is_sent(repository: Repository, binding: Binding, tip: str, request: SentRequest) -> bool:
    if repository.is_ancestor(tip, request.commit):
        return True
    return repository.find_tree(tip, binding.directory) == repository.find_tree(request.commit, binding.directory)


class _SpaceContent:
    """Which files of a commit are content of the space, by what its own table of contents says; a file that was renamed
    after the commit `base` is what its entry names.

    What reads tables of contents is imported late: most branches have nothing of their
    own, and `status` is to be quick.
    """

    def __init__(self, repository: Repository, binding: Binding, commit: str, base: str) -> None:
        from syncd.sync.merge.summaries import find_outdated_summaries

        self._repository, self._binding, self._at = repository, binding, binding.directory
        self._mended = dict(find_outdated_summaries(repository, (binding,), base, commit))
        listing = repository.list_files(commit, binding.directory)
        self._blobs = {path: blob.oid for path, blob in listing.items() if blob.mode.startswith("100")}
        self._draft = self._read_draft(links=False)

    def _read_draft(self, *, links: bool) -> "Draft | None":
        from syncd.layout.tree.draft import read_draft

        def read(path: str) -> bytes:
            return self._mended.get(self._binding.path(path)) or self._repository.read(self._blobs[path])

        try:
            return read_draft(self._blobs.keys(), read, links=links, at=self._at)
        except FileInvalid:
            return None  # a push says what is wrong with it, and where

    @cached_property
    def _linked(self) -> frozenset[str]:
        """Files outside of the assets are content where a page links to them, so every page is read for these."""
        draft = self._read_draft(links=True)
        return frozenset(draft.files if draft is not None else self._blobs)

    def holds(self, path: str) -> bool:
        """Whether a path, from the space's directory, is content here."""
        from syncd.layout.tree import settings as settings_file
        from syncd.layout.tree.paths import is_markdown
        from syncd.layout.tree.variables import TAGS, VARIABLES

        draft = self._draft
        if path not in self._blobs or draft is None:
            return path in self._blobs
        below = draft.settings.add_root
        tables = {settings_file.SETTINGS_PATH, below(draft.settings.summary), below(VARIABLES), below(TAGS)}
        if path in tables or path in draft.documents or path in draft.includes or path in draft.files:
            return True
        return not is_markdown(path) and not _is_hidden(path) and self._is_linked(path)

    def _is_linked(self, path: str) -> bool:
        """Whether a page links to a file; what a push has noted of it is looked at first."""
        from syncd.sync.state.linked_files import find_noted_pages

        assert self._draft is not None
        root = self._draft.settings.add_root("")
        noted = find_noted_pages(self._repository, self._binding, self._blobs, path, self._blobs[path], root=root)
        return bool(noted) or path in self._linked

    def has_other_text(self, path: str, other: "_SpaceContent") -> bool:
        """Whether a path has another text than elsewhere, whatever its line ends and its end; what is no page has its
        bytes."""
        from syncd.layout.tree.paths import is_markdown

        here, there = self._blobs.get(path), other._blobs.get(path)
        if here is None or there is None or not is_markdown(path):
            return here != there
        return self._read_normalized(here) != self._read_normalized(there)

    def _read_normalized(self, oid: str) -> str:
        from syncd.layout.tree.translate import normalize_form

        return normalize_form(self._repository.read_content(oid).decode("utf-8", "surrogateescape"))

    def has_file(self, path: str) -> bool:
        """Whether a path is a file here."""
        return path in self._blobs

    def leaves_out(self, path: str) -> bool:
        """Whether a path is a page that the table of contents does not list."""
        return self._draft is not None and path in self._draft.unlisted

    def list_missing(self) -> list[str]:
        """The paths of pages that the table of contents lists and that are not here."""
        listed = self._draft.missing if self._draft is not None else ()
        return sorted({entry.path for entry in listed if entry.path})


def _is_hidden(path: str) -> bool:
    return basename(path).startswith(".")
