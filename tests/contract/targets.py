"""A platform of its own, in this process or over a socket, as one kind of client reaches it."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from syncd.cli.platform.git_host import RepositoryHost
from syncd.platform.app import create_app
from syncd.platform.server import BackgroundServer
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import Target


@contextmanager
def open_target(data: Path, *, over_socket: bool = True, database: str | None = None) -> Iterator[Target]:
    """Given a directory, and the address of a database in place of a file there, make a platform and open it."""
    with ExitStack() as stack:
        storage = stack.enter_context(Storage(data, database=database))
        storage.bootstrap()
        settings = PlatformSettings(git_host=RepositoryHost())
        app = create_app(storage, settings)
        if over_socket:
            url = stack.enter_context(BackgroundServer(storage, settings, works=False))
            client = stack.enter_context(httpx.Client(base_url=url, trust_env=False, timeout=30))
        else:
            client = stack.enter_context(httpx.Client(base_url="http://platform", transport=InProcess(app)))
        yield Target(storage, app, client)
