"""`demo`: clone, edit, propose, merge and redirect on the embedded platform; nothing that it prints is staged."""

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from syncd.api.client import Client
from syncd.cli.terminal.browser import open_in_browser
from syncd.cli.terminal.packaged_files import MANUAL
from syncd.cli.terminal.text import style_text
from syncd.errors import ConfigInvalid, GitFailed
from syncd.model.page import walk_pages
from syncd.model.site import SiteCreate, SiteSectionCreate

Run = Callable[[Sequence[str]], int]
"""Carries out the words after `syncd` and returns the exit code."""
NEW_TITLE = "Hello from Git"
NEW_PAGE = f"""# {NEW_TITLE}

This page was added in an editor, committed with Git, and proposed with `syncd push`.
"""


@dataclass(frozen=True)
class _Demo:
    """One demo: its directory, its platform, and how it runs syncd."""

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


def run_demo(keep: Path | None, run: Run, *, should_open: bool = False) -> None:
    """Run the demo in a temporary directory, or in `keep`, which must be new.

    Shape: at its end it tells the address of a published page. With `should_open` it opens that in a browser; then, and
    on a terminal, the platform runs until somebody presses Enter.
    Raises: ConfigInvalid when `keep` is no new directory.
    """
    with _open_directory(keep) as root, _start_platform(root, run) as demo:
        _print_step(
            "A platform is running", f"It serves the manual of syncd as space {demo.space}, and site {demo.site}."
        )
        _clone_space(demo)
        _edit_pages(demo)
        _propose_changes(demo)
        _merge_request(demo)
        _apply_site(demo)
        _show_published(demo, should_open=should_open)
        _print_step("That was the whole round", "Each step above is a command of its own: syncd --help")
    if keep is not None:
        port = urlsplit(demo.url).port
        serve = shlex.join(["syncd", "platform", "serve", "--data", str(keep / "platform"), "--port", str(port)])
        print(f"Everything is in {keep}: {serve} takes it up again.")


