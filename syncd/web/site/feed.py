"""The feed of a page with updates: each update as an item of RSS, from the page's own document."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from email.utils import format_datetime
from itertools import islice

from syncd.model.document import Document
from syncd.web.blocks.context import OutlineEntry
from syncd.web.blocks.members import Node, collect_words, read_data, read_kind, read_nodes, read_text
from syncd.web.site.spelling import spell_address, spell_xml
from syncd.web.site.values import SitePage

ITEMS_MAX = 100
"""Updates in one feed, the first of the page: those are the newest."""
_WORDS_MAX = 5_000
_HEADINGS = frozenset({"heading-1", "heading-2", "heading-3", "heading-4", "heading-5", "heading-6"})


@dataclass(frozen=True)
class FeedItem:
    """An update: its title, the anchor of its heading or "", its date as it is written, its tags, and its words."""

    title: str
    anchor: str = ""
    date: str = ""
    tags: tuple[str, ...] = ()
    words: str = ""


def list_updates(document: Document, outline: Sequence[OutlineEntry] = ()) -> tuple[FeedItem, ...]:
    """Return the updates of a page in reading order; `outline` is that of the page as it was rendered."""
    left = list(outline)
    return tuple(islice((_read_update(node, left) for node in _find_updates(document.nodes)), ITEMS_MAX))


def render_feed(page: SitePage, items: Sequence[FeedItem], *, feed: str = "", language: str = "en") -> str:
    """Return RSS 2.0 of the updates of a page; `feed` is the whole address of the feed itself, "" if not known."""
    address = spell_xml(spell_address(page.address))
    itself = f'<atom:link href="{spell_xml(spell_address(feed))}" rel="self" type="application/rss+xml"/>\n'
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom">\n<channel>\n'
        f"<title>{spell_xml(page.title)}</title>\n<link>{address}</link>\n"
        f"<description>{spell_xml(page.description or page.title)}</description>\n"
        f"<language>{spell_xml(language)}</language>\n"
        f"{itself if feed else ''}{''.join(_write_item(page, item) for item in items)}</channel>\n</rss>\n"
    )


def format_feed_date(written: str) -> str:
    """Return a date or time of ISO 8601 as RSS has it, and "" for any other text; a date begins at midnight in UTC."""
    try:
        if len(written) == len("2026-01-31"):
            when = datetime.combine(date.fromisoformat(written), time(), UTC)
        else:
            when = datetime.fromisoformat(written)
            when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
        return format_datetime(when)
    except (ValueError, OverflowError):
        return ""


def _find_updates(nodes: Sequence[Node]) -> Iterator[Node]:
    pending = list(reversed(nodes))
    while pending:
        node = pending.pop()
        if read_kind(node) == "update":
            yield node
        else:
            pending += reversed(read_nodes(node))


def _read_update(node: Node, outline: list[OutlineEntry]) -> FeedItem:
    data, blocks = read_data(node), read_nodes(node)
    written = read_text(data, "date")
    heading = next((one for one in blocks if read_kind(one) in _HEADINGS), None)
    title = " ".join(collect_words(heading).split()) if heading is not None else ""
    rest = [one for one in blocks if one is not heading]
    at = next((at for at, entry in enumerate(outline) if title and entry.title == title), -1)
    anchor = outline.pop(at).anchor if at >= 0 else ""
    tags = tuple(tag for tag in (read_text(one, "tag") for one in read_nodes(data, "tags")) if tag)
    words = "\n\n".join(filter(None, (" ".join(collect_words(one).split()) for one in rest)))
    return FeedItem(title or written or words[:80], anchor, written, tags, words[:_WORDS_MAX])


def _write_item(page: SitePage, item: FeedItem) -> str:
    address = f"{page.address}#{item.anchor}" if item.anchor else page.address
    when = format_feed_date(item.date)
    name = address if item.anchor else f"{page.address}#{item.date}-{item.title}"
    tags = "".join(f"<category>{spell_xml(tag)}</category>\n" for tag in item.tags)
    return (
        f"<item>\n<title>{spell_xml(item.title)}</title>\n<link>{spell_xml(spell_address(address))}</link>\n"
        f'<guid isPermaLink="false">{spell_xml(spell_address(name))}</guid>\n'
        f"{f'<pubDate>{when}</pubDate>' + chr(10) if when else ''}{tags}"
        f"<description>{spell_xml(item.words)}</description>\n</item>\n"
    )
