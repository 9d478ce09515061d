"""The head of a page file: its frontmatter block and its first heading."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.markdown.blocks import find_prose
from syncd.layout.markdown.inline import escape_backslashes, escape_closing
from syncd.layout.page.page_title import HASH_LINE, Title, find_title
from syncd.layout.page.tag_forms import list_page_tags, write_page_tags
from syncd.layout.yaml import yaml
from syncd.model.page import Page
from syncd.model.text import clean_title

KEY_ORDER = (
    *("title", "description", "hidden", "noIndex", "noRobotsIndex", "icon", "if", "vars"),
    *("cover", "coverY", "coverHeight", "layout", "tags", "metaLinks"),
)
"""Keys in the order of the platform's exports. Source: syncd/manual/reference/layout.md, "Frontmatter"."""

_RANK = {key: rank for rank, key in enumerate(KEY_ORDER)}
_OPEN = re.compile("\ufeff?---[ \\t]*+\r?\n")
_CLOSE = re.compile(r"^---[ \t]*+\r?(?:\n|\Z)", re.MULTILINE)
_UNDERLINED = re.compile(r" {0,3}(?![ \t#>*+|<{-])([^\r\n]++)\r?\n {0,3}=++[ \t]*+(?=\r?\n|\Z)")
_MARKUP = re.compile(r"[*`\[\]<]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
# What is shown as an emoji by itself, or made one by what follows it; then joined, coloured or paired.
_SIGN = (
    "(?:[\U0001f000-\U0001faff\u231a\u231b\u23e9-\u23f3\u25fd\u25fe\u2614\u2615\u2648-\u2653\u267f\u2693\u26a1\u26aa\u26ab"
    "\u26bd\u26be\u26c4\u26c5\u26ce\u26d4\u26ea\u26f2\u26f3\u26f5\u26fa\u26fd\u2705\u270a\u270b\u2728\u274c\u274e\u2753-\u2755\u2757"
    "\u2795-\u2797\u27b0\u27bf\u2b1b\u2b1c\u2b50\u2b55]\ufe0f?|[^\\s]\ufe0f\u20e3?)[\U0001f3fb-\U0001f3ff]?"
)
_EMOJI = re.compile(rf"({_SIGN}(?:\u200d{_SIGN}|[\U0001f1e6-\U0001f1ff])*+)[ \t]++(?=\S)")
_HEX = re.compile(r"[0-9a-fA-F]{4,6}(?:-[0-9a-fA-F]{4,6})*")
_FLAGS = ("title", "description", "tableOfContents", "outline", "pagination", "metadata", "tags", "actions", "anchors")
_BOOLEANS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}

MakeReference = Callable[[str], dict[str, Any]]
FindAddress = Callable[[Mapping[str, Any]], str | None]


def split_frontmatter(text: str) -> tuple[str, str]:
    """Return a page file as its frontmatter block, fences and line end included, or "", and the rest."""
    opened = _OPEN.match(text)
    closed = _CLOSE.search(text, opened.end()) if opened else None
    return (text[: closed.end()], text[closed.end() :]) if closed else ("", text)


def read_fields(text: str, *, at: str) -> dict[str, Any]:
    """Return the frontmatter of a page file; {} when it has none.

    Raises: FileInvalid with the file's own line and column, for what `yaml.load` refuses.
    """
    value = _load_frontmatter(text, at).value
    return dict(value)


def patch_frontmatter(text: str, changes: Mapping[str, Any], *, at: str = "frontmatter") -> str:
    """Return the file with top-level keys set to new values, None to remove one, and every other byte unchanged.

    Shape: a key whose value is already the same keeps its spelling; a new one is put where the platform exports it; a
    block is added when needed and removed when it becomes empty. Raises: FileInvalid when the frontmatter cannot be
    read.
    """
    block, body = split_frontmatter(text)
    located = _load_frontmatter(text, at)
    current = located.value
    changed = {key: value for key, value in changes.items() if value is not None or key in current}
    changed = {
        key: value for key, value in changed.items() if not (key in current and _is_same_value(current[key], value))
    }
    if not changed:
        return text
    newline = "\r\n" if "\r\n" in (block or body[:4096]) else "\n"
    first, *lines, last = re.findall(r"[^\n]*\n|[^\n]+$", block) if block else [f"---{newline}", f"---{newline}"]
    chunks = _split_by_key(lines, located)
    for key, value in changed.items():
        _put_key(chunks, key, value, newline)
    inner = "".join(line for _, part in chunks for line in part)
    if not block:
        bom = "\ufeff" if body.startswith("\ufeff") else ""
        gap = "" if body[len(bom) :][:1] in ("", "\n", "\r") else newline
        return f"{bom}{first}{inner}{last}{gap}{body.removeprefix(bom)}"
    if not inner.strip():
        bom = "\ufeff" if first.startswith("\ufeff") else ""
        return bom + body.removeprefix("\r\n" if body.startswith("\r\n") else "\n")
    return f"{first}{inner}{last}{body}"


