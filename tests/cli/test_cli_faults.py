"""Whatever is wrong: one clear message, its exit code, and nothing half-done."""

import http.server
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.forked import start_syncd
from tests.sampling import sample_cases


class Html(http.server.BaseHTTPRequestHandler):
    """A login page where an API should be."""

    def do_GET(self) -> None:
        body = b"<!doctype html><title>Sign in</title>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the test reads stderr."""


@pytest.fixture
def html() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Html) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("error:")]
    return line


def test_a_wrong_token(shell: Any, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("wrong\n")
    token.chmod(0o600)
    done = shell.syncd("clone", shell.url, shell.space, tmp_path / "docs", "--token-file", token)
    assert done.returncode == 77
    assert "token" in complaint(done)
    assert not (tmp_path / "docs").exists()


def test_a_token_that_others_can_read(shell: Any, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(shell.token.read_text())
    token.chmod(0o644)
    done = shell.syncd("clone", shell.url, shell.space, tmp_path / "docs", "--token-file", token)
    assert done.returncode == 78
    assert "chmod 600" in done.stderr


def test_nothing_listens(shell: Any, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    done = shell.syncd("clone", f"http://127.0.0.1:{port}", shell.space, tmp_path / "docs", "--token-file", shell.token)
    assert done.returncode == 69
    assert f"127.0.0.1:{port}" in complaint(done)
    assert "after 5 tries (" in complaint(done), "the tries took no time; the pauses between them did"


def test_a_space_that_does_not_exist(shell: Any, tmp_path: Path) -> None:
    done = shell.syncd("clone", shell.url, "nosuchspace", tmp_path / "docs", "--token-file", shell.token)
    assert done.returncode == 78
    assert "nosuchspace" in complaint(done)
    assert not (tmp_path / "docs").exists()


def test_html_where_the_api_should_be(shell: Any, tmp_path: Path, html: str) -> None:
    done = shell.syncd("clone", html, shell.space, tmp_path / "docs", "--token-file", shell.token)
    assert done.returncode == 69
    assert "something answers there, but not its API" in done.stderr


def test_the_daemon_s_own_repository_goes_on_after_html(shell: Any, html: str) -> None:
    docs = shell.clone()
    before = shell.git("rev-parse", "main", "platform/main", cwd=docs)
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace(shell.url, html))
    done = shell.syncd("sync", "--config", config, cwd=docs)
    assert done.returncode == 69
    assert shell.git("rev-parse", "main", "platform/main", cwd=docs) == before
    config.write_text(config.read_text().replace(html, shell.url))
    shell.fine("sync", "--config", config, cwd=docs)


def test_a_dirty_work_tree(shell: Any) -> None:
    docs = shell.clone()
    (docs / "use.md").write_text("unsaved\n")
    source = shell.root / "source"
    (source / "use.md").write_text("# Use\n\nTheirs.\n")
    shell.fine("platform", "import", source, "--data", shell.data, "--space", shell.space)
    done = shell.syncd("pull", cwd=docs)
    assert done.returncode == 5
    assert "use.md" in done.stdout
    assert (docs / "use.md").read_text() == "unsaved\n"


def test_a_repository_in_the_middle_of_a_rebase(shell: Any) -> None:
    docs = shell.clone()
    shell.git("checkout", "--quiet", "-b", "other", cwd=docs)
    (docs / "use.md").write_text("# Use\n\nOther.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Other", cwd=docs)
    shell.git("checkout", "--quiet", "main", cwd=docs)
    (docs / "use.md").write_text("# Use\n\nMine.\n")
    shell.git("commit", "--quiet", "--all", "--message", "Mine", cwd=docs)
    stopped = subprocess.run(["git", "rebase", "other"], cwd=docs, capture_output=True, check=False)
    assert stopped.returncode
    source = shell.root / "source"
    (source / "install.md").write_text("# Install\n\nTheirs.\n")
    shell.fine("platform", "import", source, "--data", shell.data, "--space", shell.space)
    before = shell.git("status", "--porcelain", cwd=docs)
    done = shell.syncd("pull", cwd=docs)
    assert done.returncode == 5
    assert "rebase" in done.stdout
    assert shell.git("status", "--porcelain", cwd=docs) == before
    shell.git("rebase", "--abort", cwd=docs)
    shell.fine("pull", cwd=docs)


@pytest.mark.long
@pytest.mark.parametrize("room", sample_cases([150, 400], kept=(0,)))
def test_a_full_disk(shell: Any, tmp_path: Path, room: int) -> None:
    """A run on a file system without room fails with one message; with room, the next run repairs it."""
    docs = shell.clone()
    source = shell.root / "source"
    text = "# Use\n\n" + "".join(f"{n * 7919 % 100003:x} " for n in range(200_000)) + "\n"
    (source / "use.md").write_text(text)
    shell.fine("platform", "import", source, "--data", shell.data, "--space", shell.space)
    small = tmp_path / "small"
    small.mkdir()
    script = (
        'mount -t tmpfs -o size="$1"k tmpfs "$2" && cp -a "$3/." "$2" && cd "$2" && rm -f "$5" && '
        '"$4" -m syncd sync --config .git/syncd.toml; code=$?; git -C "$2" fsck --no-progress 2>&1 | grep -v dangling; '
        'git -C "$2" rev-parse main platform/main; '
        'mount -o remount,size=64m "$2" && "$4" -m syncd sync --config .git/syncd.toml >&2 && '
        'cmp use.md "$6" && git status --porcelain; exit $code'
    )
    used = sum(path.stat().st_blocks for path in docs.rglob("*")) // 2
    words = [used + room, small, docs, sys.executable, ".git/syncd/ballast", source / "use.md"]
    command = ["unshare", "-Urm", "sh", "-c", script, "sh", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    tip = shell.git("rev-parse", "main", cwd=docs)
    assert done.returncode == 1, done.stdout + done.stderr
    # Git has two sentences for it.
    assert re.search("no space|out of diskspace", (done.stdout + done.stderr).lower())
    assert done.stdout.endswith(tip * 2), done.stdout


@pytest.mark.long
def test_a_site_that_a_full_disk_does_not_take_is_built_once_there_is_room(tmp_path: Path) -> None:
    docs, small = tmp_path / "docs", tmp_path / "small"
    for directory in (docs, small):
        directory.mkdir()
    (docs / "README.md").write_text("# Home\n\nWelcome.\n")
    script = (
        'cd "$3" && mount -t tmpfs -o size=16k tmpfs "$1" && "$2" -m syncd site build "$1/site"; code=$?; '
        'mount -o remount,size=64m "$1" && "$2" -m syncd site build "$1/site" && cat "$1/site/index.html"; exit $code'
    )
    command = ["unshare", "-Urm", "sh", "-c", script, "sh", *map(str, (small, sys.executable, docs))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"error: no space is left for {small}/site"), done.stderr
    assert "Traceback" not in done.stderr
    assert "Welcome." in done.stdout


@pytest.mark.parametrize(
    ("words", "file"),
    [
        (("man", "pages"), "pages/syncd.1"),
        (("doctor", "--config", "none", "--bundle", "b.json"), "b.json"),
        (("site", "build", "out", "--from", "docs"), "/out"),
    ],
    ids=["man", "doctor", "site build"],
)
def test_a_limit_on_the_size_of_files_is_named(tmp_path: Path, words: tuple[str, ...], file: str) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Home\n\n" + "Welcome. " * 1000)
    # Python would cut off what it compiles, too, and take it for good the next time.
    command = ["sh", "-c", 'ulimit -f 1 && exec "$@"', "sh", sys.executable, "-B", "-m", "syncd", *words]
    for _ in range(2):  # the first try leaves nothing that the second one stumbles over
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 1, done.stderr
        assert re.search(f"^error: no space is left for .*{file}: it meets a limit on the size", done.stderr)
        assert "ulimit -f" in done.stderr


@pytest.mark.long
def test_a_full_disk_is_named_by_what_writes_files_there(shell: Any, tmp_path: Path) -> None:
    small = tmp_path / "small"
    small.mkdir()
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "README.md").write_text("# Home\n\n" + "Welcome. " * 1000)
    commands = {
        "platform import": ["platform", "import", tmp_path / "docs", "--data", small / "new"],
        "platform backup": ["platform", "backup", small / "copy", "--data", shell.data],
        "platform export": ["platform", "export", shell.space, small / "export", "--data", shell.data],
        "man": ["man", small / "pages"],
        "doctor": ["doctor", "--config", tmp_path / "none", "--bundle", small / "b.json"],
    }
    script = 'mount -t tmpfs -o size=16k tmpfs "$1" && head -c "$2" /dev/zero > "$1/file"; shift 2; "$@"'
    for name, words in commands.items():
        # A little room lets a platform begin with its files, before the database finds none.
        filled = "8k" if name.startswith("platform") else "16k"
        command = ["unshare", "-Urm", "sh", "-c", script, "sh", small, filled, sys.executable, "-m", "syncd", *words]
        done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=100, check=False)
        assert done.returncode == 1, (name, done.stderr)
        assert re.search(f"^error: no space is left for .*{small}", done.stderr), (name, done.stderr)
        assert done.stderr.endswith("  hint: make room on that disk, then run again\n"), name


@pytest.mark.parametrize("words", [("--version",), ("explain", "all")])
def test_output_that_is_written_to_a_full_disk_is_no_success(words: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "syncd", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=100, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "error: no space is left for what was to be written",
        "  hint: make room on that disk, then run again",
    ]


@pytest.mark.long
@pytest.mark.parametrize("loss", ["read-only", "full"])
def test_where_nothing_can_be_written_the_status_is_shown_and_the_doctor_says_why(
    shell: Any, tmp_path: Path, loss: str
) -> None:
    docs = shell.clone()
    small = tmp_path / "small"
    small.mkdir()
    script = (
        'mount -t tmpfs -o size="$5" tmpfs "$1" && cp -a "$2/." "$1" && cd "$1" && '
        'if [ "$4" = full ]; then dd if=/dev/zero of=fill bs=1k 2>/dev/null; else mount -o remount,ro "$1"; fi; '
        '"$3" -m syncd status --config .git/syncd.toml; echo "status: $?"; '
        '"$3" -m syncd doctor --config .git/syncd.toml; echo "doctor: $?"'
    )
    words = [small, docs, sys.executable, loss, "2m" if loss == "full" else "2g"]
    command = ["unshare", "-Urm", "sh", "-c", script, "sh", *map(str, words)]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    assert "in step with main content" in said
    assert "status: 0" in said
    why, code = ("git directory: .* cannot be written", 78) if loss == "read-only" else (r"disk: 0\.0 GiB free", 1)
    assert re.search(f"(?m)^fail {why}", said), said
    assert f"doctor: {code}" in said
    full = f"! no space is left on the disk of {small}: make room there\n"
    assert (full in said, "Next: syncd doctor" in said) == (loss == "full", loss == "full")


@pytest.mark.long
def test_a_repository_that_cannot_be_written_is_said_with_a_way_out(shell: Any, tmp_path: Path) -> None:
    docs = shell.clone()
    small = tmp_path / "small"
    small.mkdir()
    script = (
        'mount -t tmpfs tmpfs "$1" && cp -a "$2/." "$1" && cd "$1" && mount -o remount,ro "$1"; shift 2; '
        'for words in sync push "cr list" "site history"; do "$1" -m syncd $words --config .git/syncd.toml 2>&1; '
        'echo "$words: $?"; done'
    )
    command = ["unshare", "-Urm", "sh", "-c", script, "sh", *map(str, (small, docs, sys.executable))]
    said = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True).stdout
    assert "Traceback" not in said
    assert "\nsite history: 0\n" in said, "what only shows the state writes nothing"
    for words in ("sync", "push", "cr list"):
        told = rf"(?m)^error: .* cannot be \w+: .*\n  hint: your user needs to read and write there.*\n{words}: 78$"
        assert re.search(told, said), said


