"""A service that hears webhooks over real HTTP: each wakes one run, and carries nothing into it."""

import socket
import subprocess
import time
from collections.abc import Iterator

import httpx
import pytest

from syncd.daemon.hooks.receiver import BODY_BYTES_MAX
from tests.cli.conftest import Shell
from tests.cli.service.service import Two, command, serve_platform
from tests.daemon.hooks.payloads import SECRET, Signed, make_github, make_platform, sign_github
from tests.serving_git import TOKEN, GitServer, serve_git

pytestmark = pytest.mark.story


@pytest.fixture
def host(shell: Shell) -> Iterator[GitServer]:
    """A Git host with the branch of `docs`, as a team's."""
    root = shell.root / "host" / "acme"
    root.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", root / "docs.git"], check=True)
    with serve_git(shell.root / "host") as server:
        yield server


class Hooked:
    """The address that webhooks go to, and the configuration that says so."""

    def __init__(self, two: Two, more: str = "") -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.url = f"http://127.0.0.1:{free.getsockname()[1]}"
        secret = two.shell.root / "webhook-secret"
        secret.write_text(f"{'a former secret' * 2}\n{SECRET}\n".replace(" ", "-"))
        secret.chmod(0o600)
        two.write()
        lines = [two.config.read_text(), more, "[webhooks]", f'listen = "{self.url.removeprefix("http://")}"']
        lines += ["interval = 1"]
        for kind in ("github", "platform"):
            lines += ["[[webhooks.source]]", f'name = "{kind}"', f'kind = "{kind}"', f'secret_file = "{secret}"']
        two.config.write_text("\n".join(lines))

    def post(self, source: str, signed: Signed) -> tuple[int, str]:
        headers, body = signed
        answer = httpx.post(f"{self.url}/hooks/{source}", headers=headers, content=body)
        return answer.status_code, answer.text.strip()


def stamp(type: str, space: str) -> Signed:
    return make_platform(space, int(time.time()), type)


def test_a_webhook_of_the_platform_brings_its_change_at_once(two: Two) -> None:
    hooked = Hooked(two)
    with serve_platform(two) as service:
        service.hear("ready")
        two.edit("other", "Told by a webhook")
        assert hooked.post("platform", stamp("space_content_updated", two.spaces["other"])) == (202, "woken: other")
        service.hear_all("webhook of platform: 202, woken: other", "other: mirror main")
        assert two.has("other", "Told by a webhook")
        assert hooked.post("platform", stamp("page_feedback", two.spaces["other"])) == (204, "")
        assert hooked.post("platform", sign_github(b"{}"))[0] == 401
        service.hear("webhook of platform: 401")
        assert service.metric("syncd_webhooks_total", source="platform", status="202") == 1
        assert service.metric("syncd_webhooks_total", source="platform", status="204") == 1
        assert service.metric("syncd_webhooks_total", source="platform", status="401") == 1


def test_a_push_to_the_host_arrives_by_its_webhook(two: Two, host: GitServer) -> None:
    url, shell = f"{host.url}/acme/docs.git", two.shell
    token = shell.root / "git-token"
    token.write_text(TOKEN)
    token.chmod(0o600)
    bare = shell.root / "host" / "acme" / "docs.git"
    shell.git("push", "--quiet", str(bare), "main", cwd=two.docs)
    upstream = f'[repository.upstream]\nurl = "{url}"\ntoken_file = "{token}"\n'
    hooked = Hooked(two)
    text = two.config.read_text()
    head, mark, tail = text.rpartition("[[repository]]")
    two.config.write_text(f"{head}{upstream}{mark}{tail}")
    with serve_platform(two) as service:
        service.hear("ready")
        clone = shell.root / "colleague"
        shell.git("clone", "--quiet", str(bare), str(clone), cwd=shell.root)
        (clone / "use.md").write_text("# Use\n\nPushed by a colleague.\n")
        shell.git("commit", "--quiet", "--all", "--message", "By a colleague", cwd=clone)
        shell.git("push", "--quiet", "origin", "main", cwd=clone)
        place = host.url.removeprefix("http://")
        assert hooked.post("github", make_github(place, ref="refs/heads/else")) == (204, "")
        assert hooked.post("github", make_github(place)) == (202, "woken: docs")
        service.hear_all("docs: upstream", "docs: propose main/main")
        assert (two.docs / "use.md").read_text() == "# Use\n\nPushed by a colleague.\n"


def test_what_is_too_large_too_slow_or_not_http_is_refused(two: Two) -> None:
    hooked = Hooked(two)
    host, port = hooked.url.removeprefix("http://").split(":")
    with serve_platform(two) as service:
        service.hear("ready")
        large = sign_github(b" " * (BODY_BYTES_MAX + 1))
        assert hooked.post("github", large)[0] == 413
        assert httpx.get(f"{hooked.url}/hooks/github").status_code == 405
        assert httpx.get(f"{hooked.url}/metrics").status_code == 404
        with socket.create_connection((host, int(port))) as long, long.makefile("rb") as answer:
            long.sendall(b"POST /hooks/github HTTP/1.1\r\nHost: h\r\nX-Long: " + b"x" * (1 << 15))
            assert answer.readline().split()[1] in (b"431", b"400")
        with socket.create_connection((host, int(port))) as broken, broken.makefile("rb") as answer:
            broken.sendall(b"\x16\x03\x01\r\n\r\n")
            assert answer.readline().split()[1] == b"400"
        with socket.create_connection((host, int(port))) as slow, slow.makefile("rb") as answer:
            slow.settimeout(60)
            slow.sendall(b"POST /hooks/github HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\n{")
            assert answer.read() == b""
        assert hooked.post("github", sign_github(b"{}", "ping"))[0] == 204
        assert service.metric("syncd_webhooks_total", source="unknown", status="413") == 1


def test_nothing_of_a_configuration_counts_that_is_refused_as_a_whole(two: Two) -> None:
    hooked = Hooked(two)
    with serve_platform(two) as service:
        service.hear("ready")
        two.write()
        text = two.config.read_text()
        two.config.write_text(f"{text}\n[[repository]]{text.split('[[repository]]')[1]}")
        assert command("reload", "--config", two.config, environ=service.environ)[0] == 78
        service.hear("is configured twice")
        assert hooked.post("github", sign_github(b"{}", "ping"))[0] == 204


def test_a_new_secret_counts_after_a_reload_and_a_wrong_one_leaves_all_as_it_was(two: Two) -> None:
    hooked, new = Hooked(two), "a-new-secret-of-this-sender"
    secret = two.shell.root / "webhook-secret"
    with serve_platform(two) as service:
        service.hear("ready")
        assert hooked.post("github", sign_github(b"{}", "ping", new))[0] == 401
        secret.chmod(0o644)
        code, _ = command("reload", "--config", two.config, environ=service.environ)
        assert code == 78
        service.hear("others may read the secret_file of webhooks.source github")
        assert hooked.post("github", sign_github(b"{}", "ping"))[0] == 204
        secret.write_text(f"{new}\n")
        secret.chmod(0o600)
        assert command("reload", "--config", two.config, environ=service.environ)[0] == 0
        assert hooked.post("github", sign_github(b"{}", "ping", new))[0] == 204
        assert hooked.post("github", sign_github(b"{}", "ping"))[0] == 401
