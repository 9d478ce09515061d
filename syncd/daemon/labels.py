"""Name repositories in metrics and messages, and their spaces for the flows: by the configuration, never by a title."""

import re

from syncd.config import Config, RepositoryConfig
from syncd.sync.binding import Binding

_FOREIGN = re.compile(r"[^a-z0-9._-]+")
_LONGEST = 40


def name_repositories(config: Config) -> tuple[str, ...]:
    """Return the name of each repository of a configuration in its order; no two are the same.

    Shape: the configured name, else that of the repository's directory; a later one of the same name gets a number.
    """
    names: list[str] = []
    for repository in config.repository:
        path = repository.path.parent if repository.path.name == ".git" else repository.path
        directory = path.name.removesuffix(".git")
        plain = _FOREIGN.sub("-", directory.lower()).strip("-._")[:_LONGEST]
        wanted = name = repository.name or plain or "repository"
        number = 1
        while name in names:
            number += 1
            name = f"{wanted}-{number}"
        names.append(name)
    return tuple(names)


def build_bindings(repository: RepositoryConfig) -> tuple[Binding, ...]:
    """Return the spaces of a repository as the flows know them."""
    return tuple(Binding(space.id, space.directory, space.name) for space in repository.space)