def split_after_title(text: str) -> tuple[str, str]:
    """Return a page file as all up to the heading that is its title, frontmatter included, and the rest.

    Shape: the first part ends with the line end of the heading; without such a heading it is the frontmatter block.
    """
    found = _find_title_heading(text)
    if found is None:
        return split_frontmatter(text)
    end = text.find("\n", found.end) + 1 or len(text)
    return text[:end], text[end:]


def read_heading(text: str) -> str | None:
    """Return the text of the first-level heading that a page's body starts with, unescaped; None when it starts
    otherwise."""
    found = _find_title_heading(text)
    return None if found is None else found.text


def is_blank_page(text: str) -> bool:
    """Return whether the body of a page file has nothing but a title."""
    body = split_frontmatter(text)[1].strip()
    return not body or (read_heading(body) is not None and "\n" not in body)


def set_heading(text: str, title: str) -> str:
    """Return the page file with a title as leading heading: replaced, or inserted before the body."""
    found = _find_title_heading(text)
    if found is not None and found.text == clean_title(title):
        return text
    line = f"# {_escape_heading(title)}".rstrip(" ")
    if found is not None:
        return text[: found.start] + line + text[found.end :]
    block, body = split_frontmatter(text)
    newline = "\r\n" if "\r\n" in text[:4096] else "\n"
    bom = "\ufeff" if not block and body.startswith("\ufeff") else ""
    body = body.removeprefix(bom).lstrip("\r\n")
    between = newline if block else ""
    return f"{block}{bom}{between}{line}{newline}" + (f"{newline}{body}" if body else "")


def read_metadata(text: str, *, at: str, make_reference: MakeReference | None = None) -> dict[str, Any]:
    """Return what the frontmatter of a page file says about the page, by the API's names; unknown keys are ignored.

    Shape: addresses of covers and meta links become references through `make_reference`, by default `{kind: url, url}`
    with the address as written. Raises: FileInvalid for frontmatter that cannot be read and for a value of the wrong
    kind.
    """
    located = _load_frontmatter(text, at)
    return _MetadataReader(located, at, make_reference or make_url_reference).read() if located.value else {}


def complete_page(text: str, page: Page, *, find_address: FindAddress | None = None) -> str:
    """Return the text of a page's file from its Markdown, as the platform answered it, and the page.

    Shape: the text's own frontmatter wins over the page's members; the title is added as heading only when the text
    has no first-level heading at all, and the emoji before it. References become addresses through `find_address`, by
    default their `url`; a key without an address is left out.
    """
    title, emoji = clean_title(page.title), _decode_emoji(page.emoji)
    found = read_heading(text)
    if title and (found == title if found is not None and emoji else found is None and not _has_title(text)):
        text = set_heading(text, f"{emoji} {title}" if emoji else title)
    try:
        present = read_fields(text, at="frontmatter")
    except FileInvalid:
        return text
    return patch_frontmatter(
        text,
        {key: value for key, value in _collect_fields(page, find_address or _read_url).items() if key not in present},
    )


def add_title(text: str, title: str) -> str:
    """Return the Markdown of a reusable content with its title in the frontmatter, unless it has one."""
    try:
        return (
            text
            if not title or read_fields(text, at="frontmatter").get("title")
            else patch_frontmatter(text, {"title": title})
        )
    except FileInvalid:
        return text


def split_emoji(title: str) -> tuple[str, str]:
    """Return the emoji that a heading starts with, or "", and the title."""
    found = _EMOJI.match(title)
    return (found[1], title[found.end() :]) if found else ("", title)


def fill_layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's flat layout with the defaults of a page in every member that it leaves out."""
    defaults = {
        "width": "default",
        "cover": True,
        "coverSize": "full",
        "coverMask": "none",
        **dict.fromkeys(_FLAGS, True),
    }
    return defaults | dict(layout)


