"""The parts of a site in their order: groups, sections and site-spaces, the defaults among them, and their paths."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import sqlalchemy as sa

Rows = tuple[sa.Row[Any], ...]


@dataclass(frozen=True)
class Structure:
    """A site with its groups, sections and site-spaces, each in the site's order: every group before what it holds.

    Shape: rows of the tables; `order` has, by id, the key that sorts an item into the site's order.
    """

    site: sa.Row[Any]
    groups: Rows
    sections: Rows
    site_spaces: Rows
    order: Mapping[str, str]

    @classmethod
    def of(cls, site: sa.Row[Any], groups: Rows, sections: Rows, site_spaces: Rows) -> Self:
        """Return the structure of a site from the rows of its parts, which may be in any order."""
        order = _compute_order(groups, sections, site_spaces)
        in_order = [tuple(sorted(rows, key=lambda row: order[row.id])) for rows in (groups, sections, site_spaces)]
        return cls(site, in_order[0], in_order[1], in_order[2], order)

    @cached_property
    def _groups(self) -> Mapping[str, sa.Row[Any]]:
        return {row.id: row for row in self.groups}

    @cached_property
    def _sections(self) -> Mapping[str, sa.Row[Any]]:
        return {row.id: row for row in self.sections}

    @cached_property
    def _site_spaces(self) -> Mapping[str, sa.Row[Any]]:
        return {row.id: row for row in self.site_spaces}

    @cached_property
    def _variants(self) -> Mapping[str | None, Sequence[sa.Row[Any]]]:
        found: dict[str | None, list[sa.Row[Any]]] = defaultdict(list)
        for row in self.site_spaces:
            found[row.section].append(row)
        return found

    @cached_property
    def _children(self) -> Mapping[str | None, Sequence[sa.Row[Any]]]:
        found: dict[str | None, list[sa.Row[Any]]] = defaultdict(list)
        for row in sorted((*self.groups, *self.sections), key=self.get_sort_key):
            found[self.find_parent(row)].append(row)
        return found

    def get_sort_key(self, row: sa.Row[Any]) -> str:
        """Return the key that sorts a row of this structure into the site's order."""
        return self.order[row.id]

    def find_group(self, group_id: str | None) -> sa.Row[Any] | None:
        """Return the row of a section group, or None."""
        return self._groups.get(group_id) if group_id is not None else None

    def find_section(self, section_id: str | None) -> sa.Row[Any] | None:
        """Return the row of a section, or None."""
        return self._sections.get(section_id) if section_id is not None else None

    def find_site_space(self, site_space_id: str | None) -> sa.Row[Any] | None:
        """Return the row of a site-space, or None."""
        return self._site_spaces.get(site_space_id) if site_space_id is not None else None

    def list_variants(self, section_id: str | None) -> Sequence[sa.Row[Any]]:
        """Return the site-spaces of a section, or with None of the site's root."""
        return self._variants.get(section_id, ())

    def list_children(self, group_id: str | None) -> Sequence[sa.Row[Any]]:
        """Return the groups and sections in a group, or with None in the site's root."""
        return self._children.get(group_id, ())

    def find_parent(self, row: sa.Row[Any]) -> str | None:
        """Return the id of the group that holds a group or section, or None at the site's root."""
        parent: str | None = row.parent if row.id in self._groups else row.section_group
        return parent

    def find_default_section(self) -> sa.Row[Any] | None:
        """Return the section that visitors of the site see first: the chosen one, else the first one."""
        return self.find_section(self.site.default_section) or next(iter(self.sections), None)

    def find_default_variant(self, section_id: str | None) -> sa.Row[Any] | None:
        """Return the default site-space of a section, or with None of the root: the chosen one, else the first."""
        holder = self.site if section_id is None else self.find_section(section_id)
        chosen = self.find_site_space(holder.default_site_space) if holder is not None else None
        if chosen is not None and chosen.section == section_id:
            return chosen
        return next(iter(self.list_variants(section_id)), None)

    def is_default(self, site_space: sa.Row[Any]) -> bool:
        """Return whether a site-space is the default of its section, or of the root.

        The document says "default space for the site", which leaves a section's own default nowhere to be seen; so a
        site with sections has one default in each of them.
        """
        return self.find_default_variant(site_space.section) is site_space

    def compute_section_path(self, section: sa.Row[Any]) -> str:
        """Return the path of a section below the site; the default section has "", as it is read at the root."""
        return "" if section is self.find_default_section() else str(section.path)

    def compute_variant_path(self, site_space: sa.Row[Any]) -> str:
        """Return the path of a site-space below the site: its section's, then its own unless it is the default."""
        section = self.find_section(site_space.section)
        parts = (
            self.compute_section_path(section) if section is not None else "",
            "" if self.is_default(site_space) else str(site_space.path),
        )
        return "/".join(part for part in parts if part)


def _compute_order(groups: Rows, sections: Rows, site_spaces: Rows) -> dict[str, str]:
    """Return sort keys that put each part of a site behind the one that holds it, and siblings by their position."""
    known = {row.id: row for row in groups}
    order: dict[str, str] = {}
    for row in groups:
        steps, above = [_format_step(row)], known.get(row.parent)
        while above is not None:
            steps.append(_format_step(above))
            above = known.get(above.parent)
        order[row.id] = "/".join(reversed(steps))
    for row in sections:
        order[row.id] = "/".join(filter(None, (order.get(row.section_group), _format_step(row))))
    for row in site_spaces:
        order[row.id] = "/".join(filter(None, (order.get(row.section), _format_step(row))))
    return order


def _format_step(row: sa.Row[Any]) -> str:
    return f"{row.position:09}{row.id}"
