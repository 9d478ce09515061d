"""The kinds of steps of a site's plan: one for each request that it can send, and two that change the lock."""

from enum import StrEnum


class Call(StrEnum):
    """What one step asks for; its text stands in plan documents, in digests and in the store."""

    SITE_UPDATE = "site.update"
    SCHEMA_PUT = "schema.put"
    GROUP_CREATE = "group.create"
    GROUP_UPDATE = "group.update"
    GROUP_DELETE = "group.delete"
    GROUP_ADD = "group.add"
    SECTION_CREATE = "section.create"
    SECTION_UPDATE = "section.update"
    SECTION_DELETE = "section.delete"
    SECTION_MOVE = "section.move"
    VARIANT_CREATE = "variant.create"
    VARIANT_UPDATE = "variant.update"
    VARIANT_DELETE = "variant.delete"
    VARIANT_MOVE = "variant.move"
    STRUCTURE_SORT = "structure.sort"
    REDIRECT_CREATE = "redirect.create"
    REDIRECT_UPDATE = "redirect.update"
    REDIRECT_DELETE = "redirect.delete"
    CUSTOMIZATION_PUT = "customization.put"
    OVERRIDE_PATCH = "override.patch"
    OVERRIDE_DELETE = "override.delete"
    ADOPT = "adopt"
    FORGET = "forget"

    @property
    def is_local(self) -> bool:
        """Whether it changes only the lock."""
        return self in (Call.ADOPT, Call.FORGET)

    @property
    def is_create(self) -> bool:
        """Whether it makes something, so that there is no id before it."""
        return self in CREATES


CREATES = frozenset({Call.GROUP_CREATE, Call.SECTION_CREATE, Call.VARIANT_CREATE, Call.REDIRECT_CREATE})
DELETES = frozenset(
    {Call.GROUP_DELETE, Call.SECTION_DELETE, Call.VARIANT_DELETE, Call.REDIRECT_DELETE, Call.OVERRIDE_DELETE}
)
