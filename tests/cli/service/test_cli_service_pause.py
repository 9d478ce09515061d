"""People pause, resume, reload and stop a service as it runs, and every place says so."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.cli.service.service import Service, Two, command, serve_platform

pytestmark = pytest.mark.story


@pytest.fixture
def environ() -> Iterator[dict[str, str]]:
    with TemporaryDirectory(dir="/tmp") as directory:
        yield {"RUNTIME_DIRECTORY": f"{directory}/syncd/syncd", "XDG_RUNTIME_DIR": directory}


def ask(service: Service, *words: object) -> tuple[int, str]:
    return command(*words, environ=service.environ)


def test_a_pause_is_told_everywhere_outlives_a_restart_and_is_no_failure(two: Two, environ: dict[str, str]) -> None:
    with serve_platform(two, environ) as service:
        service.hear("^ready")
        assert ask(service, "pause", "docs") == (0, "docs: paused until: syncd resume\n")
        two.edit("docs", "During")
        two.edit("other", "Working")
        service.run_again("^other: mirror main")
        assert not two.has("docs", "During")
    with serve_platform(two, environ) as service:
        service.hear("^ready")
        assert service.metric("syncd_paused", repository="docs") == 1
        assert service.metric("syncd_paused", repository="other") == 0
        ready = service.ask("/readyz")
        assert ready.status_code == 200
        assert ready.text.startswith("ready\ndocs: paused since ")
        code, text, document = service.status()
        assert code == 0
        assert "! the service has been paused since" in text
        assert document["repositories"][0]["run"]["pause"]["is_pause"]
        assert ask(service, "resume") == (0, "docs: resumed\nother: was not paused\n")
        service.hear("^docs: mirror main")
        assert two.has("docs", "During")
        two.config.write_text("[platform]\n")
        assert ask(service, "reload")[0] == 78
        two.write()
        assert ask(service, "reload") == (0, "the configuration was read again\n")
        assert ask(service, "stop") == (0, "the service has stopped\n")
        assert service.process.wait(60) == 0
        assert ask(service, "stop")[0] == 69
        assert list(Path(environ["RUNTIME_DIRECTORY"]).iterdir()) == []
