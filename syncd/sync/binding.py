"""Which space is in which directory of the repository."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from shlex import quote


@dataclass(frozen=True)
class Binding:
    """One space in its directory of the repository ("" is the root); `name` stands for it in refs and output."""

    space: str
    directory: str
    name: str

    @property
    def proposed_refs(self) -> str:
        """How the refs of the space's proposals begin; below it, `<number>/<branch>` names the proposed commit."""
        return f"refs/syncd/proposed/{self.name}/"

    def path(self, inner: str) -> str:
        """Return a path below the space's directory from the repository's root."""
        return f"{self.directory}/{inner}" if self.directory else inner

    def inner(self, path: str) -> str:
        """Return a path from the repository's root below the space's directory, which must hold it."""
        return path[len(self.path("")) :]

    def holds(self, path: str) -> bool:
        """Return whether a path from the repository's root lies in the space's directory."""
        return path.startswith(self.path(""))


def find_directory(bindings: Iterable[Binding], path: str) -> str | None:
    """Return the directory of the space that a path from the repository's root is in; None where it is in none."""
    return max((one.directory for one in bindings if one.holds(path)), key=len, default=None)


def format_space_option(name: str, spaces: Collection[object]) -> str:
    """Return the option, behind a blank, with which a command finds a change request of a space by its number; "" where
    there is no other space."""
    return f" --space {quote(name)}" if len(spaces) > 1 else ""
