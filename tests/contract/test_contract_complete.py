"""Nothing of the API document is missing: each operation has a route, a role, a method of the client, and a probe."""

import inspect
import json
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from pydantic.alias_generators import to_camel

from syncd.api.client import Client
from syncd.api.operation import find_operation
from syncd.platform.app import create_app
from syncd.platform.people.auth import EXTENSION_KEY, ROLE_KEY
from tests.contract.probe import PROBES, collect
from tests.contract.world import routes_of
from tests.storages import new_storage

HERE = Path(__file__).parent
LISTED = HERE.parent.parent.parent / "shared" / "spec" / "operations.json"
OPERATIONS = {
    id: (method, path)
    for id, method, path in (
        line.split()
        for line in (HERE / "operations.txt").read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    )
}
DEPRECATED = {"moveSiteSection", "moveSiteSpace", "getSiteCustomizationById", "getSiteSpaceCustomizationById"}
UNSIGNED = {"downloadFile", "downloadPDF", "readPublishedOpenAPISpec"}

collect()


@pytest.fixture(scope="module")
def routes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, APIRoute]]:
    with new_storage(tmp_path_factory.mktemp("complete")) as storage:
        yield routes_of(create_app(storage))


def in_the_api(route: APIRoute) -> str:
    """Given a route, return its path as the API document writes it."""
    return "/".join(
        "{" + to_camel(part[1:-1].split(":")[0]) + "}" if "{" in part else part for part in str(route.path).split("/")
    )


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_operation_has_all_that_it_needs(operation: str, routes: dict[str, APIRoute]) -> None:
    assert operation in routes, "the server has no route for it"
    route = routes[operation]
    method, path = OPERATIONS[operation]
    assert route.methods == {method}
    assert in_the_api(route).replace("samlProviderID", "samlProviderId") == path
    assert bool(route.deprecated) == (operation in DEPRECATED)
    extra = route.openapi_extra or {}
    assert ROLE_KEY in extra, "it declares no role"
    assert EXTENSION_KEY not in extra, "it is in the API document"
    assert operation in called(), "the client has no method for it"
    assert operation in PROBES, "there is no probe for it"


def test_what_is_beyond_the_document_says_so_and_has_a_probe(routes: dict[str, APIRoute]) -> None:
    beyond = {id: route for id, route in routes.items() if id not in OPERATIONS and id not in UNSIGNED}
    assert [id for id, route in beyond.items() if not (route.openapi_extra or {}).get(EXTENSION_KEY)] == []
    assert [id for id in beyond if id not in PROBES] == []


def test_probes_and_methods_are_of_operations_that_exist(routes: dict[str, APIRoute]) -> None:
    assert set(PROBES) - set(routes) == set()
    assert set(called()) - set(routes) == set()


def test_what_is_listed_here_is_what_the_document_lists() -> None:
    if LISTED.exists():
        listed = json.loads(LISTED.read_text(encoding="utf-8"))
        assert {one["operation_id"]: (one["method"], one["path"]) for one in listed} == OPERATIONS
    assert len(OPERATIONS) == 138


def called() -> dict[str, str]:
    """Return, for each operation that the client can call, the name of its method."""
    with Client("https://example.com", "a-token-of-no-one-at-all") as client:
        names = [name for name, value in vars(Client).items() if isinstance(value, cached_property)]
        groups = {name: getattr(client, name) for name in names}
    found: dict[str, str] = {}
    for name, group in groups.items():
        for method, call in inspect.getmembers(group, callable):
            id = find_operation(call)
            if id is not None:
                assert id not in found, f"{id} is {found[id]} and {name}.{method}"
                found[id] = f"{name}.{method}"
    return found
