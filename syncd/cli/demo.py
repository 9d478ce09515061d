"""`demo`: the whole story on the embedded platform; everything that it prints really happened."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import syncd
from syncd.api.client import Client
from syncd.cli.terminal.text import paint
from syncd.errors import ConfigInvalid, GitFailed
from syncd.model.site import SiteCreate, SiteSectionCreate

Run = Callable[[Sequence[str]], int]
"""Carries out the words after `syncd` and returns the exit code."""
MANUAL = Path(syncd.__file__).parent / "manual"
NEW_PAGE = """# Hello from Git

This page was added in an editor, committed with Git, and proposed with `syncd push`.
"""


@dataclass(frozen=True)
class _Stage:
    """Where the story takes place."""

    root: Path
    url: str
    token: str
    organization: str
    space: str
    site: str
    run: Run

    @property
    def clone(self) -> Path:
        return self.root / "docs"


def run_demo(keep: Path | None, run: Run) -> None:
    """Tell the story in a temporary directory, or in `keep`, which must be new.

    Raises: ConfigInvalid when `keep` holds something.
    """
    if keep is not None and keep.exists() and any(keep.iterdir()):
        raise ConfigInvalid(f"{keep} is not empty", hint="name a new directory")
    with _room(keep) as root, _platform(root, run) as stage:
        _say("A platform is running", f"It serves the manual of syncd as space {stage.space}, and site {stage.site}.")
        _clone(stage)
        _edit(stage)
        _propose(stage)
        _merge(stage)
        _redirect(stage)
        _say("That was the whole round", "Each step above is a command of its own: syncd --help")
    if keep is not None:
        print(f"Everything is in {keep}: syncd platform serve --data {keep / 'platform'} takes it up again.")


@contextmanager
def _room(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.absolute()
        return
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory(prefix="syncd-demo-") as name:
        os.environ["XDG_STATE_HOME"] = name  # what is trusted here is forgotten with it
        try:
            yield Path(name).resolve()
        finally:
            del os.environ["XDG_STATE_HOME"]
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


@contextmanager
def _platform(root: Path, run: Run) -> Iterator[_Stage]:
    """Start the embedded platform, and publish the manual on it as a space with a site."""
    from syncd.platform.server import BackgroundServer
    from syncd.platform.services.directory.read import import_directory
    from syncd.platform.storage.storage import Storage

    data = root / "platform"
    with Storage(data) as storage:
        storage.bootstrap()
        made = import_directory(storage, MANUAL, title="syncd manual", space=None)
        token = (data / "token").read_text(encoding="utf-8").strip()
        with BackgroundServer(storage) as url, Client(url, token) as client:
            organization = client.spaces.get(made.space).organization or ""
            site = client.sites.create(organization, SiteCreate(title="syncd docs"))
            body = SiteSectionCreate(space_id=made.space, title="Manual")
            client.sections.create(organization, site.id, body)
            yield _Stage(root, url, token, organization, made.space, site.id, run)


def _clone(stage: _Stage) -> None:
    token_file = stage.root / "platform" / "token"
    _say("Clone the space", "Every page becomes a Markdown file, every revision a commit.")
    _syncd(stage, "clone", stage.url, stage.space, str(stage.clone), "--token-file", str(token_file))
    _git(stage, "log", "--oneline", "--graph", "--decorate")
    _shell(stage, "ls")


def _edit(stage: _Stage) -> None:
    _say("Edit one page, add another, commit", "Plain files and plain Git; nothing else is needed.")
    readme, summary = stage.clone / "README.md", stage.clone / "SUMMARY.md"
    readme.write_text(readme.read_text("utf-8") + "\nThis line was written in a laptop's editor.\n", encoding="utf-8")
    (stage.clone / "hello.md").write_text(NEW_PAGE, encoding="utf-8")
    summary.write_text(summary.read_text("utf-8") + "* [Hello from Git](hello.md)\n", encoding="utf-8")
    _git(stage, "add", "--all")
    _git(stage, "commit", "--quiet", "--message", "Say hello from Git")
    _git(stage, "show", "--stat", "--oneline", "HEAD")


def _propose(stage: _Stage) -> None:
    _say("Open a change request from the commit", "One for each space and branch; its content is the branch's.")
    _syncd(stage, "push", cwd=stage.clone)
    _git(stage, "diff", "--stat", "platform/main...platform/changes/syncd-manual/1")


def _merge(stage: _Stage) -> None:
    _say("A reviewer merges it on the platform", "Here through the API, as the web interface would.")
    with Client(stage.url, stage.token) as client:
        merged = client.change_requests.merge(stage.space, "1")
    print(f"  the platform answered: {merged.result}, revision {merged.revision}")
    _say("Pull", "The merge comes back; the branch fast-forwards, and no work appears twice.")
    _syncd(stage, "pull", cwd=stage.clone)
    _git(stage, "log", "--oneline", "--graph", "--decorate")
    _git(stage, "status", "--short", "--branch")


def _redirect(stage: _Stage) -> None:
    _say("A site as code", "A file in the repository says what the site has and which old addresses lead where.")
    text = f"""version: 1
site: {{ org: {stage.organization}, id: {stage.site} }}
spaces: {{ manual: {stage.space} }}
structure:
  items:
    - section: manual
      title: Manual
      path: manual
      default: true
      variants: [{{ variant: en, space: manual, default: true }}]
redirects:
  - {{ from: /hello, to: {{ section: manual }} }}
  - {{ from: [/start, /old/start], to: {{ section: manual }} }}
"""
    (stage.clone / "site.yaml").write_text(text, encoding="utf-8")
    print(paint("  site.yaml", 1, sys.stdout))
    print("".join(f"    {line}\n" for line in text.splitlines()), end="")
    with (stage.clone / ".git" / "syncd.toml").open("a", encoding="utf-8") as config:
        config.write('\n[repository.site]\nfile = "site.yaml"\n')
    _git(stage, "add", "site.yaml")
    _git(stage, "commit", "--quiet", "--message", "Declare redirects")
    _syncd(stage, "site", "plan", cwd=stage.clone)
    _syncd(stage, "site", "apply", "--yes", cwd=stage.clone)
    _syncd(stage, "status", cwd=stage.clone)


def _say(title: str, text: str) -> None:
    print(f"\n{paint('== ' + title, 36, sys.stdout)}\n   {text}", flush=True)


def _syncd(stage: _Stage, *words: str, cwd: Path | None = None) -> None:
    """Run a command of this very program as a person would type it."""
    print(paint("$ syncd " + " ".join(words), 1, sys.stdout), flush=True)
    before = Path.cwd()
    try:
        if cwd is not None:
            os.chdir(cwd)
        code = stage.run(words)
    finally:
        os.chdir(before)
    if code:
        raise GitFailed(f"syncd {' '.join(words)} ended with {code}; the demo stops here")


def _git(stage: _Stage, *words: str) -> None:
    person = {"NAME": "A. Writer", "EMAIL": "writer@example.org"}
    environ = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat"}
    _shell(stage, "git", *words, environ=environ | isolated)


def _shell(stage: _Stage, *words: str, environ: dict[str, str] | None = None) -> None:
    print(paint("$ " + " ".join(words), 1, sys.stdout), flush=True)
    # A Git hook, for one, sets GIT_DIR: the demo's commits would go there.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SYNCD_"))}
    done = subprocess.run(words, cwd=stage.clone, env=kept | (environ or {}), check=False)
    if done.returncode:
        raise GitFailed(f"{' '.join(words)} ended with {done.returncode}; the demo stops here")
