"""`.gitbook/vars.yaml` and `.gitbook/tags.yaml`: a space's variables and tags as files."""

from collections.abc import Iterable, Mapping
from typing import Any

from syncd.errors import FileInvalid
from syncd.layout.page.tag_forms import read_space_tag, write_space_tag
from syncd.layout.yaml import yaml
from syncd.model.page import Scalar
from syncd.model.text import quote_name

VARIABLES = ".gitbook/vars.yaml"
TAGS = ".gitbook/tags.yaml"


def parse_variables(text: str, *, at: str = VARIABLES) -> dict[str, Scalar]:
    """Return the variables of `vars.yaml` in order; {} for an empty file.

    Raises: FileInvalid for anything but a flat mapping to strings, numbers and booleans.
    """
    located = yaml.load_located(text, at=at)
    value = {} if located.value is None else located.value
    if not isinstance(value, dict):
        raise FileInvalid("is not a mapping", path=at)
    for name, variable in value.items():
        if not isinstance(variable, str | bool | int | float):
            line, column = located.positions[(name,)]
            raise FileInvalid(
                f"{quote_name(str(name))} is not a string, number or boolean", path=at, line=line, column=column
            )
    return value


def render_variables(variables: Mapping[str, Scalar]) -> str:
    """Return variables as the text of `vars.yaml`."""
    return yaml.dump(dict(variables))


def parse_tags(text: str, *, at: str = TAGS) -> tuple[dict[str, Any], ...]:
    """Return the tags of `tags.yaml` in order and in the API's form, with all their members.

    Raises: FileInvalid for anything but a list of mappings.
    """
    located = yaml.load_located(text, at=at)
    value = [] if located.value is None else located.value
    if not isinstance(value, list):
        raise FileInvalid("is not a list", path=at)
    for index, member in enumerate(value):
        if not isinstance(member, dict):
            line, column = located.positions[(index,)]
            raise FileInvalid("is not a mapping", path=at, line=line, column=column)
    return tuple(map(read_space_tag, value))


def render_tags(tags: Iterable[Mapping[str, Any]]) -> str:
    """Return tags as the text of `tags.yaml`."""
    return yaml.dump([write_space_tag(tag) for tag in tags])
