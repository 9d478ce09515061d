"""Find pages of a branch that are not to be sent: each is reported with its path, and all others are sent."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.tree.draft import Draft, decode_page, read_draft
from syncd.layout.tree.path_allocator import find_collisions
from syncd.layout.tree.paths import is_markdown
from syncd.layout.tree.variables import TAGS, VARIABLES
from syncd.model.text import quote_name
from syncd.repo.names import check_path
from syncd.repo.values import Blob, Difference
from syncd.sync.binding import Binding
from syncd.sync.outcome import Held
from syncd.sync.workspace import Workspace

HINT = "mend it and commit; until then the platform keeps what it has, and all else is sent"


@dataclass(frozen=True)
class Refusal:
    """Why something cannot be sent; `paths` are those, from the repository's root, that are left out for it."""

    error: FileInvalid
    paths: frozenset[str]


def find_refusals(
    workspace: Workspace, binding: Binding, desired: str, here: str, branch_commit: str
) -> tuple[Refusal, ...]:
    """Return what of a space's desired tree cannot be sent; `here` is the commit of what the space holds, and
    `branch_commit` that of the branch, which may have a link that is in conflict and so not in the desired tree.

    Shape: pages whose text or name cannot be sent, or in which a merge was not settled; new pages whose name is another
    one's on many computers; submodules and symbolic links at paths of pages and files, which must not pass for
    deletions of these. Cost grows with the difference.
    Raises: FileInvalid for a table of contents or settings that cannot be read.
    """
    changes = [found for found in workspace.repository.compare_trees(here, desired) if binding.holds(found.path)]
    return (
        *_find_unsendable(workspace, binding, desired, changes),
        *_find_colliding(workspace, binding, desired, here, changes),
        *_find_hidden(workspace, binding, branch_commit, here, changes),
    )


def render_refusal(refusal: Refusal, branch: str, tip: str) -> Held:
    """Return the outcome that tells a person of a refusal of what a branch has at the commit `tip`."""
    error = refusal.error
    hint = f"{error.hint}; {HINT}" if error.hint else HINT
    return Held(error.what, hint, error.exit_code, (error.path,), manual=True, branch=branch, lane=tip)


def _find_unsendable(
    workspace: Workspace, binding: Binding, desired: str, changes: Sequence[Difference]
) -> Iterator[Refusal]:
    """Pages whose text or name is not to be sent; a file that no table of contents lists is no page."""
    found: dict[str, FileInvalid] = {}
    for change in changes:
        if change.after is not None and change.after.mode.startswith("100") and is_markdown(change.path):
            try:
                _check_name(change.path)
                data = workspace.repository.read_content(change.after.oid)
                decode_page(data, at=change.path)
                _check_settled(workspace, change, data)
            except FileInvalid as error:
                found[change.path] = error
    pages = _list_content(workspace, binding, desired, files=False) if found else frozenset()
    yield from (Refusal(error, frozenset({path})) for path, error in found.items() if path in pages)


def _find_colliding(
    workspace: Workspace, binding: Binding, desired: str, here: str, changes: Sequence[Difference]
) -> Iterator[Refusal]:
    """New pages whose name differs from another one's in letter case or composition alone.

    The mirror gives no two pages such names. What is sent of one would come back under a third name, so that the page
    counts as one that was never sent, and is sent again and again.
    """
    added = {
        binding.inner(change.path)
        for change in changes
        if is_markdown(change.path) and _is_file(change.after) and not _is_file(change.before)
    }
    if not added or not find_collisions(workspace.repository.list_files(desired, binding.directory)):
        return
    draft = _read_draft(workspace, binding, desired, files=False)
    known = {binding.inner(path) for path in _list_content(workspace, binding, here, files=False)}
    pages = sorted(draft.documents, key=lambda path: path in added)
    below = draft.settings.add_root
    tables = [below(draft.settings.summary), below(VARIABLES), below(TAGS)]
    for path, other in find_collisions(pages, tables).items():
        if path in added - known:
            what = f"has a name that is the one of {quote_name(other)} on many computers, so neither is sent"
            hint = "give one of both another name, also in SUMMARY.md"
            both = frozenset(map(binding.path, (path, other)))
            yield Refusal(FileInvalid(what, path=binding.path(path), hint=hint), both)


def _is_file(blob: Blob | None) -> bool:
    return blob is not None and blob.mode.startswith("100")


def _check_settled(workspace: Workspace, change: Difference, data: bytes) -> None:
    """Check that no merge of Git is left half done in a page, but for what the platform has already.

    Raises: FileInvalid when one is.
    """
    if b"<<<<<<<" not in data:
        return
    from syncd.layout.lint.check import find_conflict_marker  # hardly any page needs the rules

    found = find_conflict_marker(change.path, data)
    if found is None:
        return
    before = change.before if change.before is not None and change.before.mode.startswith("100") else None
    if before is not None and find_conflict_marker(change.path, workspace.repository.read_content(before.oid)):
        return
    hint = "keep what is right and remove the markers"
    raise FileInvalid(found.message, path=change.path, line=found.line, column=found.column, hint=hint)


def _check_name(path: str) -> None:
    """Check that what comes back of a page can be written to its path. Raises: FileInvalid when it cannot."""
    try:
        check_path(path)
    except PathRefused as error:
        what = "has a name that cannot be written on every system"
        raise FileInvalid(what, path=path, hint="give the file another name, also in SUMMARY.md") from error


def _find_hidden(
    workspace: Workspace, binding: Binding, branch_commit: str, here: str, changes: Sequence[Difference]
) -> Iterator[Refusal]:
    """Submodules and symbolic links where the platform has pages or files: they are not followed, and no deletion."""
    gone = {c.path for c in changes if c.before is not None and (c.after is None or not c.after.mode.startswith("100"))}
    links = workspace.repository.find_obstacles(branch_commit, gone) if gone else {}
    known = _list_content(workspace, binding, here, files=True) if links else frozenset()
    for link, kind in sorted(links.items()):
        below = {path for path in gone & known if path == link or path.startswith(f"{link}/")}
        if below:
            what = f"is a {kind}, which syncd does not follow, where the platform has a page or file"
            hint = "put the file back, or delete the link to delete the page"
            yield Refusal(FileInvalid(what, path=link, hint=hint), frozenset({link, *below}))


def _list_content(workspace: Workspace, binding: Binding, commit: str, *, files: bool) -> frozenset[str]:
    """What a tree has as pages, and as files with them, by path from the repository's root."""
    draft = _read_draft(workspace, binding, commit, files=files)
    found = (*draft.documents, *draft.files, *draft.includes) if files else draft.documents
    return frozenset(map(binding.path, found))


def _read_draft(workspace: Workspace, binding: Binding, commit: str, *, files: bool) -> Draft:
    repository = workspace.repository
    listing = repository.list_files(commit, binding.directory)
    blobs = {path: blob.oid for path, blob in listing.items() if _is_file(blob)}
    return read_draft(blobs.keys(), lambda path: repository.read(blobs[path]), links=files, at=binding.directory)