@pytest.mark.long
def test_a_state_that_cannot_be_read_is_no_empty_one(shell: Any) -> None:
    docs = shell.clone()
    (docs / ".git" / "syncd").chmod(0)
    try:
        for words in (["status"], ["log"], ["cr", "list"], ["sync"], ["doctor"]):
            drop = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] if os.geteuid() == 0 else []
            command = [*drop, sys.executable, "-m", "syncd", *words]
            done = subprocess.run(command, cwd=docs, capture_output=True, text=True, timeout=100, check=False)
            assert done.returncode == 78, words
            assert re.search(r"cannot be (read|locked): Permission denied", done.stdout + done.stderr), words
            assert "Traceback" not in done.stderr
    finally:
        (docs / ".git" / "syncd").chmod(0o700)


def test_a_file_where_a_clone_should_go_is_refused(shell: Any, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "link").symlink_to("nowhere/at/all")
    for place, why in (("file", "Not a directory"), ("link", "No such file or directory")):
        done = shell.syncd("clone", shell.url, shell.space, tmp_path / place, "--token-file", shell.token)
        assert done.returncode == 78
        assert why in complaint(done)
    assert (tmp_path / "file").read_text() == "mine"


def test_two_daemons_at_once(shell: Any) -> None:
    docs = shell.clone()
    with start_syncd("run", cwd=docs, pipes=["stderr"]) as first:
        try:
            assert first.stderr is not None
            assert any("ready" in line for line in first.stderr)
            second = shell.syncd("run", cwd=docs)
            assert second.returncode == 7
            assert str(first.pid) in complaint(second)
            shell.fine("sync", cwd=docs)
        finally:
            first.terminate()
        assert first.wait(10) == 0


