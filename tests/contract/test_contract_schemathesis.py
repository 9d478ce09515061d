"""No request that the platform's own document allows, or nearly allows, makes it fail or answer in another shape.

Ids of things that exist take the place of most generated ones: a request that finds nothing proves little.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.contract.probe import PROBES, collect
from tests.contract.targets import open_target
from tests.contract.world import Target, World

collect()
pytestmark = pytest.mark.long

EXAMPLES = int(os.environ.get("SYNCD_TEST_EXAMPLES", "12"))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """A platform over a socket, as a client of any kind would reach it."""
    with open_target(tmp_path_factory.mktemp("schemathesis")) as target:
        yield target


@pytest.fixture(scope="module")
def document(target: Target) -> Any:
    """What the platform says of itself, in Schemathesis's form."""
    return schemathesis.openapi.from_dict(target.client.get("/openapi.json").json())


@pytest.mark.parametrize("operation", sorted(PROBES))
def test_no_request_breaks_it(world: World, document: Any, operation: str) -> None:
    ask = PROBES[operation](world)
    described = document.find_operation_by_id(operation)
    real = {"organizationId": world.organization, **ask.path}

    @settings(
        max_examples=EXAMPLES,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(data=st.data())
    def every(data: st.DataObject) -> None:
        mode = data.draw(st.sampled_from([GenerationMode.POSITIVE, GenerationMode.NEGATIVE]))
        case = data.draw(described.as_strategy(generation_mode=mode))
        if data.draw(st.integers(0, 3)):
            case.path_parameters = {**case.path_parameters, **{_snake(name): id for name, id in real.items()}}
        answer = case.call(
            base_url=str(world.target.client.base_url), headers={"Authorization": f"Bearer {world.http}"}
        )
        case.validate_response(answer, checks=CHECKS)

    every()


def _snake(name: str) -> str:
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
