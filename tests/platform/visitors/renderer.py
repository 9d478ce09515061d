"""A renderer for tests: it reads a published site with nothing but the content token of an address."""

from dataclasses import dataclass
from typing import Any

from tests.platform.visitors.published_site import PublishedSiteMaker


@dataclass
class Renderer:
    """A renderer of a site: it asks with the content token of an address."""

    made: PublishedSiteMaker
    content: dict[str, Any]

    @property
    def space(self) -> dict[str, str]:
        """The parameters of paths that name the space at the address, and its revision."""
        return {"spaceId": self.content["space"], "revisionId": self.content["revision"]}

    def read_answer(self, operation: str, path: dict[str, str] | None = None, **rest: Any) -> Any:
        """Given an operation and its parameters, return its answer."""
        return self.made.world.made(operation, {**self.space, **(path or {})}, by=self.content["apiToken"], **rest)
