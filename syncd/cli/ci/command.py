"""`push --ci`: propose the commit of a fresh clone, with nothing kept before and nothing left behind."""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

import typer

from syncd.api.client import Client
from syncd.cli.ci.report import Reported, report
from syncd.cli.sync.space_ids import read_space_word
from syncd.cli.terminal.ci_service import Service, service
from syncd.cli.terminal.context import find_here, forced, load_here
from syncd.cli.terminal.progress import progress
from syncd.config import Config, PlatformConfig, RepositoryConfig, SpaceConfig, token
from syncd.config.trust import is_same_address
from syncd.daemon.workplace import bindings, now
from syncd.errors import ConfigInvalid, NotARepository, SyncdError, Unauthorized
from syncd.layout.tree.paths import slugify
from syncd.repo import Repository
from syncd.repo.location import discover_repository
from syncd.store.store import Store
from syncd.sync.branches import is_own_branch
from syncd.sync.ci.base import Job
from syncd.sync.ci.flow import Done, run_ci
from syncd.sync.outcome import Applied
from syncd.sync.policy import Policy
from syncd.sync.run.values import Result
from syncd.sync.workspace import Progress, Workspace

PENDING = 2
"""Exit code of a rehearsal that found changes."""


@dataclass(frozen=True)
class Options:
    """What a person typed behind `push --ci`."""

    config: Path | None = None
    url: str = ""
    spaces: Sequence[str] = ()
    branch: str = ""
    subject: str = ""
    dry_run: bool = False
    as_json: bool = False
    quality: Path | None = None


def push_ci(options: Options, force: Sequence[str]) -> int:
    """Propose the commit that is checked out here, tell the CI service what came of it, and return the exit code.

    Raises: Unauthorized without a token; ConfigInvalid when it is not said which space, or which branch, is meant.
    """
    around = service(os.environ)
    try:
        done = _run(options, forced(force), around)
    except SyncdError as error:
        report(Reported(around, failure=error), quality=options.quality, as_json=options.as_json)
        raise
    report(done, quality=options.quality, as_json=options.as_json)
    return PENDING if options.dry_run and not done.exit_code and done.pending else done.exit_code


def _run(options: Options, force: Mapping[str, int], around: Service) -> Reported:
    top = _top()
    platform, repository = _asked(options, top, around)
    secret = _secret(platform, around)
    with Repository.open(top) as clone:
        job = _job(clone, options, around)
        if is_own_branch(job.branch, repository.named, repository.patterns):
            note = f"{job.branch} is one of syncd's own branches; nothing is proposed from it"
            nothing = Result("propose", job.branch, Applied((), (note,)))
            return Reported(around, job, Done((nothing,)), dry=options.dry_run)
        with progress() as tell:
            make = _Fresh(clone, platform, repository, secret, force, tell, options.dry_run)
            done = run_ci(make.workspace, job)
    return Reported(around, job, done, tuple(bindings(repository)), make.requests, dry=options.dry_run)


@dataclass
class _Fresh:
    """Makes workspaces that are gone when they are left."""

    clone: Repository
    platform: PlatformConfig
    repository: RepositoryConfig
    secret: str
    force: Mapping[str, int]
    tell: Progress
    rehearse: bool
    requests: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def workspace(self) -> Iterator[Workspace]:
        """Give a workspace whose refs, objects and store are in a temporary directory."""
        with ExitStack() as held:
            place = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="syncd-", ignore_cleanup_errors=True)))
            git = held.enter_context(self.clone.create_borrower(place / "git"))
            store = held.enter_context(Store(place / "state.db"))
            client = held.enter_context(Client(self.platform.url, self.secret, insecure=self.platform.insecure))
            yield Workspace(
                client=client,
                repository=git,
                store=store,
                now=now,
                bindings=bindings(self.repository),
                remote=self.repository.remote,
                instance=self.repository.instance,
                progress=self.tell,
                force=self.force,
                policy=_policy(self.repository, rehearse=self.rehearse),
                is_dry_run=self.rehearse,
            )
            for method, count in client.requests_sent.items():
                self.requests[method] = self.requests.get(method, 0) + count