@pytest.mark.parametrize("option", ["--web", "--listen"])
def test_an_address_where_the_service_cannot_listen_is_refused_at_its_start(shell: Any, option: str) -> None:
    docs = shell.clone()
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = f"127.0.0.1:{other.getsockname()[1]}"
        for address, why in (
            (taken, "Address already in use"),
            ("127.0.0.1:99999", "a port is a number to 65535"),
            ("127.0.0.1", "it has no port"),
            (f"unix:{docs}/absent/page.sock", "No such file or directory"),
        ):
            done = shell.syncd("run", option, address, cwd=docs)
            assert done.returncode == 78
            assert complaint(done) == f"error: nothing can listen at {address!r}: {why}"


def test_a_command_that_does_not_exist(shell: Any) -> None:
    done = shell.syncd("pusch")
    assert done.returncode == 64
    assert "pusch" in complaint(done)


def test_no_configuration(shell: Any, tmp_path: Path) -> None:
    done = shell.syncd("sync", cwd=tmp_path)
    assert done.returncode == 78
    assert "syncd clone" in done.stderr


def test_a_key_that_is_misspelt(shell: Any) -> None:
    docs = shell.clone()
    config = docs / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace("token_file", "tokenfile"))
    done = shell.syncd("sync", cwd=docs)
    assert done.returncode == 78
    assert "platform.tokenfile" in complaint(done)


def test_a_repository_that_is_gone(shell: Any) -> None:
    docs = shell.clone()
    outside = shell.root / "config.toml"
    text = (docs / ".git" / "syncd.toml").read_text().replace("[[repository]]", f'[[repository]]\npath = "{docs}"')
    outside.write_text(text)
    shutil.rmtree(docs)
    done = shell.syncd("sync", "--config", outside)
    assert done.returncode == 78
    assert str(docs) in complaint(done)
