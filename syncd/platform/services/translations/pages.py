"""One page in another language: what of it is translated, and what it depends on."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page import frontmatter
from syncd.platform.revisions import metadata
from syncd.platform.revisions.outline import Outline, is_page
from syncd.platform.revisions.tree import INCLUDES, Node
from syncd.platform.services.translations.providers import Provider, TranslationOptions
from syncd.platform.services.translations.segments import (
    Segment,
    count_words,
    find_segments,
    replace_segments,
    strip_markers,
)

_FIELDS = ("description", "linkTitle")
"""Members of a page, beside its title, that readers read."""


@dataclass(frozen=True)
class TranslatedPage:
    """A page's translation. Shape: `made_from` is a hash of all that it depends on; `body` is the whole text."""

    page: str
    made_from: str
    title: str
    body: str | None
    fields: Mapping[str, Any] = field(default_factory=dict)
    word_count: int = 0


def list_translatable(outline: Outline) -> Iterator[Node]:
    """Return each node of a tree that has words: pages, groups, links and reusable contents."""
    includes = outline.order.get(INCLUDES, ())
    return (entry.node for id, entry in outline.entries.items() if is_page(entry.node) or id in includes)


def compute_source_hash(node: Node, options: TranslationOptions) -> str:
    """Return a hash that changes whenever a page has to be translated again."""
    said = [node.type, node.title, node.body, *(node.fields.get(name) for name in _FIELDS)]
    depends = json.dumps([*said, options.source, options.target, options.instructions], ensure_ascii=False)
    return hashlib.blake2b(depends.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()


def translate_pages(
    pages: Sequence[tuple[Node, str | None]], options: TranslationOptions, provider: Provider
) -> list[TranslatedPage]:
    """Return pages with their texts translated. Raises: ProviderFailed, as `Provider.translate`."""
    asked = [_PageRequest.of(node, text) for node, text in pages]
    answers = iter(provider.translate([text for page in asked for text in page.texts], options))
    return [
        page.build_page([next(answers) for _ in page.texts], compute_source_hash(page.node, options)) for page in asked
    ]


@dataclass(frozen=True)
class _PageRequest:
    """A page and what of it goes to the provider: its title, the members of `_FIELDS` it has, then its segments."""

    node: Node
    text: str | None
    field_names: tuple[str, ...]
    segments: tuple[Segment, ...]

    @classmethod
    def of(cls, node: Node, text: str | None) -> "_PageRequest":
        named = tuple(name for name in _FIELDS if isinstance(node.fields.get(name), str) and node.fields[name])
        return cls(node, text, named, find_segments(text) if text is not None else ())

    @property
    def texts(self) -> list[str]:
        return [
            self.node.title,
            *(self.node.fields[name] for name in self.field_names),
            *(one.text for one in self.segments),
        ]

    def build_page(self, answers: Sequence[str], made_from: str) -> TranslatedPage:
        head = 1 + len(self.field_names)
        title = strip_markers(answers[0]) or self.node.title
        fields = {
            name: strip_markers(said) or self.node.fields[name]
            for name, said in zip(self.field_names, answers[1:head], strict=True)
        }
        body = None
        if self.text is not None:
            body = replace_segments(self.text, dict(zip(self.segments, answers[head:], strict=True)))
            body, title = self._write_head(body, title, fields)
        counted = sum(count_words(text) for text in self.texts[:head]) + sum(one.word_count for one in self.segments)
        return TranslatedPage(self.node.id, made_from, title, body, fields, counted)

    def _write_head(self, body: str, title: str, fields: Mapping[str, Any]) -> tuple[str, str]:
        """The text with its title and description in its frontmatter, all else there as it was; and its title."""
        assert self.text is not None
        stated = metadata.find_frontmatter_title(self.text)
        if stated is None and metadata.find_title(self.text) == self.node.title:
            # The heading was translated with the text; two answers to one question may differ.
            title = metadata.find_title(body) or title
        try:
            if stated is not None:
                body = frontmatter.patch_frontmatter(body, {"title": title})
            if "description" in fields:
                body = metadata.write_members(body, {"description": fields["description"]})
        except FileInvalid:
            # Frontmatter that is no YAML says nothing, in any language.
            return body, title
        return body, title
