"""Open the workspace of a run from the configuration, under the repository's run lock."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

from syncd.api.client import Client
from syncd.api.options import ClientOptions
from syncd.api.transport.breaker import Breaker
from syncd.api.transport.rate_limit import AnnounceWait, Observe, Share, ignore_try, ignore_wait, keep_own_count
from syncd.config import (
    Config,
    RepositoryConfig,
    SiteConfig,
    UpstreamConfig,
    check_private,
    is_credential,
    load_token,
    make_token_renewal,
    read_token,
)
from syncd.config.shapes import NotificationTargetConfig
from syncd.daemon.labels import build_bindings
from syncd.daemon.locks import RUN_LOCK, STATE_FILE, FileLock
from syncd.daemon.records import is_complete_run, judge_run, list_subjects
from syncd.errors import ConfigInvalid, SyncdError
from syncd.repo.read.kept_answers import KeptAnswers
from syncd.repo.remote.address import parse_address
from syncd.repo.remote.remote import USERNAME, Access
from syncd.repo.repository import Repository
from syncd.store.runs import COMMAND_RUNS, read_runs, write_runs
from syncd.store.status import has_store
from syncd.store.store import Store
from syncd.sync.policy import GIT_IMPORT, Policy
from syncd.sync.publish.target.options import PublishOptions
from syncd.sync.run.values import Result, RunOptions
from syncd.sync.site.options import SiteOptions
from syncd.sync.workspace import Progress, Upstream, Workspace, ask_always, ignore_progress, permit_always

LOCK_WAIT_SECONDS = 10.0
"""How long a command waits for another run of the same repository to end."""


def never_cancel() -> bool:
    """Return False: nothing asks this run to stop."""
    return False


@dataclass(frozen=True)
class Environment:
    """What a run needs besides the configuration: the process's variables, cancellation, progress and force options.

    Shape: with breakers, of the platform's host and of the upstream's, a run does not ask one that is known to be down.
    `observe` hears of each request to the platform, `announce_wait` of each wait for it. `upstream_heads` are the
    upstream's branches where the caller has just listed them. `permit` is called before each write to the platform and
    each push, and refuses it by an exception. `share` counts requests for all who have the token. `kept_answers` are
    those of Git in the last run.
    """

    variables: Mapping[str, str]
    cancelled: Callable[[], bool] = never_cancel
    progress: Progress = ignore_progress
    force: Mapping[str, int] = field(default_factory=dict)
    wait: float = LOCK_WAIT_SECONDS
    platform_breaker: Breaker | None = None
    upstream_breaker: Breaker | None = None
    upstream_heads: Mapping[str, str] | None = None
    observe: Observe = ignore_try
    announce_wait: AnnounceWait = ignore_wait
    permit: Callable[[], None] = permit_always
    share: Share = keep_own_count
    kept_answers: KeptAnswers | None = None


@contextmanager
def open_workspace(config: Config, repository: RepositoryConfig, environment: Environment) -> Iterator[Workspace]:
    """Open a repository for one run of its own.

    Raises: AnotherRuns when another run holds the repository; ConfigInvalid, NotARepository, StoreNewer.
    """
    lock = Repository.locate(repository.path) / RUN_LOCK
    with (
        FileLock.acquire(lock, wait=environment.wait),
        open_locked_workspace(config, repository, environment) as workspace,
    ):
        yield workspace


@contextmanager
def open_locked_workspace(
    config: Config, repository: RepositoryConfig, environment: Environment
) -> Iterator[Workspace]:
    """Open both sides and the store of a repository whose run lock is held, and close them after the run.

    Raises: ConfigInvalid, NotARepository, StoreNewer.
    """
    with Repository.open(repository.path, environment.kept_answers) as git:
        git.recover(remote=repository.remote)
        with _build_workspace(config, repository, environment, git, git.git_dir / STATE_FILE) as workspace:
            yield workspace


@contextmanager
def open_for_reading(config: Config, repository: RepositoryConfig, environment: Environment) -> Iterator[Workspace]:
    """Open a repository to look at, beside any run: nothing of Git is written.

    Raises: ConfigInvalid, NotARepository, StoreNewer.
    """
    with Repository.open(repository.path) as git, TemporaryDirectory() as nowhere:
        state = git.git_dir / STATE_FILE
        state = state if has_store(state) else Path(nowhere) / "state.db"
        with _build_workspace(config, repository, environment, git, state) as workspace:
            yield workspace


@contextmanager
def _build_workspace(
    config: Config, repository: RepositoryConfig, environment: Environment, git: Repository, state: Path
) -> Iterator[Workspace]:
    secret, breaker = load_token(config.platform, environment.variables), environment.upstream_breaker
    imports = repository.write == GIT_IMPORT
    with (
        Store(state) as store,
        Client(
            config.platform.url,
            secret.get_secret_value(),
            ClientOptions(
                insecure=config.platform.insecure,
                cancelled=environment.cancelled,
                breaker=environment.platform_breaker,
                observe=environment.observe,
                announce_wait=environment.announce_wait,
                renew=make_token_renewal(config.platform, environment.variables),
                permit=environment.permit,
                share=environment.share,
            ),
        ) as client,
    ):
        yield Workspace(
            client=client,
            repository=git,
            store=store,
            now=read_time,
            bindings=build_bindings(repository),
            remote=repository.remote,
            instance=repository.instance,
            progress=environment.progress,
            force=environment.force,
            branch=next(iter(repository.branch_names), ""),
            upstream=build_upstream(repository.upstream, git, environment.variables, imports=imports),
            upstream_guard=(lambda _: breaker.guard()) if breaker is not None else ask_always,
            upstream_heads=environment.upstream_heads,
            is_cancelled=environment.cancelled,
            permit=environment.permit,
            policy=Policy(**repository.change_requests.model_dump()),
            write=repository.write,
        )


def record_command(repository: RepositoryConfig, results: Sequence[Result], *, site: bool = False) -> None:
    """Keep what a command's run of a repository came to, where `status` finds it.

    Shape: `site` says whether the run was to look at the site. Where it cannot be kept, the run's own message stands.
    """
    if not is_complete_run(results):
        return
    with suppress(SyncdError):
        file = Repository.locate(repository.path) / COMMAND_RUNS
        subjects = list_subjects(repository, site=site)
        at = read_time().isoformat(timespec="seconds")
        write_runs(file, judge_run(results, read_runs(file), subjects, name=repository.name, at=at))


def build_upstream(
    config: UpstreamConfig | None, git: Repository, environ: Mapping[str, str], *, imports: bool = False
) -> Upstream | None:
    """Return the upstream of a configuration as the flows know it, its address read and its files checked.

    Shape: `imports` says that the platform is to fetch from it. Raises: ConfigInvalid.
    """
    if config is None:
        return None
    url = config.url or git.find_remote_url(config.remote)
    if url is None:
        raise ConfigInvalid(f"Git knows no remote {config.remote}", hint=f"git remote add {config.remote} URL")
    parse_address(url)
    if config.token_file is not None:
        read_token(config.token_file, "token_file", environ)
    if config.ssh_key_file is not None:
        check_private(config.ssh_key_file, "ssh_key_file", environ)
    access = Access(
        url,
        config.username,
        token_file=config.token_file,
        ssh_key_file=config.ssh_key_file,
        known_hosts_file=config.known_hosts_file,
        is_guarded=config.token_file is not None and is_credential(config.token_file, environ),
    )
    read_import_url = partial(_read_import_url, config, url, environ)
    if imports:
        read_import_url()
    return Upstream(config.remote, access, config.push, config.side, config.mirror, read_import_url)


def _read_import_url(config: UpstreamConfig, url: str, environ: Mapping[str, str]) -> str:
    """The address at which the platform fetches, with the credential that it gets. Raises: ConfigInvalid."""
    address = parse_address(config.import_url or url)
    if address.protocol not in ("https", "http"):
        raise ConfigInvalid(
            "the platform cannot fetch from the upstream's address: it takes one of https",
            hint="name one with import_url of [repository.upstream]",
        )
    if config.import_token_file is None:
        return address.url
    token = read_token(config.import_token_file, "import_token_file", environ).get_secret_value()
    scheme, mark, rest = address.url.partition("://")
    return f"{scheme}{mark}{quote(config.username or USERNAME, safe='')}:{quote(token, safe='')}@{rest}"


def build_run_options(repository: RepositoryConfig, *, every: float | None = 0) -> RunOptions:
    """Return what a whole run of a repository is asked for.

    Units: seconds. Shape: `every` is the least time between two looks at its site; None is the configured one.
    """
    config = repository.site
    site = (
        build_site_options(config, every=config.every if every is None else every) if config and config.apply else None
    )
    return RunOptions(
        branches=repository.branch_names,
        patterns=repository.patterns,
        propose=repository.propose,
        site=site,
        publication=build_publish_options(config) if config is not None else None,
        reviews="changed",
    )


def build_service_options(config: Config, repository: RepositoryConfig, name: str) -> RunOptions:
    """Return what each run of a repository is asked for that nobody waits for."""
    options = build_run_options(repository, every=None)
    if any(_should_hear_of_reviews(target, name) for target in config.notifications.target):
        options = replace(options, reviews="always")  # a review changes nothing else of a change request
    return options


def _should_hear_of_reviews(target: NotificationTargetConfig, name: str) -> bool:
    return "reviewed" in target.events and (not target.repositories or name in target.repositories)


def build_publish_options(site: SiteConfig) -> PublishOptions | None:
    """Return where the site that a run builds goes; None where none is built."""
    publish = site.publish
    if publish is None:
        return None
    return PublishOptions(site.file, publish.directory, publish.branch, publish.base_url, publish.index, publish.public)


def build_site_options(site: SiteConfig, *, file: str = "", every: float = 0) -> SiteOptions:
    """Return how a site's file, or another, is followed. Units: seconds."""
    return SiteOptions(file or site.file, every, site.lock, site.ordering, frozenset(site.redirect_kinds))


def read_time() -> datetime:
    """Return the time, aware, in UTC."""
    return datetime.now(UTC)
