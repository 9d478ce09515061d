"""Collection (`collection`): spaces and further collections under one name, and how they and spaces are moved."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from syncd.model.base import Declared, Nullable, Observed, ObservedId
from syncd.model.role import DefaultLevel

TITLE_MAX = 50
DESCRIPTION_MAX = 100
"""Source: @gitbook/api 0.146.0."""

Id = Annotated[str, Field(min_length=1, max_length=100)]


class Collection(Observed):
    """A collection as the platform shows it. Source: API document, Collection."""

    object: Literal["collection"] = "collection"
    id: ObservedId
    title: str
    description: str | None = None
    organization: ObservedId
    parent: ObservedId | None = None
    default_level: Nullable[str] = None
    urls: dict[str, str] = {}
    permissions: dict[str, bool] = {}


class CollectionCreate(Declared):
    """Body of `POST …/collections`."""

    title: Annotated[str, Field(min_length=1, max_length=TITLE_MAX)] = "Untitled"
    parent: Id | None = None


class CollectionUpdate(Declared):
    """Body of `PATCH /collections/{collectionId}`: unset is unchanged; an empty description is none."""

    title: str = Field(default="-", min_length=1, max_length=TITLE_MAX)
    description: str = Field(default="", max_length=DESCRIPTION_MAX)
    default_level: Nullable[DefaultLevel] = None


class Sibling(Declared):
    """What stands beside: a space or a collection with the same parent."""

    type: Literal["space", "collection"]
    space: Id | None = None
    collection: Id | None = None

    @model_validator(mode="after")
    def _is_one(self) -> "Sibling":
        given, other = (self.space, self.collection) if self.type == "space" else (self.collection, self.space)
        if given is None or other is not None:
            raise ValueError(f"must have a `{self.type}` and nothing else")
        return self

    @property
    def id(self) -> str:
        """The id of the space or collection."""
        return str(self.space or self.collection)


class Position(Declared):
    """A place among siblings: `before` the named one, `after` it, or between two that stand beside each other."""

    before: Sibling | None = None
    after: Sibling | None = None


class Move(Declared):
    """Body of `POST …/move`: an unset parent is unchanged, a null one is the organization itself."""

    parent: Nullable[Id] = None
    position: Position = Position()


class Transfer(Declared):
    """Body of `POST …/transfer`: the organization that shall have it."""

    organization: Id
