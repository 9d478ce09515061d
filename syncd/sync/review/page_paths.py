"""Where the pages and files of a change request stand in the repository, or would stand."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from syncd.layout.tree.placement import assign_paths
from syncd.model.change_request import ChangeRequest
from syncd.model.revision import Revision
from syncd.sync.binding import Binding
from syncd.sync.workspace import Workspace


@dataclass
class PagePaths:
    """Finds paths by id: where a run has seen the page, else where one would put it."""

    workspace: Workspace
    binding: Binding
    request: ChangeRequest

    def find_path(self, id: str) -> str:
        """Return the path of a page, file or reusable content from the repository's root, by its id, or ""."""
        inner = self._seen_paths.get(id) or self._new_paths.get(id) or ""
        return self.binding.path(inner) if inner else ""

    def find_former_path(self, id: str) -> str:
        """Return where main content has what the change request deletes, by its id, or ""."""
        inner = self._seen_paths.get(id) or self._main_paths.get(id) or ""
        return self.binding.path(inner) if inner else ""

    @cached_property
    def _seen_paths(self) -> dict[str, str]:
        lanes = ("main", self.request.id)
        known = [self.workspace.store.read_last_seen(self.binding.space, lane) for lane in lanes]
        return {id: anchor.path for seen in known if seen is not None for id, anchor in seen.anchors.items()}

    @cached_property
    def _new_paths(self) -> Mapping[str, str]:
        content = self.workspace.client.change_request_content
        return _assign_all_paths(content.get(self.binding.space, self.request.id))

    @cached_property
    def _main_paths(self) -> Mapping[str, str]:
        return _assign_all_paths(self.workspace.client.content.get(self.binding.space))


def _assign_all_paths(revision: Revision) -> Mapping[str, str]:
    placement = assign_paths(revision)
    return {**placement.pages, **placement.files, **placement.includes}
