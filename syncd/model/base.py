"""The two kinds of shape: what we send is strict, what we receive is tolerant."""

from typing import Any, Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Declared(BaseModel):
    """What syncd sends or a person writes: an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """Given this shape, return its JSON object with only what was set: unset, null and value stay three states."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


class Observed(BaseModel):
    """What the platform answers: unknown fields and unknown enum values are kept and given back."""

    model_config = ConfigDict(frozen=True, extra="allow", alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """Given this shape, return the JSON object it came from, unknown members included."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)

    def amend(self, **changes: Any) -> Self:
        """Given new field values, return a copy that has them set."""
        return self.model_copy(update=changes)
