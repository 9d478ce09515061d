"""A site's endpoint for agents, over a socket and with the public client of the protocol."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from syncd.platform.publish.settings import DEFAULT
from tests.contract.targets import open_target
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, page

SECRET = "The handshake is done with the left hand."
MIXED = f"Everybody waves.\n\n{{% if {CLAIM} %}}\n\n{SECRET}\n\n{{% endif %}}"
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
ACCEPT = {"Accept": "application/json, text/event-stream"}
JSON = ACCEPT | {"Content-Type": "application/json"}


def switch_on(made: PublishedSiteMaker, is_on: bool = True) -> None:
    """Given a site, switch its endpoint for agents on or off."""
    settings = DEFAULT | {"pageActions": {"externalAI": False, "markdown": True, "mcp": is_on}}
    made.world.made("updateSiteCustomizationById", made.path, body=settings)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_target(tmp_path / "platform") as target:
        made = PublishedSiteMaker(target.world())
        staff = page("Canteen", "The canteen plan.")
        staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
        made.world.write(made.guides, [page("Mixed", MIXED), staff])
        switch_on(made)
        yield made


class Agent:
    """An agent that calls the tools of a site, with a visitor's token and the key of a share link or without."""

    def __init__(self, made: PublishedSiteMaker, token: str = "", key: str = "") -> None:
        base = str(made.world.target.client.base_url).rstrip("/")
        self.address = f"{base}{made.base}/{key + '/' if key else ''}~mcp"
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def call(self, tool: str, **arguments: Any) -> tuple[str, bool]:
        """Given a tool and its arguments, return the text of its answer, and whether it is an error."""
        return asyncio.run(self._call(tool, arguments))

    def list_tools(self) -> list[Any]:
        """Return the tools of the site."""
        return asyncio.run(self._list())

    async def _call(self, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
        async with (
            httpx2.AsyncClient(headers=self.headers, trust_env=False) as http,
            Client(streamable_http_client(self.address, http_client=http)) as client,
        ):
            found = await client.call_tool(tool, arguments)
            return "".join(getattr(one, "text", "") for one in found.content), bool(found.is_error)

    async def _list(self) -> list[Any]:
        async with (
            httpx2.AsyncClient(headers=self.headers, trust_env=False) as http,
            Client(streamable_http_client(self.address, http_client=http)) as client,
        ):
            return list((await client.list_tools()).tools)


def post(made: PublishedSiteMaker, path: str = "/~mcp", **headers: str) -> int:
    """Given headers, return the status of a request for the tools of a site."""
    client = made.world.target.client
    return client.post(made.base + path, json=INITIALIZE, headers=ACCEPT | headers).status_code


def test_an_agent_searches_and_reads(made: PublishedSiteMaker) -> None:
    agent = Agent(made)
    tools = {tool.name: tool for tool in agent.list_tools()}
    assert set(tools) == {"search_docs", "read_page"}
    assert all(tool.description and tool.input_schema["required"] for tool in tools.values())
    found, is_error = agent.call("search_docs", query="setup")
    address = found.partition("](")[2].partition(")")[0]
    assert ("[Setup]" in found, is_error, address) == (True, False, agent.address.replace("~mcp", "setup"))
    text, is_error = agent.call("read_page", address=address)
    assert (text.startswith("# Setup"), is_error) == (True, False)
    for other in ("/setup", "setup.md", "setup/index.md", f"{made.base}/setup", "/guides/setup"):
        assert agent.call("read_page", address=other) == (text, False)
    assert agent.call("search_docs", query="nowhere at all")[0] == "No page has all of these words."


@pytest.mark.parametrize("address", ["/none", "https://example.com/setup", "http://[", "/~syncd/site.css"])
def test_what_is_no_page_is_an_error_of_the_tool(made: PublishedSiteMaker, address: str) -> None:
    text, is_error = Agent(made).call("read_page", address=address)
    assert (text, is_error) == ("There is no page at this address.", True)


def test_what_is_no_tool_is_an_error_of_the_tool(made: PublishedSiteMaker) -> None:
    assert Agent(made).call("delete_page", address="/setup")[1]
    assert Agent(made).call("read_page", query="/setup")[1]
    assert Agent(made).call("search_docs", query=7)[1]


def test_an_agent_sees_what_its_visitor_sees(made: PublishedSiteMaker) -> None:
    known = {"nobody": Agent(made), "staff": Agent(made, made.sign(isStaff=True))}
    for name, agent in known.items():
        is_staff = name == "staff"
        assert ("left hand" in agent.call("read_page", address="/mixed")[0]) is is_staff
        assert ("[Mixed]" in agent.call("search_docs", query="handshake")[0]) is is_staff
        assert agent.call("read_page", address="/canteen")[1] is not is_staff
        assert ("[Secrets]" in agent.call("search_docs", query="vault")[0]) is is_staff
        assert agent.call("read_page", address="/internal")[1] is not is_staff


def test_each_visibility_holds_for_agents(made: PublishedSiteMaker) -> None:
    made.world.made("updateSiteById", made.path, body={"visibility": "share-link"})
    key = made.add_share_link()
    assert (post(made), post(made, f"/{key}x/~mcp"), post(made, f"/{key}/~mcp")) == (404, 404, 200)
    assert "[Setup]" in Agent(made, key=key).call("search_docs", query="setup")[0]
    made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
    forged = made.sign()[:-6] + "AAAAAA"
    signed = {"Authorization": f"Bearer {made.sign()}"}
    assert (post(made), post(made, Authorization=f"Bearer {forged}"), post(made, **signed)) == (401, 401, 200)
    assert "[Setup]" in Agent(made, made.sign()).call("search_docs", query="setup")[0]
    made.world.made("unpublishSite", made.path)
    assert post(made, **signed) == 404


def test_only_what_is_switched_on_answers(made: PublishedSiteMaker) -> None:
    client = made.world.target.client
    assert post(made) == 200
    assert client.get(f"{made.base}/~mcp").status_code == 405
    assert post(made, Origin="https://example.com") == 403
    admitted = JSON | {"Authorization": f"Bearer {made.world.http}"}
    large = client.post(f"{made.base}/~mcp", content=b" " * 70_000, headers=admitted)
    assert large.status_code == 413
    for body in (b"", b"{", b"[]", b"null", b'{"jsonrpc": "2.0"}', b"\xff"):
        answer = client.post(f"{made.base}/~mcp", content=body, headers=JSON)
        assert 400 <= answer.status_code < 500
    switch_on(made, is_on=False)
    assert post(made) == 404
    assert client.get(f"{made.base}/~mcp").status_code == 404