def _policy(repository: RepositoryConfig, *, rehearse: bool) -> Policy:
    """What the team decided; a rehearsal updates, asks and merges nothing."""
    decided = Policy(**repository.change_requests.model_dump())
    return Policy(status=decided.status, update="never", merge="manual") if rehearse else decided


def _top() -> Path:
    """The top of the clone around the current directory."""
    place = discover_repository(Path.cwd())
    if place is None or place.work_tree is None:
        raise NotARepository(f"{Path.cwd()} lies in no clone", hint="check the repository out first, then run syncd")
    return place.work_tree


def _asked(options: Options, top: Path, around: Service) -> tuple[PlatformConfig, RepositoryConfig]:
    """Which platform and which spaces are meant: by flags, else by the configuration."""
    url = options.url or os.environ.get("SYNCD_URL", "")
    if options.spaces:
        if not url or options.config is not None:
            raise typer.BadParameter("--space needs --url, or SYNCD_URL, and no configuration")
        return PlatformConfig(url=url), _by_flags(options, around)
    file = find_here(options.config, is_job=True)
    if file is None:
        raise typer.BadParameter("no syncd.toml is committed here: name --url URL and --space SPACE[=DIR]")
    config = load_here(file, url=options.url)
    if options.url and not is_same_address(options.url, config.platform.url):
        raise ConfigInvalid(f"{file.path} names another platform than --url: {config.platform.url}")
    return config.platform, _of_clone(config, top)


def _by_flags(options: Options, around: Service) -> RepositoryConfig:
    words = [read_space_word(word) for word in options.spaces]
    spaces = tuple(
        SpaceConfig(id=space, directory=inner or ".", name=slugify(inner.rstrip("/").rpartition("/")[2] or "docs")[:40])
        for space, inner in words
    )
    identity = "\n".join([around.project, *sorted(space.id for space in spaces)])
    return RepositoryConfig(space=spaces, instance=hashlib.sha256(identity.encode()).hexdigest()[:6])


def _of_clone(config: Config, top: Path) -> RepositoryConfig:
    """The repository of the configuration that this clone is one of."""
    here = [repository for repository in config.repository if repository.path == top.resolve()]
    if len(here or config.repository) != 1:
        raise ConfigInvalid("the configuration names several repositories", hint="give CI a configuration of its own")
    return (here or list(config.repository))[0]


def _secret(platform: PlatformConfig, around: Service) -> str:
    if os.environ.get("SYNCD_TOKEN"):
        platform = platform.model_copy(update={"token_file": None})
    elif platform.token_file is None or not platform.token_file.exists():
        _refuse(around)
    return token(platform, os.environ).get_secret_value()


def _refuse(around: Service) -> NoReturn:
    if around.is_fork:
        raise Unauthorized(
            "there is no token, because this change comes from a fork",
            hint="CI services keep secrets from forks; run syncd check here, and push --ci after the merge",
        )
    raise Unauthorized("there is no token", hint="store it as a secret of the CI service and pass it as SYNCD_TOKEN")


def _job(clone: Repository, options: Options, around: Service) -> Job:
    head = clone.read_head()
    branch = options.branch or around.branch or head.branch or ""
    if not branch:
        raise ConfigInvalid("no branch is checked out here", hint="name it: syncd push --ci BRANCH")
    if head.oid is None:
        raise ConfigInvalid("this clone has no commit", hint="check a commit out first")
    target = around.target if around.target != branch else ""
    return Job(branch, head.oid, target, _tip(clone, target) if target else "", options.subject)


def _tip(clone: Repository, branch: str) -> str:
    """Where the clone knows a branch: at the remote called origin, at another one, or as its own."""
    refs = clone.list_refs("refs/remotes/")
    others = sorted(ref for ref in refs if ref.endswith(f"/{branch}"))
    for ref in (f"refs/remotes/origin/{branch}", *others):
        if ref in refs:
            return refs[ref]
    return clone.resolve(f"refs/heads/{branch}") or ""
