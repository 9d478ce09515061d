"""Which change request a person means: a number or an address, in the spaces that the repositories are bound to."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import typer

from syncd.cli.setup.space_ids import read_space_id
from syncd.cli.terminal.context import list_repositories
from syncd.cli.terminal.progress import make_environment
from syncd.config import Config, RepositoryConfig
from syncd.daemon.labels import build_bindings
from syncd.daemon.workspaces import open_for_reading
from syncd.errors import SyncdError
from syncd.plan.message import remove_marker
from syncd.repo.repository import Repository
from syncd.sync.binding import Binding
from syncd.sync.review.requests import FoundRequest, find_requests
from syncd.sync.state.proposed_refs import list_proposed
from syncd.sync.workspace import Workspace

_NUMBER = re.compile(r"#?(?P<number>[1-9][0-9]{0,8})")
_ADDRESS = re.compile(r"https?://[^?#\s]+/~/changes/(?P<number>[1-9][0-9]{0,8})(?:[/?#].*)?", re.DOTALL)
"""Where a person reads a change request. Source: `urls.app` of a change request."""


@dataclass(frozen=True)
class RequestName:
    """What a person typed for a change request: its number, and the space as it was named, or ""."""

    number: int
    space: str = ""


def parse_request_name(text: str, space: str = "") -> RequestName:
    """Return what `N`, `#N` or an address of a change request names, with the space of `--space`.

    Raises: BadParameter; also for an address with `--space`.
    """
    if found := _NUMBER.fullmatch(text):
        return RequestName(int(found["number"]), space)
    address = _ADDRESS.fullmatch(text)
    if address is None:
        raise typer.BadParameter(f"{text}: neither a number nor the address of a change request (…/~/changes/N)")
    if space:
        raise typer.BadParameter(f"{text}: an address names its space; leave out --space")
    return RequestName(int(address["number"]), read_space_id(text))


def complete_number(incomplete: str) -> list[str]:
    """Return the numbers of own change requests that a shell offers for the first digits, by what Git knows here."""
    found: set[int] = set()
    with suppress(SyncdError):
        for repository in list_repositories(None):
            with Repository.open(repository.path) as git:
                listed = (list_proposed(git, binding) for binding in build_bindings(repository))
                found |= {number for each in listed for number, _, _ in each}
    return [text for text in map(str, sorted(found)) if text.startswith(incomplete)]


def select_bindings(repository: RepositoryConfig, space: str) -> list[Binding]:
    """Return the bound spaces of a repository that a name, an id or an address selects; "" selects all."""
    bindings = build_bindings(repository)
    if not space:
        return list(bindings)
    named = [binding for binding in bindings if binding.name == space]
    if named:
        return named
    id = read_space_id(space)
    return [binding for binding in bindings if binding.space == id]


def list_selected(config: Config, space: str) -> list[tuple[RepositoryConfig, list[Binding]]]:
    """Return the repositories with the bound spaces that `--space` selects. Raises: BadParameter when it selects none.

    Shape: each repository is there once, and has at least one selected space.
    """
    selected = [(repository, select_bindings(repository, space)) for repository in config.repository]
    selected = [(repository, bindings) for repository, bindings in selected if bindings]
    if space and not selected:
        known = sorted({binding.name for repository in config.repository for binding in build_bindings(repository)})
        raise typer.BadParameter(f"no space {space} is bound here; there are: {', '.join(known)}")
    return selected


@contextmanager
def open_request(config: Config, name: RequestName) -> Iterator[tuple[RepositoryConfig, Workspace, FoundRequest]]:
    """Return the change request that a name means, with its repository and the workspace of that, open for reading.

    Raises: BadParameter when no bound space has it, or several have.
    """
    matches: list[tuple[RepositoryConfig, FoundRequest]] = []
    selected = list_selected(config, name.space)
    for repository, bindings in selected:
        with open_for_reading(config, repository, make_environment()) as workspace:
            found = find_requests(workspace, bindings, name.number)
            if len(selected) == 1 and len(found) == 1:
                yield repository, workspace, found[0]
                return
        matches += [(repository, each) for each in found]
    repository, chosen = _choose_match(name, matches)
    with open_for_reading(config, repository, make_environment()) as workspace:
        yield repository, workspace, chosen


def _choose_match(
    name: RequestName, matches: Sequence[tuple[RepositoryConfig, FoundRequest]]
) -> tuple[RepositoryConfig, FoundRequest]:
    spaces = {found.binding.space for _, found in matches}
    if not matches:
        where = f"space {name.space} has" if name.space else "the bound spaces have"
        raise typer.BadParameter(f"{where} no change request #{name.number}; syncd cr list --all shows all")
    if len(spaces) > 1:
        each = [f"{found.binding.name} ({remove_marker(found.request.subject)})" for _, found in matches]
        raise typer.BadParameter(f"several spaces have a #{name.number}: {', '.join(each)}; add --space NAME")
    return next((match for match in matches if match[1].branch), matches[0])
