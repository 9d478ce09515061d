"""`syncd web` and the status page of a service as it runs: sign in, look, follow a run, settle nothing, restart."""

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import pytest

from tests.cli.conftest import Shell
from tests.cli.service.service import Service, Two, command, serve_platform

pytestmark = pytest.mark.story


@pytest.fixture
def two(shell: Shell) -> Two:
    return Two(shell)


@pytest.fixture
def environ() -> Iterator[dict[str, str]]:
    with TemporaryDirectory(dir="/tmp") as directory:
        yield {"RUNTIME_DIRECTORY": f"{directory}/syncd/syncd", "XDG_RUNTIME_DIR": directory}


@contextmanager
def sign_in(service: Service) -> Iterator[httpx.Client]:
    """A browser that is signed in by the link of `syncd web`, and asks as long as the block lasts."""
    code, text = command("web", "--json", environ=service.environ)
    assert code == 0, text
    found = json.loads(text)
    with httpx.Client(base_url=f"http://{found['page']}", follow_redirects=True, timeout=60) as browser:
        assert browser.get(found["link"]).status_code == 200
        assert httpx.get(found["link"]).status_code == 401
        yield browser


def test_the_page_shows_the_service_follows_a_run_and_ends_with_it(two: Two, environ: dict[str, str]) -> None:
    with ExitStack() as stack, serve_platform(two, environ) as service:
        service.hear("^ready")
        browser = stack.enter_context(sign_in(service))
        overview = browser.get("/").text
        assert "All in step" in overview
        assert re.search(r'href="/space/docs/main".*main</a>', overview)
        version = re.search(r'data-version="(\w+)"', overview)
        assert version is not None
        with browser.stream("GET", f"/events?seen={version[1]}") as events:
            lines = events.iter_lines()
            assert next(lines) == "retry: 2000"
            two.edit("docs", "During")
            service.run_again("^docs: mirror main")
            assert next(line for line in lines if line.startswith("event")) == "event: changed"
        assert two.has("docs", "During")
        assert "<td>revision</td>" in browser.get("/operations").text
        assert browser.get("/repository/docs").status_code == browser.get("/space/other/main").status_code == 200
        code, text = command("web", environ=service.environ)
        assert code == 0
        assert re.match(r"http://127\.0\.0\.1:\d+/sign-in\?link=\S+\nIt works once, within 60 seconds\.\n", text)
        address = str(browser.base_url)
    with pytest.raises(httpx.ConnectError):
        httpx.get(address)
    assert command("web", environ=service.environ)[0] == 69


def test_a_conflict_is_shown_with_both_sides(two: Two, environ: dict[str, str]) -> None:
    page: Path = two.docs / "use.md"
    page.write_text(page.read_text().replace(page.read_text().splitlines()[-1], "Mine."))
    two.shell.git("commit", "-qam", "Say mine", cwd=two.docs)
    two.edit("docs", "Theirs")
    with ExitStack() as stack, serve_platform(two, environ) as service:
        service.hear("^ready")
        browser = stack.enter_context(sign_in(service))
        overview = browser.get("/").text
        found = re.search(r'href="(/conflict\?[^"]+)"', overview)
        assert found is not None, overview
        assert "syncd resolve use.md" in overview
        conflict = browser.get(found[1].replace("&amp;", "&")).text
        assert "Mine." in conflict
        assert "Theirs." in conflict
