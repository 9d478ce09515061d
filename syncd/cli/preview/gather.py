"""Gather what a preview shows: the spaces of a work tree or commit, and the site that a file declares for them."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from threading import RLock

from syncd.cli.check.sources import CheckOptions, find_spaces
from syncd.cli.sites.offline import DEFAULT_FILE
from syncd.cli.terminal.context import list_repositories
from syncd.config import RepositoryConfig
from syncd.daemon.labels import build_bindings
from syncd.errors import ConfigInvalid, NotARepository, PathRefused
from syncd.files import read_file
from syncd.layout.lint.space import SpaceFile
from syncd.repo.process.location import discover_repository
from syncd.repo.repository import Repository
from syncd.sync.publish.assemble import DeclaredSite, assemble_site, read_declared, read_space
from syncd.sync.publish.content import SiteContent
from syncd.sync.publish.source import SpaceFiles
from syncd.sync.site.read.site_file import read_at_commit, read_work_tree

_MISSING = ConfigInvalid("there is no site file")


@dataclass(frozen=True)
class PreviewSource:
    """Where a preview reads: a directory, in a state of Git or as it is now.

    Shape: `ref` is the full name of a ref, or a commit, "" for the work tree; `label` says in words what it is,
    `remote` is the name of the platform in Git; `repository` is None outside of Git.
    """

    path: Path
    ref: str = ""
    label: str = "work tree"
    remote: str = "platform"
    repository: RepositoryConfig | None = None


class SourceReader:
    """Reads a source again and again; commits are read through one repository, one reader at a time.

    Shape: what lies below `skipped` is no content; a site is often built into a directory of its own repository.
    """

    def __init__(self, source: PreviewSource, stack: ExitStack, *, skipped: Path | None = None) -> None:
        self.source, self._stack, self._lock = source, stack, RLock()
        self._skipped = skipped
        self._git: Repository | None = None
        if source.ref:
            self._git = stack.enter_context(Repository.open(source.path))

    def read_commit(self) -> str:
        """Return the commit that is shown, "" for the work tree. Raises: ConfigInvalid when the ref is gone."""
        if self._git is None:
            return ""
        with self._lock:
            ref = self.source.ref
            commit = self._git.resolve(ref) if ref.startswith("refs/") else ref
        if commit is None:
            raise ConfigInvalid(f"{self.source.ref} does not exist any more", hint="git fetch, or syncd pull")
        return commit

    def gather(self) -> SiteContent:
        """Return what is there now. Raises: ConfigInvalid when there is nothing; GitFailed."""
        commit = self.read_commit()
        options = _make_options(self.source, commit)
        with ExitStack() as briefly:
            found = find_spaces(options, self._stack if commit else briefly)
        spaces = [read_space(self._guard_reads(self._skip_files(one), commit)) for one in found]
        spaces = [one for one in spaces if one.files.items] or spaces[:1]
        top = spaces[0].files.top if spaces else self.source.path
        return assemble_site(top, spaces, self._read_site_file(top, commit), self._find_bound(), commit)

    def list_ref_directories(self) -> list[Path]:
        """Return the directories of Git in which a change can mean another commit, or another state of the platform."""
        place = discover_repository(self.source.path)
        if place is None:
            return []
        heads = [self.source.ref, f"refs/remotes/{self.source.remote}/main"]
        found = [(place.common_dir / ref).parent for ref in heads if ref]
        return [directory for directory in dict.fromkeys(found) if directory.is_dir()]

    def _skip_files(self, files: SpaceFiles) -> SpaceFiles:
        if self._skipped is None or not self._skipped.is_relative_to(files.top / files.directory):
            return files
        prefix = f"{self._skipped.relative_to(files.top / files.directory).as_posix()}/"
        return replace(files, items={path: item for path, item in files.items.items() if not path.startswith(prefix)})

    def _guard_reads(self, files: SpaceFiles, commit: str) -> SpaceFiles:
        """The same files, read safely: without following links from disk, one reader at a time from Git."""
        if commit:
            items = {path: replace(item, read=partial(self._read_one, item)) for path, item in files.items.items()}
        else:
            prefix = f"{files.directory}/" if files.directory else ""
            items = {
                path: SpaceFile(item.size, partial(read_file, files.top, prefix + path))
                for path, item in files.items.items()
            }
        return replace(files, items=items)

    def _read_one(self, item: SpaceFile) -> bytes:
        with self._lock:
            return item.read()

    def _find_bound(self) -> dict[str, str]:
        """The id of each space that is configured, by its directory."""
        spaces = self.source.repository.space if self.source.repository is not None else ()
        return {"" if one.directory == "." else one.directory: one.id for one in spaces}

    def _read_site_file(self, top: Path, commit: str) -> DeclaredSite:
        configured = self.source.repository.site if self.source.repository is not None else None
        path = configured.file if configured is not None else DEFAULT_FILE
        if not commit or self._git is None:
            return read_declared(partial(read_work_tree, top, path), path)
        with self._lock:
            return read_declared(partial(read_at_commit, self._git, commit, path, _MISSING), path)


def make_plain_path(path: Path) -> Path:
    """Return an absolute path without `..` on the way; a last name that is a symbolic link stays one."""
    path = path.absolute()
    if ".." not in path.parts:
        return path
    return path.resolve() if path.name == ".." else path.parent.resolve() / path.name


def find_source(path: Path, *, change_request: str = "", branch: str = "") -> PreviewSource:
    """Return where a preview reads, by a directory and what else a person typed.

    Raises: ConfigInvalid when there is no such directory, branch or change request.
    """
    path = make_plain_path(path)
    if not path.is_dir():
        raise ConfigInvalid(f"there is no directory {path}", hint="name a repository, or a directory with Markdown")
    place = discover_repository(path)
    top = place.work_tree if place is not None else None
    repository = next((one for one in list_repositories(None, start=path) if one.path in (top, path)), None)
    remote = repository.remote if repository is not None else "platform"
    source = PreviewSource(path, remote=remote, repository=repository)
    if not (change_request or branch):
        return source
    try:
        with Repository.open(path) as git:
            if branch:
                return replace(source, ref=_find_branch(git, branch), label=f"branch {branch}")
            ref = _find_change_request(git, _name_request(change_request, repository), remote)
    except NotARepository as error:
        raise ConfigInvalid(f"{path} is in no Git repository", hint="--branch and --change-request read Git") from error
    return replace(source, ref=ref, label=f"change request {ref.partition('/changes/')[2]}")


def _find_branch(git: Repository, branch: str) -> str:
    for ref in (f"refs/heads/{branch}", f"refs/remotes/{branch}"):
        try:
            if git.resolve(ref) is not None:
                return ref
        except PathRefused:  # no branch can have such a name
            break
    raise ConfigInvalid(f"there is no branch {branch[:80]!r}", hint="git branch --all lists branches")


def _name_request(words: str, repository: RepositoryConfig | None) -> str:
    """What an address names, as `12` or `guides/12`; what is no address stays as it is.

    Raises: ConfigInvalid for an address in a space that is not bound, where it is known which are.
    """
    if "://" not in words:
        return words.removeprefix("#")
    from syncd.cli.change_requests.find import parse_request_name

    name = parse_request_name(words)
    bindings = build_bindings(repository) if repository is not None else ()
    space = next((binding.name for binding in bindings if binding.space == name.space), "")
    if bindings and not space:
        bound = ", ".join(f"{binding.name} ({binding.space})" for binding in bindings)
        raise ConfigInvalid(f"the address is of space {name.space}, which is not bound here", hint=f"bound: {bound}")
    return f"{space}/{name.number}" if space else str(name.number)


def _find_change_request(git: Repository, words: str, remote: str) -> str:
    """The ref of a change request that is named as `12`, or as `guides/12` where several spaces have one."""
    prefix = f"refs/remotes/{remote}/changes/"
    found = [ref for ref in git.list_refs(prefix) if ref == prefix + words or ref.endswith(f"/{words}")]
    if len(found) == 1:
        return found[0]
    names = ", ".join(sorted(ref.removeprefix(prefix) for ref in found))
    if found:
        raise ConfigInvalid(f"several spaces have a change request {words}: {names}", hint="name one of these")
    raise ConfigInvalid(
        f"there is no change request {words[:80]!r} in Git", hint="syncd pull brings them; syncd cr list"
    )


def _make_options(source: PreviewSource, commit: str) -> CheckOptions:
    repository = source.repository
    if repository is not None and repository.space and source.path == repository.path:
        return CheckOptions((), commit=commit, start=source.path)
    return CheckOptions((str(source.path),), commit=commit)


def list_watched_directories(site: SiteContent) -> Iterator[Path]:
    """Yield the directories in which a change of a file can change the preview."""
    yield site.top
    yield (site.top / site.site_path).parent
    for space in site.spaces.values():
        home = space.files.top / space.files.directory
        folders = {""}
        for path in space.files.items:
            while (path := path.rpartition("/")[0]) not in folders:
                folders.add(path)
        yield from (home / folder for folder in sorted(folders))
