"""`.gitbook.yaml`: where a space's content lies below its directory, and its old addresses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from posixpath import basename, dirname, splitext
from typing import Any

from syncd.errors import FileInvalid, PathRefused
from syncd.layout.tree.paths import SLUG_CHARACTERS, check_safe_path, slugify
from syncd.layout.tree.skipped import SkippedPart
from syncd.layout.yaml import yaml
from syncd.model.text import HIDDEN, quote_name

SETTINGS_PATH = ".gitbook.yaml"
README = "readme.md"
"""The name of a folder's own page, in small letters."""

_NOT_IN_SLUGS = frozenset("/\\?#%")
_INVISIBLE = re.compile(f"[\u00a0{HIDDEN}]")
_KNOWN_KEYS = {(): {"root", "structure", "redirects"}, ("structure",): {"readme", "summary"}}


@dataclass(frozen=True)
class Settings:
    """`root` is "" or a directory without slashes at its ends; `readme` and `summary` are relative to it."""

    root: str = ""
    readme: str = "README.md"
    summary: str = "SUMMARY.md"
    redirects: Mapping[str, str] = field(default_factory=dict)
    skipped: tuple[SkippedPart, ...] = field(default=(), compare=False)

    def add_root(self, path: str) -> str:
        """Return a path relative to the root as one relative to the space's directory."""
        return f"{self.root}/{path}" if self.root else path


def read_settings(text: str | None, *, at: str = SETTINGS_PATH) -> Settings:
    """Return the settings from the text of the file, or the defaults for None.

    Shape: an empty file and `redirects:` without a value are valid; keys of redirects lose a slash at their start. A
    known key with an invisible character in it is ignored, as the platform does, and reported in `skipped`.
    Raises: FileInvalid for YAML that cannot be read, a value of the wrong kind, an unknown key, and a path that leads
    out of the space's directory.
    Source: syncd/manual/reference/layout.md, ".gitbook.yaml".
    """
    located = yaml.load_located(text or "", at=at)
    return _SettingsReader(located, at).read()


class _SettingsReader:
    def __init__(self, located: yaml.LocatedValue, at: str) -> None:
        self.positions, self.at = located.positions, at
        self.skipped: list[SkippedPart] = []
        self.value = self.mapping((), located.value)

    def read(self) -> Settings:
        structure = self.mapping(("structure",), self.value.get("structure"))
        redirects = self.mapping(("redirects",), self.value.get("redirects"), names=False)
        defaults = Settings()
        return Settings(
            root=self.path(("root",), self.value.get("root", "./"), "") or "",
            readme=self.path(("structure", "readme"), structure.get("readme"), defaults.readme),
            summary=self.path(("structure", "summary"), structure.get("summary"), defaults.summary),
            redirects={source.lstrip("/"): self.text(("redirects", source), to) for source, to in redirects.items()},
            skipped=tuple(self.skipped),
        )

    def mapping(self, path: tuple[str, ...], value: Any, *, names: bool = True) -> dict[str, Any]:
        if value is not None and not isinstance(value, dict):
            raise self.invalid("is not a mapping", path)
        known: set[str] = _KNOWN_KEYS[path] if names else set(value or ())
        for key in value or ():
            if key in known:
                continue
            if (cleaned := _INVISIBLE.sub("", key)) not in known:
                raise self.invalid(f"has no meaning here; known are {', '.join(sorted(known))}", (*path, key))
            code_points = ", ".join(f"U+{ord(sign):04X}" for sign in _INVISIBLE.findall(key))
            reason = (
                f"the key {cleaned} holds {code_points}, which nobody sees, so the platform ignores it; write it anew"
            )
            self.skipped.append(SkippedPart(self.at, *self.positions.get((*path, key), (1, 1)), reason))
        return {key: inner for key, inner in (value or {}).items() if key in known}

    def text(self, path: tuple[str, ...], value: Any) -> str:
        if not isinstance(value, str):
            raise self.invalid("is not text", path)
        return value

    def path(self, path: tuple[str, ...], value: Any, defaults: str) -> str:
        if value is None:
            return defaults
        segments = [segment for segment in self.text(path, value).split("/") if segment not in ("", ".")]
        try:
            return check_safe_path("/".join(segments)) if segments else defaults
        except PathRefused as refused:
            raise self.invalid(f"cannot be used as a path: {refused.what}", path) from refused

    def invalid(self, what: str, path: tuple[str, ...]) -> FileInvalid:
        line, column = self.positions.get(path, (1, 1))
        name = f"{quote_name('.'.join(path))} " if path else ""
        return FileInvalid(f"{name}{what}", path=self.at, line=line, column=column)


def derive_page_slug(path: str, *, settings: Settings) -> str:
    """Return the slug of a page's file: its stem, the folder's name for a README, "" for the home page.

    Shape: in characters that a slug may have; a name with others becomes what a title like it would.
    """
    if path == settings.add_root(settings.readme):
        return ""
    folder, name = dirname(path), basename(path)
    is_readme = name.lower() == README and folder not in ("", settings.root)
    slug = basename(folder) if is_readme else splitext(name)[0]
    is_plain = slug == slug.strip() and slug.isprintable() and not _NOT_IN_SLUGS.intersection(slug)
    return slug if is_plain and len(slug) <= SLUG_CHARACTERS and slug not in (".", "..") else slugify(slug)
