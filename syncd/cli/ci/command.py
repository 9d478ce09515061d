"""`push --ci`: propose the commit of a fresh clone, without state from an earlier run and without leaving any."""

import hashlib
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import typer

from syncd.api.client import Client
from syncd.cli.ci.report import PushReport, write_push_report
from syncd.cli.setup.space_ids import read_space_words
from syncd.cli.terminal.ci_job import CiJob, read_ci_job
from syncd.cli.terminal.context import find_config_file, load_config_file, parse_force
from syncd.cli.terminal.progress import make_client_options, show_progress
from syncd.cli.terminal.text import hide_credentials
from syncd.config import Config, PlatformConfig, RepositoryConfig, SpaceConfig, load_token
from syncd.config.trust import is_same_address
from syncd.daemon.labels import build_bindings
from syncd.daemon.workspaces import read_time
from syncd.errors import ConfigInvalid, NotARepository, SyncdError
from syncd.layout.lint.suggestions import NearMisses
from syncd.layout.tree.paths import slugify
from syncd.repo.process.location import discover_repository
from syncd.repo.repository import Repository
from syncd.store.store import Store
from syncd.sync.branches import is_own_branch
from syncd.sync.ci.base import CiResult, Job
from syncd.sync.ci.flow import run_ci
from syncd.sync.outcome import Applied
from syncd.sync.policy import Policy
from syncd.sync.run.values import Result
from syncd.sync.workspace import Progress, Workspace

_COMMITS_MAX = 1000
"""Commits in which a directory is looked for that the newest one has not."""


@dataclass(frozen=True)
class PushCiOptions:
    """What a person typed behind `push --ci`."""

    config: Path | None = None
    url: str = ""
    spaces: Sequence[str] = ()
    branch: str = ""
    subject: str = ""
    dry_run: bool = False
    as_json: bool = False
    quality: Path | None = None


def push_ci(options: PushCiOptions, force: Sequence[str]) -> int:
    """Propose the commit that is checked out here, report to the CI service, and return the exit code.

    Raises: ConfigInvalid without a token; BadParameter or ConfigInvalid when the space or the branch is not known.
    """
    ci_job = read_ci_job(os.environ)
    try:
        outcome = _propose_commit(options, parse_force(force), ci_job)
    except SyncdError as error:
        with suppress(ConfigInvalid):  # what failed first is what a person should read
            write_push_report(PushReport(ci_job, failure=error), quality=options.quality, as_json=options.as_json)
        raise
    write_push_report(outcome, quality=options.quality, as_json=options.as_json)
    return outcome.exit_code


def _propose_commit(options: PushCiOptions, force: Mapping[str, int], ci_job: CiJob) -> PushReport:
    top = _find_top()
    platform, repository = _find_target(options, top, ci_job)
    secret = _read_token(platform, ci_job)
    with Repository.open(top) as clone:
        job = _find_job(clone, options, ci_job)
        if is_own_branch(job.branch, repository.branch_names, repository.patterns):
            note = f"{job.branch} is one of syncd's own branches; nothing is proposed from it"
            nothing = Result("propose", job.branch, Applied((), (note,)))
            return PushReport(ci_job, job, CiResult((nothing,)), is_dry_run=options.dry_run)
        if options.spaces:
            _require_directories(clone, job, repository, force)
        with show_progress() as on_progress:
            factory = _WorkspaceFactory(clone, platform, repository, secret, force, on_progress, options.dry_run)
            outcome = run_ci(factory.open_workspace, job)
    return PushReport(
        ci_job, job, outcome, tuple(build_bindings(repository)), factory.requests, is_dry_run=options.dry_run
    )


@dataclass
class _WorkspaceFactory:
    """Opens workspaces in temporary directories, and counts the requests that they send."""

    clone: Repository
    platform: PlatformConfig
    repository: RepositoryConfig
    secret: str
    force: Mapping[str, int]
    on_progress: Progress
    is_dry_run: bool
    requests: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def open_workspace(self) -> Iterator[Workspace]:
        """Open a workspace whose refs, objects and store are in a temporary directory."""
        with ExitStack() as stack:
            directory = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="syncd-", ignore_cleanup_errors=True))
            )
            git = stack.enter_context(self.clone.create_borrower(directory / "git"))
            store = stack.enter_context(Store(directory / "state.db"))
            options = make_client_options(self.platform)
            client = stack.enter_context(Client(self.platform.url, self.secret, options))
            yield Workspace(
                client=client,
                repository=git,
                store=store,
                now=read_time,
                bindings=build_bindings(self.repository),
                remote=self.repository.remote,
                instance=self.repository.instance,
                progress=self.on_progress,
                force=self.force,
                policy=_choose_policy(self.repository, is_dry_run=self.is_dry_run),
                is_dry_run=self.is_dry_run,
            )
            for method, count in client.requests_sent.items():
                self.requests[method] = self.requests.get(method, 0) + count


def _choose_policy(repository: RepositoryConfig, *, is_dry_run: bool) -> Policy:
    """The configured policy; a dry run updates and merges nothing, and asks nobody."""
    policy = Policy(**repository.change_requests.model_dump())
    return Policy(status=policy.status, update="never", merge="manual") if is_dry_run else policy


