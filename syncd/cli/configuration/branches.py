"""The branches and remotes that a configuration names and that exist nowhere: a run is held, or passes over them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from syncd.cli.configuration.problems import ConfigProblem
from syncd.cli.terminal.context import load_config_parts
from syncd.config import ConfigFile, RepositoryConfig
from syncd.config.drop_ins import list_drop_ins
from syncd.config.positions import FilePosition, find_nearest, find_positions
from syncd.config.reading import read_document
from syncd.daemon.labels import build_bindings
from syncd.daemon.workspaces import build_run_options, build_upstream
from syncd.errors import SyncdError
from syncd.repo.remote.remote import Remote
from syncd.repo.repository import Repository
from syncd.sync.integrate.absent import Presence, find_absent, is_missing, list_branches_of_people
from syncd.sync.workspace import Upstream

_SCRATCH = "check.git"
"""A run of the service may speak to the same remote meanwhile."""


@dataclass(frozen=True)
class _Place:
    """Where a configuration names something of a repository."""

    path: str
    position: FilePosition | None
    key: str

    def build_problem(self, message: str, hint: str = "", *, is_warning: bool) -> ConfigProblem:
        line, column = (self.position.line, self.position.column) if self.position is not None else (0, 0)
        return ConfigProblem(self.path, message, line, column, self.key, hint, is_warning=is_warning)


def find_branch_problems(file: ConfigFile, environ: Mapping[str, str]) -> Iterator[ConfigProblem]:
    """Yield what is wrong with the upstream and branches of each repository; it is asked where a branch is not here.

    Shape: an error where a run would hold the repository, a warning where it passes over a branch that is nowhere, or
    the upstream gives no answer. For a configuration without mistakes. Raises: ConfigInvalid; NotTrusted.
    """
    config, _ = load_config_parts(file)
    places = [*_list_places(file)]
    for (branches, remote), own in zip(places, config.repository, strict=False):
        try:
            opened = Repository.open(own.path)
        except SyncdError:  # what is wrong with a repository itself, `config check` says of its path
            continue
        with opened as git:
            try:
                upstream = build_upstream(own.upstream, git, environ)
            except SyncdError as error:
                yield remote.build_problem(error.what, error.hint, is_warning=False)
            else:
                yield from _check_branches(branches, own, git, upstream)


def _list_places(file: ConfigFile) -> Iterator[tuple[_Place, _Place]]:
    """Yield the places of each repository's branches and upstream, in the order of the repositories."""
    drop_ins = list_drop_ins(file.path) if file.origin == "operator" else ()
    for path in (file.path, *drop_ins):
        try:
            document = read_document(path, is_plain=file.origin != "operator")
        except SyncdError:
            continue
        positions = find_positions(document.data)
        for number in range(len(document.raw.get("repository", ()))):
            keys = [f"repository.{number}.{name}" for name in ("branches", "upstream")]
            branches, upstream = (_Place(str(path), find_nearest(positions, key), key) for key in keys)
            yield branches, upstream


def _check_branches(
    place: _Place, own: RepositoryConfig, git: Repository, upstream: Upstream | None
) -> Iterator[ConfigProblem]:
    missing = [name for name in own.branch_names if is_missing(git, name, ())]
    if not missing:
        return
    there: Mapping[str, str] = {}
    if upstream is not None:
        try:
            with _open_remote(git, upstream) as remote:
                there = remote.list_heads(["*"])
        except SyncdError as error:
            names = ", ".join(missing)
            message = f"not here: {names}; whether {upstream.name} has it is not known: {error.what}"
            yield place.build_problem(message, error.hint, is_warning=True)
            return
    others = build_run_options(own, every=None).others
    people = list_branches_of_people(there, upstream, others) if upstream is not None else frozenset()
    proposed = [binding.proposed_refs for binding in build_bindings(own)]
    presence = Presence(git, upstream, there, people, proposed)
    absent = find_absent(presence, own.branch_names, own.patterns)
    for held in absent.values():
        yield place.build_problem(held.why, held.hint, is_warning=False)
    if presence.list_present() and not absent:
        hint = "a run passes over it until somebody makes it"
        for name in filter(presence.is_missing, missing):
            yield place.build_problem(presence.describe(name), hint, is_warning=True)


def _open_remote(git: Repository, upstream: Upstream) -> Remote:
    return git.open_remote(upstream.access, pulse=lambda: None, scratch=_SCRATCH)
