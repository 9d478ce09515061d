"""What `doctor` looks at of the Git remote of a repository: whether it answers, and lets the branches be listed."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

from syncd.cli.doctor.check import Check, make_failure
from syncd.config import RepositoryConfig
from syncd.daemon.workspaces import build_upstream
from syncd.errors import SyncdError, Unreachable
from syncd.model.wording import format_first
from syncd.repo.process.location import RepositoryLocation
from syncd.repo.remote.remote import Remote
from syncd.repo.repository import Repository

SECONDS = 20.0
"""How long a remote may take to list its branches while somebody waits for the diagnosis."""
_SHOWN = 3


def check_upstream(config: RepositoryConfig, repository: Repository) -> Iterator[Check]:
    """Yield whether the upstream of a repository answers and shows its branches; nothing where there is none."""
    if config.upstream is None:
        return
    name, deadline = f"upstream {config.upstream.remote}", monotonic() + SECONDS

    def pulse() -> None:
        if monotonic() > deadline:
            raise Unreachable(f"no answer in {SECONDS:.0f} s", hint="check its address, and the network on the way")

    try:
        upstream = build_upstream(config.upstream, repository, os.environ)
        assert upstream is not None
        # Beside the repository, which a service may use at this moment, or which cannot be written.
        with tempfile.TemporaryDirectory(prefix="syncd-doctor-") as scratch:
            place = RepositoryLocation(Path(scratch), Path(scratch), None)
            with Remote(place, upstream.access, pulse=pulse) as remote:
                there = remote.list_heads(config.branch_names)
    except SyncdError as error:
        yield make_failure(name, error)
        return
    except OSError as error:
        yield Check(name, "skip", f"not asked: there is no place for a scratch directory: {error.strerror}")
        return
    branches = format_first(sorted(there), _SHOWN) if there else "none of the tracked branches yet"
    yield Check(name, "ok", f"answers, and has {branches}")