def _find_top() -> Path:
    """The top of the clone around the current directory."""
    place = discover_repository(Path.cwd())
    if place is None or place.work_tree is None:
        raise NotARepository(f"{Path.cwd()} lies in no clone", hint="check the repository out first, then run syncd")
    return place.work_tree


def _find_target(options: PushCiOptions, top: Path, ci_job: CiJob) -> tuple[PlatformConfig, RepositoryConfig]:
    """The platform and the repository of the flags, else of the configuration."""
    url = options.url or os.environ.get("SYNCD_URL", "")
    if options.spaces:
        if not url or options.config is not None:
            raise typer.BadParameter("--space needs --url, or SYNCD_URL, and no configuration")
        return PlatformConfig(url=url), _build_repository(options, ci_job)
    file = find_config_file(options.config, is_job=True)
    if file is None:
        raise typer.BadParameter("no syncd.toml is committed here: name --url URL and --space SPACE[=DIR]")
    config = load_config_file(file, url=options.url)
    if options.url and not is_same_address(options.url, config.platform.url):
        raise ConfigInvalid(f"{file.path} names another platform than --url: {hide_credentials(config.platform.url)}")
    return config.platform, _choose_repository(config, top)


def _build_repository(options: PushCiOptions, ci_job: CiJob) -> RepositoryConfig:
    spaces = tuple(
        SpaceConfig(id=space, directory=inner or ".", name=slugify(inner.rpartition("/")[2] or "docs")[:40])
        for space, inner in read_space_words(options.spaces)
    )
    identity = "\n".join([ci_job.project, *sorted(space.id for space in spaces)])
    return RepositoryConfig(space=spaces, instance=hashlib.sha256(identity.encode()).hexdigest()[:6])


def _choose_repository(config: Config, top: Path) -> RepositoryConfig:
    """The configured repository at the path of this clone, else the only one that is configured."""
    here = [repository for repository in config.repository if repository.path == top.resolve()]
    if len(here or config.repository) != 1:
        raise ConfigInvalid("the configuration names several repositories", hint="give CI a configuration of its own")
    return (here or list(config.repository))[0]


def _read_token(platform: PlatformConfig, ci_job: CiJob) -> str:
    if os.environ.get("SYNCD_TOKEN", "").strip():
        platform = platform.model_copy(update={"token_file": None})
    elif platform.token_command is None and (platform.token_file is None or not platform.token_file.exists()):
        if ci_job.is_fork:
            raise ConfigInvalid(
                "there is no token, because this change comes from a fork",
                hint="CI services keep secrets from forks; run syncd check here, and push --ci after the merge",
            )
        raise ConfigInvalid(
            "there is no token", hint="store it as a secret of the CI service and pass it as SYNCD_TOKEN"
        )
    return load_token(platform, os.environ).get_secret_value()


def _require_directories(clone: Repository, job: Job, repository: RepositoryConfig, force: Mapping[str, int]) -> None:
    """Refuse a directory of `--space` that no commit of this clone has: a mistyped one would delete all pages.

    Shape: one that the branch deleted is for the guard, and so is one that a person approved. Raises: ConfigInvalid.
    """
    for space in repository.space:
        if space.directory == "." or f"propose.{space.name}" in force:
            continue
        commits = clone.list_commits(None, job.commit, limit=_COMMITS_MAX)
        if any(clone.find_tree(commit.oid, space.directory) is not None for commit in commits):
            continue
        folders = {str(parent) for path in clone.list_files(job.commit) for parent in PurePosixPath(path).parents}
        near = NearMisses(sorted(folders - {"."})).find(space.directory)
        hint = (
            f"did you mean --space {space.id}={near}?" if near else f"write --space {space.id}=DIR, or leave =DIR out"
        )
        raise ConfigInvalid(
            f"--space {space.id}={space.directory}: {job.branch} has no directory {space.directory}",
            hint=f"{hint}\nif it deletes all pages of the space: --force propose.{space.name}=N, with their number",
        )


def _find_job(clone: Repository, options: PushCiOptions, ci_job: CiJob) -> Job:
    head = clone.read_head()
    branch = options.branch or ci_job.branch or head.branch or ""
    if not branch:
        raise ConfigInvalid("no branch is checked out here", hint="name it: syncd push --ci BRANCH")
    if head.oid is None:
        raise ConfigInvalid("this clone has no commit", hint="check a commit out first")
    target = ci_job.target if ci_job.target != branch else ""
    tip = _find_tip(clone, target) if target else ""
    former = ci_job.former if ci_job.pushed == head.oid else ""
    newest = _find_tip(clone, branch, is_remote=True)
    return Job(branch, head.oid, target, tip, former, options.subject, newest, ci_job.is_repeated)


def _find_tip(clone: Repository, branch: str, *, is_remote: bool = False) -> str:
    """The commit of a branch at the remote `origin`, at another remote, or, unless `is_remote`, in the clone itself; ""
    when none has it."""
    refs = clone.list_refs("refs/remotes/")
    others = sorted(ref for ref in refs if ref.endswith(f"/{branch}"))
    for ref in (f"refs/remotes/origin/{branch}", *others):
        if ref in refs:
            return refs[ref]
    return "" if is_remote else clone.resolve(f"refs/heads/{branch}") or ""
