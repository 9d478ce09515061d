"""`clone`: a repository, its configuration and the first mirror, from one line; safe to run again after a crash."""

import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import typer

from syncd.api.client import Client
from syncd.cli.output import result_lines
from syncd.cli.progress import progress
from syncd.config import Config, PlatformConfig, RepositoryConfig, SpaceConfig, load, token
from syncd.daemon.workplace import Circumstances, wish, workplace
from syncd.errors import ConfigInvalid
from syncd.layout.paths import slugify
from syncd.repo import Repository
from syncd.sync.cycle import exit_code, run_cycle
from syncd.sync.workspace import Workspace

BRANCH = "main"


def run_clone(url: str, targets: Sequence[str], token_file: Path | None, *, insecure: bool) -> None:
    """Given a platform, spaces and a directory, make the repository there; a clone that was cut off is taken up again.

    Raises: ConfigInvalid when the directory holds something else.
    """
    if len(targets) < 2:
        raise typer.BadParameter("name at least one SPACE and the directory REPO")
    *words, target = targets
    directory = Path(target).absolute()
    platform = PlatformConfig(url=url, token_file=token_file.absolute() if token_file else None, insecure=insecure)
    wanted = [word.partition("=")[::2] for word in words]
    if len(wanted) > 1 and not all(inner for _, inner in wanted):
        raise typer.BadParameter("with several spaces each needs its directory: SPACE=DIR")
    config_file = directory / ".git" / "syncd.toml"
    config = _taken_up(config_file, platform, wanted) or _begun(config_file, platform, wanted, directory)
    repository = config.repository[0]
    with progress() as tell, workplace(config, repository, Circumstances(os.environ, progress=tell)) as workspace:
        results = run_cycle(workspace, replace(wish(repository), integrate=False, propose=False, site=""))
        code = exit_code(results)
        if not code:
            _check_out(workspace)
    print("\n".join(result_lines(results)))
    if code:
        raise typer.Exit(code)
    print(f"Cloned into {directory}. Next: edit, git commit, then syncd push.")


def _taken_up(config_file: Path, platform: PlatformConfig, wanted: Sequence[tuple[str, str]]) -> Config | None:
    """The configuration of an earlier clone of the same things, or None when there is none yet."""
    if not config_file.is_file():
        return None
    config = load(config_file)
    spaces = [(space.id, space.directory) for space in config.repository[0].space]
    if config.platform.url != platform.url or spaces != [(space, inner.strip("./")) for space, inner in wanted]:
        raise ConfigInvalid(f"{config_file.parent.parent} is a clone of something else")
    return config


def _begun(config_file: Path, platform: PlatformConfig, wanted: Sequence[tuple[str, str]], directory: Path) -> Config:
    """Make the repository and its configuration, once the platform has said that the spaces exist."""
    if directory.exists() and any(path.name != ".git" for path in directory.iterdir()):
        raise ConfigInvalid(f"{directory} is not empty", hint="clone into a new directory")
    secret = token(platform, os.environ).get_secret_value()
    with Client(platform.url, secret, insecure=platform.insecure) as client:
        titles = [client.spaces.get(space).title for space, _ in wanted]
    spaces = [
        SpaceConfig(id=space, directory=inner or ".", name=name)
        for (space, inner), name in zip(wanted, _names(wanted, titles), strict=True)
    ]
    instance = secrets.token_hex(3)
    repository = RepositoryConfig(space=tuple(spaces), instance=instance)
    with Repository.create(directory, branch=BRANCH) as git:
        if git.refs("refs/"):
            raise ConfigInvalid(f"{directory} is a repository already", hint="clone into a new directory")
    text = _rendered(platform, repository)
    aside = config_file.with_name("syncd.toml.new")
    aside.write_text(text, encoding="utf-8")
    aside.replace(config_file)
    return load(config_file)


def _names(wanted: Sequence[tuple[str, str]], titles: Sequence[str]) -> list[str]:
    names: list[str] = []
    for (_, inner), title in zip(wanted, titles, strict=True):
        name = slugify(inner.rstrip("/").rsplit("/", 1)[-1]) if inner.strip("./") else slugify(title)
        name = name[:40]
        names.append(f"{name}-{len(names) + 1}" if name in names else name)
    return names


def _check_out(workspace: Workspace) -> None:
    """Give the writer a branch on what was mirrored; only when there is none yet."""
    repository = workspace.repository
    tip = repository.resolve(workspace.main)
    ref = f"refs/heads/{BRANCH}"
    if tip is None:
        return
    if repository.resolve(ref) is None:
        repository.update_ref(ref, tip, old=None)
    repository.checkout_new(BRANCH)


def _rendered(platform: PlatformConfig, repository: RepositoryConfig) -> str:
    lines = ["# Made by syncd clone; every key is explained in config.example.toml.", "", "[platform]"]
    lines.append(f"url = {json.dumps(platform.url)}")
    if platform.token_file is not None:
        lines.append(f"token_file = {json.dumps(str(platform.token_file))}")
    if platform.insecure:
        lines.append("insecure = true")
    lines += ["", "[[repository]]", f'branches = ["{BRANCH}"]', f'instance = "{repository.instance}"']
    for space in repository.space:
        lines += ["", "[[repository.space]]", f"id = {json.dumps(space.id)}"]
        lines += [f"directory = {json.dumps(space.directory or '.')}", f"name = {json.dumps(space.name)}"]
    return "\n".join(lines) + "\n"
