"""Move a space in main content when the configuration gives it another directory, or hold it until a person decides."""

import json
from collections.abc import Collection, Iterator, Mapping
from posixpath import dirname

from syncd.errors import ConfigInvalid
from syncd.fault_points import FaultPoint, reach
from syncd.layout.tree.placement import SUMMARY
from syncd.layout.tree.settings import SETTINGS_PATH
from syncd.model.wording import format_first
from syncd.plan.change import Change
from syncd.plan.message import FORMER_DIRECTORY, REVISION, SPACE, render_mirror_message
from syncd.repo.values import Commit
from syncd.sync.binding import Binding
from syncd.sync.branches import HEADS
from syncd.sync.directories import has_space, list_places, move_files, read_directory
from syncd.sync.outcome import Applied, Outcome, Unchanged
from syncd.sync.state.proposals import list_records
from syncd.sync.workspace import Workspace

SHOWN = 5
"""Paths that a message names."""


def follow_directory(workspace: Workspace, binding: Binding, *, job: str = "") -> Outcome:
    """Let main content have a space in the directory that the configuration gives it.

    Shape: where it is in another one, one commit moves its files, and branches follow by a merge. It stands for the
    same revision as the mirror commit before it, so that nothing is read from the platform. `job` is the commit of a
    CI job, which moves no branch: the commit has to have the files in the new directory.
    Raises: ConfigInvalid where a person has to decide first; then nothing is written.
    """
    last = workspace.repository.find_commit(workspace.main, SPACE, binding.space)
    if last is None:
        return Unchanged()
    directory = find_directory(workspace, binding, last)
    if directory == binding.directory:
        return Unchanged()
    return _SpaceMover(workspace, binding, last, Binding(binding.space, directory, binding.name), job).move()


def find_directory(workspace: Workspace, binding: Binding, last: Commit) -> str:
    """Return the directory that a space has in its last mirror commit.

    Shape: an older commit does not name it; then it is where the table of contents and most anchors are, and that of
    the configuration in doubt.
    """
    named = read_directory(last)
    if named is not None:
        return named
    repository = workspace.repository
    if has_space(repository, binding, last.oid):
        return binding.directory
    listing = {path: blob.oid for path, blob in repository.list_files(last.oid).items()}
    seen = workspace.store.read_last_seen(binding.space)
    anchors = tuple(seen.anchors.values()) if seen is not None and seen.commit == last.oid else ()
    changed = [one.path for one in repository.compare_trees(last.parents[0], last.oid)] if last.parents else []
    others = {other.directory for other in workspace.bindings if other != binding}
    found: dict[str, int] = {}
    for directory in {dirname(path) for path in listing if path.endswith((SUMMARY, SETTINGS_PATH))} - others:
        one = Binding(binding.space, directory, binding.name)
        same = [anchor.oid == listing.get(one.path(anchor.path)) for anchor in anchors]
        if has_space(repository, one, last.oid):
            found[directory] = sum(same) if anchors else sum(map(one.holds, changed))
    most = max(found.values(), default=0)
    best = [directory for directory, count in found.items() if count == most > 0]
    return best[0] if len(best) == 1 else binding.directory


