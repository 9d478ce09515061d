"""The two kinds of shape: what we send is strict, what we receive is tolerant.

A shape is built when it is first used: a command uses a few of hundreds, and building is what takes long.
"""

from typing import Annotated, Any, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.alias_generators import to_camel
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

Value = TypeVar("Value")
NULLABLE = "nullable"
Nullable = Annotated[Value | None, NULLABLE]
"""The type of a member for which the API document says "or null"; for any other, None means that it is absent."""

ABSENT: Any = None
"""The default of a member that may be absent but never null, where no value of its type would do; nobody reads it."""

_NULL = {"type": "null"}
_ID_MAX = 256


def _observed_id(text: str) -> str:
    if not (text.isascii() and text.isprintable() and 0 < len(text) <= _ID_MAX and " " not in text):
        raise PydanticCustomError("id_shape", "is no id: it must be 1 to 256 visible ASCII characters without a space")
    return text


ObservedId = Annotated[str, AfterValidator(_observed_id)]
"""An id that the platform answers: it stands in commit messages, refs, addresses and lines of a terminal, so nothing in
it may end a line or be unseen. All else is opaque. Source: CWE-117."""


class _Shape(BaseModel):
    """What both kinds have in common: a member that is absent is left out; null is a value of its own."""

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Return pydantic's JSON schema with null allowed only where a field is `Nullable`."""
        reference = handler(core)
        schema = handler.resolve_ref_schema(reference)
        for name, field in cls.model_fields.items():
            key = field.serialization_alias or field.alias or name
            member = schema.get("properties", {}).get(key)
            if member is not None and NULLABLE not in field.metadata:
                _without_null(member)
        return reference


def _without_null(member: JsonSchemaValue) -> None:
    if member.get("default", ...) is None:
        del member["default"]
    rest = [variant for variant in member.get("anyOf", ()) if variant != _NULL]
    if len(rest) == 1:
        del member["anyOf"]
        member.update(rest[0])
    elif rest:
        member["anyOf"] = rest


class Declared(_Shape):
    """What syncd sends or a person writes: an unknown key is a mistake."""

    model_config = ConfigDict(
        defer_build=True, frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True
    )

    def wire(self) -> dict[str, Any]:
        """Return the JSON object with only the members that were set: unset, null and value stay three states."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _stop_at_first_mistake(schema: Any) -> None:
    """Let every list in pydantic's schema of a shape end at its first mistake: each further one would take memory."""
    if isinstance(schema, dict):
        if schema.get("type") in ("tuple", "list", "dict"):
            schema["fail_fast"] = True
        for part in schema.values():
            _stop_at_first_mistake(part)
    elif isinstance(schema, list):
        for part in schema:
            _stop_at_first_mistake(part)


class Observed(_Shape):
    """What the platform answers: unknown fields and unknown enum values are kept and given back."""

    model_config = ConfigDict(
        defer_build=True, frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True
    )

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return pydantic's schema with lists that end their validation at the first mistake."""
        schema = handler(source)
        _stop_at_first_mistake(schema)
        return schema

    def wire(self) -> dict[str, Any]:
        """Return the JSON object that this came from, unknown members included."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def amend(self, **changes: Any) -> Self:
        """Return a copy with new field values."""
        return self.model_copy(update=changes)


def build_shapes() -> None:
    """Build every shape that is loaded: a server does it once, so that no request waits for it."""
    pending: list[type[BaseModel]] = [_Shape]
    for shape in pending:  # a shape stands behind those that its members have, as it was made after them
        shape.model_rebuild()
        pending += shape.__subclasses__()
