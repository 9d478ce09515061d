"""Tags in the two forms that they have: that of the API, which memory has, too, and that of the files in Git.

A tag of a space is `{slug, label, color, icon|emoji}` in the API and `{tag, label, icon|emoji, color}` in Git. A tag of
a page is `{tag: {kind: tag, tag: slug}, primary}` in the API, and in Git a slug or `{tag: slug, primary: true}`.
Each function takes either form, so that it changes nothing when it is applied again.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from syncd.layout.yaml import yaml

DEFAULT_COLOR = "default"
"""The colour of a tag that names none. Source: `RevisionTag`, @gitbook/api 0.202.0."""


def read_space_tag(tag: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tag of a space in the API's form, with all its other members; one without a slug stays as it is."""
    slug = _read_text(tag.get("tag")) or _read_text(tag.get("slug"))
    if slug is None:
        return dict(tag)
    more = {name: value for name, value in tag.items() if name not in ("tag", "slug", "label")}
    label, color = _read_text(tag.get("label")) or slug, _read_text(more.get("color")) or DEFAULT_COLOR
    return {"slug": slug, "label": label, **more, "color": color}


def list_space_tags(tags: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the tags of a space in the API's form, without those that have no slug."""
    read = [read_space_tag(tag) for tag in tags if isinstance(tag, Mapping)]
    return [tag for tag in read if "slug" in tag]


def write_space_tag(tag: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tag of a space in the form of Git, where the default colour is not written."""
    made = {"tag" if name == "slug" else name: value for name, value in read_space_tag(tag).items()}
    if made.get("color") == DEFAULT_COLOR:
        del made["color"]
    return made


def list_page_tags(tags: Iterable[Any]) -> list[dict[str, Any]]:
    """Return the tags of a page in the API's form, without what names no tag."""
    return [made for tag in tags if (made := _read_page_tag(tag)) is not None]


def write_page_tags(tags: Iterable[Any]) -> list[str | dict[str, Any]]:
    """Return the tags of a page in the form of Git."""
    listed = ((str(tag["tag"]["tag"]), tag.get("primary")) for tag in list_page_tags(tags))
    return [{"tag": slug, "primary": True} if is_primary else slug for slug, is_primary in listed]


def _read_page_tag(tag: Any) -> dict[str, Any] | None:
    named, is_primary = (tag.get("tag"), tag.get("primary") is True) if isinstance(tag, Mapping) else (tag, False)
    ref = dict(named) if isinstance(named, Mapping) else {"kind": "tag", "tag": named}
    slug = _read_text(ref.get("tag"))
    if slug is None or ref.get("kind") != "tag":
        return None
    return {"tag": ref | {"tag": slug}} | ({"primary": True} if is_primary else {})


def _read_text(value: Any) -> str | None:
    """The text that a value of YAML spells: a number is one, too."""
    if isinstance(value, str):
        return value or None
    return yaml.dump_scalar(value) if isinstance(value, bool | int | float) else None
