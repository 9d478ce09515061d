"""Both ways out, a download of the daemon and a fetch of the platform, against every address that neither may reach."""

from collections.abc import Callable, Sequence
from io import BytesIO

import httpx
import pytest

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.errors import Rejected, SyncdError
from syncd.model.file import File
from syncd.net.exchange import Network, open_stream
from syncd.net.failures import NetworkError
from tests.net.hostile import HIDDEN_HOSTS, NOT_PUBLIC, PUBLIC

Way = Callable[[str, Callable[[str, int], list[str]]], object]


def download(url: str, resolve: Callable[[str, int], list[str]]) -> int:
    """Let the daemon download a file from an address that the platform gave it; a request fails the test."""

    def reached(request: httpx.Request) -> httpx.Response:
        raise AssertionError(f"{request.url} was asked")

    with Client(
        "https://api.example.com", "t", ClientOptions(transport=httpx.MockTransport(reached), resolve=resolve)
    ) as client:
        return client.content.download(File(id="f1", name="a.png", download_url=url), BytesIO())


def fetch(url: str, resolve: Callable[[str, int], list[str]]) -> object:
    """Let the platform fetch an address that a caller gave it; a connection fails the test, since none is let out."""
    with open_stream("GET", url, network=Network(resolve=resolve)) as answer:
        return answer.read_body()


@pytest.fixture(params=[download, fetch])
def way(request: pytest.FixtureRequest) -> Way:
    found: Way = request.param
    return found


def answering(addresses: Sequence[str], asked: list[str]) -> Callable[[str, int], list[str]]:
    def resolve(host: str, port: int) -> list[str]:
        asked.append(host)
        return list(addresses)

    return resolve


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_no_name_leads_to_an_address_that_is_not_public(way: Way, address: str) -> None:
    for addresses in ([address], [PUBLIC[0], address], [address, PUBLIC[0]]):
        with pytest.raises((Rejected, NetworkError), match="not a public"):
            way("https://cdn.example/a?sig=hush", answering(addresses, []))


@pytest.mark.parametrize("host", [*HIDDEN_HOSTS, "127.0.0.1", "[::1]", "[::ffff:7f00:1]", "[::]", "169.254.169.254"])
@pytest.mark.parametrize("port", ["", ":8443"])
def test_no_spelling_of_an_address_gets_past_the_filter_or_to_a_resolver(way: Way, host: str, port: str) -> None:
    asked: list[str] = []
    with pytest.raises((Rejected, NetworkError)):
        way(f"https://{host}{port}/", answering([PUBLIC[0]], asked))
    assert asked == []


def test_a_name_without_an_address_is_an_error_of_its_own(way: Way) -> None:
    with pytest.raises((SyncdError, NetworkError), match="no address"):
        way("https://nowhere.example/", answering([], []))