@contextmanager
def _open_directory(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        _make_directory(keep)
        yield keep.absolute()
        return
    before = os.environ.get("XDG_STATE_HOME")
    with tempfile.TemporaryDirectory(prefix="syncd-demo-") as name:
        os.environ["XDG_STATE_HOME"] = name  # what the demo trusts is not recorded for the user
        try:
            yield Path(name).resolve()
        finally:
            del os.environ["XDG_STATE_HOME"]
            if before is not None:
                os.environ["XDG_STATE_HOME"] = before


def _make_directory(path: Path) -> None:
    """Make a directory, or take an empty one. Raises: ConfigInvalid."""
    try:
        path.mkdir(parents=True, exist_ok=True)
        is_empty = not any(path.iterdir())
    except OSError as error:
        raise ConfigInvalid(f"{path}: {error.strerror}", hint="name a new directory") from error
    if not is_empty:
        raise ConfigInvalid(f"{path} is not empty", hint="name a new directory")


@contextmanager
def _start_platform(root: Path, run: Run) -> Iterator[_Demo]:
    """Start the embedded platform, and publish the manual on it as a space with a site."""
    from syncd.platform.server import BackgroundServer
    from syncd.platform.services.directory.read import import_directory
    from syncd.platform.storage.storage import Storage

    data = root / "platform"
    with Storage(data) as storage:
        storage.bootstrap()
        imported = import_directory(storage, MANUAL, title="syncd manual", space=None)
        token = (data / "token").read_text(encoding="utf-8").strip()
        with BackgroundServer(storage) as url, Client(url, token) as client:
            organization = client.spaces.get(imported.space).organization or ""
            site = client.sites.create(organization, SiteCreate(title="syncd docs"))
            body = SiteSectionCreate(space_id=imported.space, title="Manual")
            client.sections.create(organization, site.id, body)
            yield _Demo(root, url, token, organization, imported.space, site.id, run)


def _clone_space(demo: _Demo) -> None:
    token_file = demo.root / "platform" / "token"
    _print_step("Clone the space", "Every page becomes a Markdown file, every revision a commit.")
    _run_syncd(demo, "clone", demo.url, demo.space, str(demo.clone), "--token-file", str(token_file))
    _run_git(demo, "log", "--oneline", "--graph", "--decorate")
    _run_command(demo, "ls")


def _edit_pages(demo: _Demo) -> None:
    _print_step("Edit one page, add another, commit", "Plain files and plain Git; nothing else is needed.")
    readme, summary = demo.clone / "README.md", demo.clone / "SUMMARY.md"
    readme.write_text(readme.read_text("utf-8") + "\nThis line was written in a laptop's editor.\n", encoding="utf-8")
    (demo.clone / "hello.md").write_text(NEW_PAGE, encoding="utf-8")
    summary.write_text(summary.read_text("utf-8") + "* [Hello from Git](hello.md)\n", encoding="utf-8")
    _run_git(demo, "add", "--all")
    _run_git(demo, "commit", "--quiet", "--message", "Say hello from Git")
    _run_git(demo, "show", "--stat", "--oneline", "HEAD")


def _propose_changes(demo: _Demo) -> None:
    _print_step("Open a change request from the commit", "One for each space and branch; its content is the branch's.")
    _run_syncd(demo, "push", cwd=demo.clone)
    _run_git(demo, "diff", "--stat", "platform/main...platform/changes/syncd-manual/1")


def _merge_request(demo: _Demo) -> None:
    _print_step("A reviewer merges it on the platform", "Here through the API, as the web interface would.")
    with Client(demo.url, demo.token) as client:
        merged = client.change_requests.merge(demo.space, "1")
    print(f"  the platform answered: {merged.result}, revision {merged.revision}")
    _print_step("Pull", "The merge comes back; the branch fast-forwards, and no work appears twice.")
    _run_syncd(demo, "pull", cwd=demo.clone)
    _run_git(demo, "log", "--oneline", "--graph", "--decorate")
    _run_git(demo, "status", "--short", "--branch")


def _apply_site(demo: _Demo) -> None:
    _print_step("A site as code", "A file in the repository says what the site has and which old addresses lead where.")
    text = f"""version: 1
site: {{ org: {demo.organization}, id: {demo.site} }}
spaces: {{ manual: {demo.space} }}
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
    (demo.clone / "site.yaml").write_text(text, encoding="utf-8")
    print(style_text("  site.yaml", 1, sys.stdout))
    print("".join(f"    {line}\n" for line in text.splitlines()), end="")
    with (demo.clone / ".git" / "syncd.toml").open("a", encoding="utf-8") as config:
        config.write('\n[repository.site]\nfile = "site.yaml"\n')
    _run_git(demo, "add", "site.yaml")
    _run_git(demo, "commit", "--quiet", "--message", "Declare redirects")
    _run_syncd(demo, "site", "plan", cwd=demo.clone)
    _run_syncd(demo, "site", "apply", "--yes", cwd=demo.clone)
    _run_syncd(demo, "status", cwd=demo.clone)


def _show_published(demo: _Demo, *, should_open: bool) -> None:
    with Client(demo.url, demo.token) as client:
        published = client.sites.publish(demo.organization, demo.site)
        pages = walk_pages(client.content.list_pages(demo.space))
        path = next((page.path or "" for page, _ in pages if page.title == NEW_TITLE), "")
    address = f"{(published.urls.published or demo.url).rstrip('/')}/{path}"
    _print_step("Read it", "What was merged is published: a page for readers, without an account.")
    print(f"  {address}", flush=True)
    if should_open and not open_in_browser(address):
        print("  There is no browser to open here: open the address yourself.")
    if should_open or (sys.stdin.isatty() and sys.stdout.isatty()):
        print("  The platform runs until you press Enter.", flush=True)
        with suppress(KeyboardInterrupt):
            sys.stdin.readline()
    else:
        print("  It opens while the platform runs: syncd demo --open waits for you.")


def _print_step(title: str, text: str) -> None:
    print(f"\n{style_text('== ' + title, 36, sys.stdout)}\n   {text}", flush=True)


def _run_syncd(demo: _Demo, *words: str, cwd: Path | None = None) -> None:
    """Run a command of this very program as a person would type it."""
    print(style_text("$ " + shlex.join(["syncd", *words]), 1, sys.stdout), flush=True)
    before = Path.cwd()
    try:
        if cwd is not None:
            os.chdir(cwd)
        code = demo.run(words)
    finally:
        os.chdir(before)
    if code:
        raise GitFailed(f"syncd {' '.join(words)} ended with {code}; the demo stops here")


def _run_git(demo: _Demo, *words: str) -> None:
    person = {"NAME": "A. Writer", "EMAIL": "writer@example.org"}
    environ = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    isolated = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_PAGER": "cat"}
    _run_command(demo, "git", *words, environ=environ | isolated)


def _run_command(demo: _Demo, *words: str, environ: dict[str, str] | None = None) -> None:
    print(style_text("$ " + shlex.join(words), 1, sys.stdout), flush=True)
    # A Git hook, for one, sets GIT_DIR: the demo's commits would go there.
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("GIT_", "SYNCD_"))}
    result = subprocess.run(words, cwd=demo.clone, env=inherited | (environ or {}), check=False)
    if result.returncode:
        raise GitFailed(f"{' '.join(words)} ended with {result.returncode}; the demo stops here")