def make_url_reference(address: str) -> dict[str, Any]:
    """Return an address as written as a reference of kind `url`."""
    return {"kind": "url", "url": address}


def _read_url(reference: Mapping[str, Any]) -> str | None:
    url = reference.get("url")
    return url if isinstance(url, str) and url else None


def _load_frontmatter(text: str, at: str) -> yaml.LocatedValue:
    block = split_frontmatter(text)[0]
    if not block:
        return yaml.LocatedValue({}, {})
    inner = block[block.index("\n") + 1 : block.rstrip("\r\n").rindex("\n") + 1]
    located = yaml.load_located(inner, at=at, line=2)
    if located.value is None:
        return yaml.LocatedValue({}, located.positions)
    if not isinstance(located.value, dict):
        raise FileInvalid("frontmatter is not a mapping", path=at, line=2)
    return located


def _is_same_value(one: Any, other: Any) -> bool:
    """Return whether two values are equal as YAML: `1`, `1.0` and `true` are three values."""
    return type(one) is type(other) and bool(one == other) and yaml.dump(one) == yaml.dump(other)


def _split_by_key(lines: list[str], located: yaml.LocatedValue) -> list[tuple[str | None, list[str]]]:
    """Return the lines of a block by the key that they belong to; comments and blank lines between keys belong to
    none."""
    rows = [(where[0] - 2, str(path[0])) for path, where in located.positions.items() if len(path) == 1]
    line, column = located.positions.get((), (0, 0))
    if line and lines[line - 2 : line - 1] and lines[line - 2].startswith("{", column - 1):
        # A block in flow style has no lines of its own for a key.
        return [(key, [yaml.dump({key: value})]) for key, value in located.value.items()]
    chunks: list[tuple[str | None, list[str]]] = [(None, lines[: rows[0][0]] if rows else lines)]
    ends = [*(row for row, _ in rows), len(lines)][1:]
    for (row, key), after in zip(rows, ends, strict=True):
        end = after
        while end > row + 1 and (not lines[end - 1].strip() or lines[end - 1].startswith("#")):
            end -= 1
        chunks += [(key, lines[row:end]), (None, lines[end:after])]
    return chunks


def _put_key(chunks: list[tuple[str | None, list[str]]], key: str, value: Any, newline: str) -> None:
    part = [] if value is None else [yaml.dump({key: value}).replace("\n", newline)]
    rank = _RANK.get(key, -1)
    for index, (name, _) in enumerate(chunks):
        if name == key:
            chunks[index] = (key if part else None, part)
            return
    before = (index for index, (name, _) in enumerate(chunks) if name is not None and _RANK.get(name, -1) > rank)
    chunks.insert(next(before, len(chunks)), (key, part))


def _find_title_heading(text: str) -> Title | None:
    block, body = split_frontmatter(text)
    return find_title(text, len(block) + (not block and body.startswith("\ufeff")))


def _escape_heading(title: str) -> str:
    return escape_closing(_MARKUP.sub(r"\\\g<0>", escape_backslashes(clean_title(title))))


def _has_title(text: str) -> bool:
    spans = find_prose(text, len(split_frontmatter(text)[0]))
    return any(HASH_LINE.match(text, start) or _UNDERLINED.match(text, start) for start, _ in spans)


def _decode_emoji(emoji: str | None) -> str:
    """Return an emoji itself, or the characters of the code points that the platform writes for it (`1f44b`)."""
    if emoji and _HEX.fullmatch(emoji):
        codes = [int(code, 16) for code in emoji.split("-")]
        return "".join(map(chr, codes)) if max(codes) <= 0x10FFFF else ""
    return emoji or ""


def _collect_fields(page: Page, find_address: FindAddress) -> dict[str, Any]:
    cover = page.cover or {}
    links = page.meta_links or {}
    meta = {
        "canonical": _find_address(links.get("canonical"), find_address),
        "alternates": [found for item in links.get("alternates") or () if (found := _find_address(item, find_address))],
    }
    declared = {
        "description": page.description,
        "hidden": page.hidden,
        "noIndex": page.no_index,
        "noRobotsIndex": page.no_robots_index,
        "icon": page.icon,
        "if": page.condition,
        "vars": page.variables,
        "cover": (image := _find_address(cover.get("ref"), find_address)),
        "coverY": cover.get("yPos") if image else None,
        "coverHeight": cover.get("height") if image else None,
        "layout": _nest_layout(page.layout or {}),
        "tags": write_page_tags(page.tags or ()),
        "metaLinks": {key: value for key, value in meta.items() if value},
    }
    return {key: value for key, value in declared.items() if value or (key == "coverY" and value == 0)}


