"""Shapes are built when they are first used, so that a mistake in one is found here and not by a user."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

import syncd.config.repository
import syncd.config.shapes
import syncd.model
from syncd.model.base import Observed, build_shapes


def list_shapes(of: type[BaseModel] = BaseModel) -> Iterator[type[BaseModel]]:
    for shape in of.__subclasses__():
        yield shape
        yield from list_shapes(shape)


def test_every_shape_can_be_built() -> None:
    for module in pkgutil.walk_packages(syncd.model.__path__, "syncd.model."):
        importlib.import_module(module.name)
    shapes = [shape for shape in list_shapes() if shape.__module__.startswith(("syncd.model", "syncd.config"))]
    assert len(shapes) > 100
    build_shapes()
    syncd.config.shapes.Config.model_rebuild()
    for shape in shapes:
        assert shape.__pydantic_complete__ or shape.__module__.startswith("syncd.config."), shape
    assert syncd.config.shapes.Config in shapes


def test_threads_may_use_a_shape_first_at_once() -> None:
    for number in range(20):
        shape = type(f"Shape{number}", (Observed,), {"__annotations__": {"id": str, "title": str}})
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n, shape=shape: shape.model_validate({"id": str(n), "title": "x"}), range(64)))
        assert [one.wire() for one in found] == [{"id": str(n), "title": "x"} for n in range(64)]


def test_no_pattern_counts_far() -> None:
    """A pattern that counts to thousands takes longer to build than all else; a length is said by `max_length`."""
    build_shapes()
    schemas = [shape.model_json_schema() for shape in list_shapes() if shape.__module__.startswith("syncd.")]
    pending: list[Any] = [syncd.config.shapes.Config.model_json_schema(), *schemas]
    patterns = set()
    while pending:
        part = pending.pop()
        if isinstance(part, dict):
            patterns |= {part["pattern"]} if isinstance(part.get("pattern"), str) else set()
            pending += part.values()
        elif isinstance(part, list):
            pending += part
    assert len(patterns) > 5
    assert not [each for each in patterns if any(int(n) > 128 for n in re.findall(r"\{\d*,?(\d+)\}", each))]


@pytest.mark.parametrize(
    ("section", "most"),
    [
        ({"token_command": ["p" * 4096]}, {"token_command": ["p" * 4097]}),
        ({"token_command": ["p"]}, {"token_command": [""]}),
    ],
)
def test_a_length_is_held(section: dict[str, Any], most: dict[str, Any]) -> None:
    shape = syncd.config.shapes.PlatformConfig
    assert shape.model_validate({"url": "https://x.example.org", **section})
    with pytest.raises(ValidationError):
        shape.model_validate({"url": "https://x.example.org", **most})


def test_other_lengths_are_held() -> None:
    upstream, target = syncd.config.repository.UpstreamConfig, syncd.config.shapes.NotificationTargetConfig
    for shape, member, good, bad in (
        (upstream, "username", "u" * 254, "u" * 255),
        (target, "url", "https://" + "u" * 2000, "https://" + "u" * 2001),
        (syncd.config.repository.ChangeRequestsConfig, "reviewers", ["r" * 254], ["r" * 255]),
    ):
        refused = []
        for value in (good, bad):
            try:
                shape.model_validate({member: value})
            except ValidationError as error:
                refused.append(any(member in one["loc"] for one in error.errors()))
            else:
                refused.append(False)
        assert refused == [False, True], member
