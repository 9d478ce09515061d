"""Which files and reusable contents of a tree are closed to a visitor: those that stand only in what is for others."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from syncd.layout.evaluation import evaluate_nodes, has_conditions
from syncd.layout.page.frontmatter import split_frontmatter
from syncd.layout.page.links import find_targets
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown
from syncd.platform.cache import Cache
from syncd.platform.http.time_limits import check_time
from syncd.platform.revisions.outline import Outline, TreeEntry, read_variables
from syncd.platform.revisions.targets import TargetResolver
from syncd.platform.revisions.tree import FILES, INCLUDES, TEXTS

_has_conditions: Cache[str, bool] = Cache(1_000_000)
_addresses: Cache[str, tuple[str, ...]] = Cache(1_000_000, weigh=lambda found: 1 + len(found))


@dataclass(frozen=True)
class VisitorTexts:
    """The texts of a tree as a visitor with these claims reads them; `read` returns a blob by its id."""

    outline: Outline
    claims: Mapping[str, Any]
    read: Callable[[str], bytes]

    def find_closed_files(self, gone: set[str]) -> set[str]:
        """Return the ids of files and reusable contents that something for others refers to and nothing that the
        visitor reads; `gone` has the pages that are not for the visitor.
        """
        texts = [entry for entry in self.outline.entries.values() if entry.node.type in TEXTS and entry.node.body]
        closed = [entry for entry in texts if entry.node.id in gone or self._has_conditions(entry)]
        suspects = self._reach(closed, self._list_addresses) if closed else set()
        if not suspects:
            return set()
        open_pages = (entry for entry in texts if entry.parent != INCLUDES and entry.node.id not in gone)
        return suspects - self._reach(open_pages, self._list_shown_addresses)

    @cached_property
    def _targets(self) -> TargetResolver:
        return TargetResolver(self.outline)

    def _reach(self, texts: Iterable[TreeEntry], list_addresses: Callable[[TreeEntry], Iterable[str]]) -> set[str]:
        """The files and reusable contents that texts refer to, and those that these include, too."""
        found: set[str] = set()
        pending = list(texts)
        while pending:
            check_time()
            entry = pending.pop()
            for address in list_addresses(entry):
                id = self._targets.resolve(address, entry).id
                target = self.outline.entries.get(id or "")
                if target is None or target.node.id in found or target.parent not in (FILES, INCLUDES):
                    continue
                found.add(target.node.id)
                if target.parent == INCLUDES and target.node.body:
                    pending.append(target)
        return found

    def _has_conditions(self, entry: TreeEntry) -> bool:
        body = entry.node.body or ""
        known = _has_conditions.get(body)
        if known is None:
            check_time()
            known = _has_conditions.put(body, has_conditions(self._read_text(entry)))
        return known

    def _list_addresses(self, entry: TreeEntry) -> tuple[str, ...]:
        body = entry.node.body or ""
        known = _addresses.get(body)
        return known if known is not None else _addresses.put(body, tuple(_extract(self._read_text(entry))))

    def _list_shown_addresses(self, entry: TreeEntry) -> Iterable[str]:
        """The addresses in a text as the visitor reads it: with every condition decided."""
        if not self._has_conditions(entry):
            return self._list_addresses(entry)
        head, body = split_frontmatter(self._read_text(entry))
        document = to_document(body)
        variables = replace(read_variables(self.outline, entry), claims=self.claims)
        nodes = tuple(evaluate_nodes(list(document.nodes), variables))
        return (*_extract(head), *_extract(to_markdown(document.model_copy(update={"nodes": nodes}))))

    def _read_text(self, entry: TreeEntry) -> str:
        return self.read(entry.node.body or "").decode(errors="replace")


def _extract(text: str) -> Iterator[str]:
    return (target.text for target in find_targets(text))