def _find_address(reference: Any, find_address: FindAddress) -> str | None:
    return find_address(reference) if isinstance(reference, Mapping) else None


def _nest_layout(layout: Mapping[str, Any]) -> dict[str, Any]:
    """Return the API's flat layout as frontmatter nests it; {} when it is the default layout."""
    if fill_layout(layout) == fill_layout({}):
        return {}
    cover = {"visible": layout.get("cover"), "size": layout.get("coverSize"), "mask": layout.get("coverMask")}
    nested = {"width": layout.get("width"), "cover": {key: value for key, value in cover.items() if value is not None}}
    nested |= {flag: {"visible": layout[flag]} for flag in _FLAGS if isinstance(layout.get(flag), bool)}
    return {key: value for key, value in nested.items() if value}


class _MetadataReader:
    """Reads frontmatter as fields of the API, and checks each value."""

    def __init__(self, located: yaml.LocatedValue, at: str, reference: MakeReference) -> None:
        self.located, self.at, self.reference = located, at, reference

    def read(self) -> dict[str, Any]:
        found: dict[str, Any] = {
            "description": self.text("description"),
            "icon": self.text("icon"),
            "condition": self.text("if"),
            "cover": self.cover(),
            "layout": self.layout(),
            "variables": self.mapping("vars"),
            "tags": self.tags(),
            "metaLinks": self.links(),
        }
        found |= {flag: self.flag(flag) for flag in ("hidden", "noIndex", "noRobotsIndex")}
        return {key: value for key, value in found.items() if value not in (None, {})}

    def value(self, *path: str) -> Any:
        value = self.located.value
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def invalid(self, what: str, *path: str) -> FileInvalid:
        line, column = self.located.positions.get(path, (2, 1))
        return FileInvalid(f"`{'.'.join(path)}` is not {what}", path=self.at, line=line, column=column)

    def text(self, *path: str) -> str | None:
        value = self.value(*path)
        if isinstance(value, dict | list):
            raise self.invalid("text", *path)
        return None if value is None else yaml.dump_scalar(value) if not isinstance(value, str) else value

    def flag(self, *path: str) -> bool | None:
        value = self.value(*path)
        if isinstance(value, str):
            value = _BOOLEANS.get(value.lower(), value)
        if value is not None and not isinstance(value, bool):
            raise self.invalid("true or false", *path)
        return value

    def number(self, *path: str) -> float | None:
        value = self.value(*path)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise self.invalid("a number", *path)
        return value

    def mapping(self, *path: str) -> dict[str, Any]:
        value = self.value(*path)
        if value is not None and not isinstance(value, dict):
            raise self.invalid("a mapping", *path)
        return value or {}

    def cover(self) -> dict[str, Any]:
        image = self.text("cover")
        found = {
            "ref": self.reference(image) if image else None,
            "yPos": self.number("coverY"),
            "height": self.number("coverHeight"),
        }
        return {key: value for key, value in found.items() if value is not None} if image else {}

    def layout(self) -> dict[str, Any]:
        self.mapping("layout")
        found: dict[str, Any] = {
            "width": self.text("layout", "width"),
            "cover": self.flag("layout", "cover", "visible"),
            "coverSize": self.text("layout", "cover", "size"),
            "coverMask": self.text("layout", "cover", "mask"),
        }
        found |= {flag: self.flag("layout", flag, "visible") for flag in _FLAGS}
        return {key: value for key, value in found.items() if value is not None}

    def tags(self) -> list[Any] | None:
        value = self.value("tags")
        if value is not None and not isinstance(value, list):
            raise self.invalid("a list", "tags")
        return list_page_tags(value or ()) or None

    def links(self) -> dict[str, Any]:
        canonical, others = self.text("metaLinks", "canonical"), self.mapping("metaLinks").get("alternates") or []
        if not isinstance(others, list) or not all(isinstance(other, str) for other in others):
            raise self.invalid("a list of addresses", "metaLinks", "alternates")
        found = {"canonical": self.reference(canonical) if canonical else None}
        alternates = [self.reference(other) for other in others]
        return {key: value for key, value in {**found, "alternates": alternates}.items() if value}
