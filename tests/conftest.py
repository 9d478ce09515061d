"""No test can touch the developer's machine: no home, no Git configuration, no network but loopback."""

import gc
import os
import shutil
import socket
import ssl
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from coverage import Coverage
from hypothesis import settings
from sqlalchemy.dialects import registry

# The same examples each time, so that a failure is news of the change that meets it; "search" looks at new ones.
settings.register_profile("syncd", deadline=None, derandomize=True)
settings.register_profile("search", deadline=None)
settings.load_profile("syncd")

registry.register("sqlite", "tests.compiled", "Dialect")

pytest_plugins = ["tests.postgres"]

# Who runs the tests may be a CI job, a service or a person with tastes, and syncd and Git look at what says so.
_SAID_BY_CALLERS = ("GIT_", "SYNCD_", "XDG_", "CI_", "GITHUB_", "GITLAB_")
_ALSO_SAID = (
    "CI",
    "CLICOLOR_FORCE",
    "COLUMNS",
    "EDITOR",
    "FORCE_COLOR",
    "NO_COLOR",
    "NOTIFY_SOCKET",
    "PAGER",
    "VISUAL",
)
for _name in list(os.environ):
    if (_name in _ALSO_SAID or _name.startswith(_SAID_BY_CALLERS)) and not _name.startswith("SYNCD_TEST_"):
        del os.environ[_name]

# A caller may forbid compiled modules; then each of hundreds of processes that tests start would compile them anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Tests write and flush thousands of small files; where memory is plenty, it spares them the waits for a disk.
_MEMORY, _ENOUGH = Path("/dev/shm"), 4 << 30
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > _ENOUGH:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Of the garbage collector: what tests make is short-lived, and to look through it so often took 5% of their time.
_COLLECT_AT = (10_000, 20, 20)

_LOOPBACK = ("127.", "::1", "localhost")


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what lives as long as the process: modules, and thousands of tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECT_AT)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Save what was counted, if it is: a worker that ends for longer than ten seconds is killed before it has saved."""
    if (counting := Coverage.current()) is not None:
        counting.save()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where each test gets its home. `mktemp` for each would list all the homes before it, and so slow down by it."""
    return tmp_path_factory.mktemp("homes")


@pytest.fixture(autouse=True)
def own_world(homes: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give each test an empty home and Git no configuration but the repository's."""
    home = Path(tempfile.mkdtemp(dir=homes))
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "A. Writer")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "writer@example.org")
    yield
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture(autouse=True, scope="session")
def loopback_only() -> Iterator[None]:
    """Refuse every connection that would leave the machine."""
    real = socket.socket.connect

    def connect(self: socket.socket, address: Any) -> None:
        if self.family != socket.AF_UNIX and not str(address[0]).startswith(_LOOPBACK):
            raise AssertionError(f"a test wants to connect to {address}")
        real(self, address)

    patch = pytest.MonkeyPatch()
    patch.setattr(socket.socket, "connect", connect)
    yield
    patch.undo()


@pytest.fixture(autouse=True, scope="session")
def one_trust() -> Iterator[None]:
    """Load the certificates of the world's authorities once: each client of httpx would, though it speaks http."""
    contexts: dict[tuple[str | None, ...], ssl.SSLContext] = {}

    def context(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        key = tuple(os.environ.get(name) if trust_env else None for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"))
        if verify is not True or cert:
            return httpx.create_ssl_context(verify, cert, trust_env)
        if key not in contexts:
            contexts[key] = httpx.create_ssl_context(verify, cert, trust_env)
        return contexts[key]

    patch = pytest.MonkeyPatch()
    patch.setattr(httpx._transports.default, "create_ssl_context", context)
    yield
    patch.undo()


@pytest.fixture(scope="session")
def corpora() -> Path | None:
    """Real documentation repositories beside the project, where they exist."""
    found = Path(__file__).parents[2] / "shared" / "corpora"
    return found if found.is_dir() else None
