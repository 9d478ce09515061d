"""The product's own client library drives a real server: every method that it has for the operations of the document.

`.ci/run` installs the releases by name and says where in SYNCD_TEST_GITBOOK_API; CONTRIBUTING.md has the command.
"""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic.alias_generators import to_camel

from tests.contract.probe import ABSENT, PROBES, collect
from tests.contract.targets import open_target
from tests.contract.test_contract_complete import OPERATIONS
from tests.contract.world import Target, World

collect()

pytestmark = [pytest.mark.client, pytest.mark.timeout(900)]

METHODS = {"0.146.0": 138, "0.167.0": 132, "0.202.0": 125}
"""The releases, and for how many of the operations each has a method."""

Call = Callable[[World, str], dict[str, Any]]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    with open_target(tmp_path_factory.mktemp("client")) as target:
        yield target


@pytest.fixture(scope="module", params=METHODS)
def call(request: pytest.FixtureRequest, served: Target) -> Iterator[Call]:
    """Calls an operation through one release of the library, in one process of Node for all of its tests."""
    library = Path(os.environ["SYNCD_TEST_GITBOOK_API"]) / request.param / "node_modules" / "@gitbook" / "api"
    driver = Path(__file__).with_name("gitbook_client.mjs")
    words = ["node", str(driver), str(library), str(served.client.base_url).rstrip("/")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as node:
        assert node.stdin is not None
        assert node.stdout is not None
        send, receive = node.stdin, node.stdout

        def through(world: World, operation: str) -> dict[str, Any]:
            ask = PROBES[operation](world)
            values = {"organizationId": world.organization, **ask.path}
            names = [part[1:-1] for part in served.routes[operation].path_format.split("/") if part.startswith("{")]
            path = [values[to_camel(name)] for name in names]
            body = None if ask.body is ABSENT else ask.body
            line = {"operation": operation, "token": world.http, "path": path, "query": dict(ask.query), "body": body}
            send.write(json.dumps(line) + "\n")
            send.flush()
            reply: dict[str, Any] = json.loads(receive.readline())
            return {"release": request.param, "ask": ask, **reply}

        yield through
        send.close()


def test_every_method_is_answered(served: Target, call: Call) -> None:
    """One test for all, as what is asked is one thing: that the library never throws where the server succeeds."""
    found, wrong = 0, {}
    for operation in sorted(OPERATIONS):
        reply = call(served.world(), operation)
        if "missing" in reply:
            continue
        found += 1
        expected = reply["ask"].status
        if expected >= 400:
            assert reply.get("status") == expected, operation
        elif "error" in reply:
            wrong[operation] = reply["error"]
    assert wrong == {}
    assert found == METHODS[reply["release"]]


def test_ask_is_read_to_its_end(served: Target, call: Call) -> None:
    reply = call(served.world(), "streamAskInSite")
    assert "error" not in reply, reply.get("error")
    last = reply["answer"]["events"][-1]
    assert last["type"] == "answer"
    assert "choose PDF to export a space" in json.dumps(last["answer"]["answer"])