class _SpaceMover:
    """Moves the files of one space in main content; `former` is the space in its former directory."""

    def __init__(self, workspace: Workspace, binding: Binding, last: Commit, former: Binding, job: str) -> None:
        self.workspace, self.binding, self.last, self.former, self.job = workspace, binding, last, former, job
        self.repository = workspace.repository
        self.main = self.repository.resolve(workspace.main) or last.oid
        self.tip = job or self.repository.resolve(f"{HEADS}{workspace.branch}")

    def move(self) -> Applied:
        """Write the commit and let main content's ref name it. Raises: ConfigInvalid."""
        self._require_no_requests()
        self._require_new()
        self._require_own_files()
        self._require_no_exchange()
        places = list_places(self.repository, self.main, self.former, self.binding)
        self._require_all_moved(places)
        removed = self._find_removable(places)
        commit = self._write(move_files(self.repository, self.main, places, removed=removed))
        self.repository.update_ref(self.workspace.main, commit, old=self.main)
        reach(FaultPoint.MIRROR_WRITTEN)
        self._keep_anchors(commit)
        words = f"from {self._name(self.former)} to {self._name(self.binding)}"
        return Applied((Change("move", "space", self.binding.name, words, before=self.main, after=commit),))

    def _require_no_requests(self) -> None:
        """Their content lies in the former directory, in Git and in what was sent."""
        lanes = f"refs/remotes/{self.workspace.remote}/changes/"
        numbers = {one.number for one in list_records(self.workspace, self.binding)}
        for ref, oid in self.repository.list_refs(lanes).items():
            commit = self.repository.read_commit(oid)
            if self.binding.space in commit.trailers.get(SPACE, []):
                numbers.add(ref.rpartition("/")[2])
        if numbers:
            named = ", ".join(f"#{number}" for number in sorted(numbers, key=lambda one: (len(one), one)))
            raise self._build_error(
                f"change requests of it are not done: {named}",
                f"put {self._quote(self.former)} back, merge or archive them, and run syncd sync; then change it",
            )

    def _require_new(self) -> None:
        """A clone that does not know yet that a space was moved must not move it back."""
        left = self.repository.find_commit(self.workspace.main, FORMER_DIRECTORY, json.dumps(self.binding.directory))
        if left is None or self.binding.space not in left.trailers.get(SPACE, []):
            return
        has_moved = self.tip is not None and has_space(self.repository, self.binding, self.tip)
        if self.tip is None or not has_moved or has_space(self.repository, self.former, self.tip):
            raise self._build_error(
                f"it was moved from {self._name(self.binding)} before",
                f"set {self._quote(self.former)}; to move it back, move the files with git mv and commit that",
            )

    def _require_own_files(self) -> None:
        """A space that was not bound for a while may have lost its place to another one."""
        is_there = has_space(self.repository, self.former, self.main)
        if not is_there or self._find_space_in(self.former.directory) is not None:
            hint = "make a new clone of the spaces with syncd clone, which has no earlier history of it"
            raise self._build_error("its files are not there any more", hint)

    def _require_all_moved(self, places: Mapping[str, str]) -> None:
        """A branch that has some pages in the new directory, and others where they were, would delete these."""
        if self.tip is None or self._find_space_in(self.binding.directory) is not None:
            return
        if not has_space(self.repository, self.binding, self.tip):
            if self.job:
                hint = f"move them with git mv and commit that, or put {self._quote(self.former)} back"
                raise self._build_error("a job moves no files", hint)
            return
        listing = self.repository.list_files(self.tip)
        left = [old for old, new in places.items() if old.endswith(".md") and old in listing and new not in listing]
        if left:
            raise self._build_error(
                f"{self.workspace.branch or 'the commit'} has pages in both: {format_first(sorted(left), SHOWN)}",
                "move these, too, or delete them, and commit that",
            )

    def _require_no_exchange(self) -> None:
        """Spaces that wait for one another's directory would wait for ever."""
        ring = [self.binding]
        while (other := self._find_space_in(ring[-1].directory)) is not None and other not in ring:
            ring.append(other)
            if other.directory == self.former.directory:
                raise self._build_error(
                    f"{' and '.join(one.name for one in ring)} would exchange their directories",
                    "git revert what moved their files, if a commit did; give one of these spaces a third directory, "
                    "and run syncd sync; then give both theirs, and run it twice",
                )

    def _find_space_in(self, directory: str) -> Binding | None:
        """The other space that main content has in a directory."""
        for other in self.workspace.bindings:
            last = self.repository.find_commit(self.workspace.main, SPACE, other.space)
            if other != self.binding and last is not None and read_directory(last) == directory:
                return other
        return None

    def _find_removable(self, places: Mapping[str, str]) -> list[str]:
        """What main content alone has where the files are to be, and no space holds. Raises: ConfigInvalid."""
        listing = self.repository.list_files(self.tip) if self.tip is not None else {}
        moving = {old: new for old, new in places.items() if old in listing}
        in_the_way = set(_find_in_the_way(listing.keys() - places.keys(), moving.values()))
        in_main = _find_in_the_way(self.repository.list_files(self.main).keys() - places.keys(), places.values())
        others = [one for one in self.workspace.bindings if one != self.binding and one.directory]
        removable = [path for path in in_main if not any(one.holds(path) for one in others)]
        in_the_way |= set(in_main) - set(removable)
        if in_the_way:
            raise self._build_error(
                f"other files are in the way: {format_first(sorted(in_the_way), SHOWN)}",
                f"move or remove them and commit that, or put {self._quote(self.former)} back",
            )
        return removable

    def _write(self, tree: str) -> str:
        message = render_mirror_message(
            f"Move {self.binding.name} from {self._name(self.former)} to {self._name(self.binding)}",
            space=self.binding.space,
            revision=self.last.trailers[REVISION][-1],
            directory=self.binding.directory,
            former_directory=self.former.directory,
        )
        person = self.workspace.committer()
        return self.repository.commit_tree(tree, parents=[self.main], message=message, author=person, committer=person)

    def _keep_anchors(self, commit: str) -> None:
        """Their paths begin at the directory of the space, so that all of them stay right."""
        store, space = self.workspace.store, self.binding.space
        seen = store.read_lane(space)
        if seen is not None and seen.commit == self.last.oid:
            store.save_last_seen(
                space, "main", revision=seen.revision, commit=commit, put=(), removed=(), shape=seen.shape
            )

    def _build_error(self, why: str, hint: str) -> ConfigInvalid:
        return ConfigInvalid(
            f"{self.binding.name} is in {self._name(self.former)}, and the configuration says "
            f"{self._name(self.binding)}, but {why}; nothing was moved",
            hint=hint,
        )

    def _name(self, binding: Binding) -> str:
        return f"{binding.directory}/" if binding.directory else "the root"

    def _quote(self, binding: Binding) -> str:
        return f'directory = "{binding.directory or "."}"'


def _find_in_the_way(paths: Collection[str], wanted: Collection[str]) -> list[str]:
    """The paths that cannot stay when there are files at the wanted ones, too."""
    parents = {parent for path in wanted for parent in _list_parents(path)}
    taken = set(wanted)
    return sorted(path for path in paths if path in taken or path in parents or taken & set(_list_parents(path)))


def _list_parents(path: str) -> Iterator[str]:
    while path := dirname(path):
        yield path
