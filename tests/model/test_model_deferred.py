"""Shapes are built when they are first used, so that a mistake in one is found here and not by a user."""

import importlib
import pkgutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from pydantic import BaseModel

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
        assert shape.__pydantic_complete__ or shape.__module__ == "syncd.config.shapes", shape
    assert syncd.config.shapes.Config in shapes


def test_threads_may_use_a_shape_first_at_once() -> None:
    for number in range(20):
        shape = type(f"Shape{number}", (Observed,), {"__annotations__": {"id": str, "title": str}})
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda n, shape=shape: shape.model_validate({"id": str(n), "title": "x"}), range(64)))
        assert [one.wire() for one in found] == [{"id": str(n), "title": "x"} for n in range(64)]
