"""What a stranger commits, or packs into an archive, names no file, no program and no host that gets a token."""

import os

import pytest

from tests.checkouts import plant
from tests.cli.conftest import PAGES, Shell
from tests.security.conftest import SECRET, Stranger, Victim, configuration

DOCS = {f"docs/{path}": text for path, text in PAGES.items()}
EMBEDDED = {
    "evil.git/HEAD": "ref: refs/heads/main\n",
    "evil.git/config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n",
    "evil.git/objects/info/x": "",
    "evil.git/refs/heads/.x": "",
}
"""A bare repository as files that Git lets anybody commit."""
ONLINE = [
    ("sync",),
    ("pull",),
    ("push",),
    ("push", "--ci", "main"),
    ("init",),
    ("review",),
    ("api", "GET", "/user"),
    ("site", "plan"),
    ("site", "apply", "--yes"),
    ("site", "drift"),
]
"""Commands that send a token."""


def test_cloning_and_syncing_runs_no_hook_of_an_embedded_repository(victim: Victim) -> None:
    canary = victim.root / "canary"
    path = victim.root / "clone" / "evil.git"
    committed = configuration(
        url="http://127.0.0.1:9",
        platform='token_file = "/proc/self/personality"',
        more=f'[repository.upstream]\nurl = "{path}"\n',
    )
    hook = f"#!/bin/sh\n: > '{canary}'\n"
    files = {"syncd.toml": committed, **EMBEDDED, "evil.git/hooks/pre-receive": hook, **DOCS}
    clone = victim.clone(files, executable=("evil.git/hooks/pre-receive",))
    said = victim.syncd("sync", at=clone)
    assert not canary.exists()
    assert said.code == 78
    assert "syncd trust" in said.err


def test_a_folder_that_looks_like_a_repository_takes_no_clone_over(
    victim: Victim, shell: Shell, stranger: Stranger
) -> None:
    docs = shell.clone()
    sub = {"sub/HEAD": "ref: refs/heads/main\n", "sub/objects/x": "", "sub/refs/x": ""}
    plant(docs, {**sub, "sub/syncd.toml": configuration(url=stranger.url, platform=f'token_file = "{shell.token}"')})
    victim.git("add", "--all", at=docs)
    victim.git("commit", "--quiet", "--message", "Add a folder", at=docs)
    said = victim.syncd("pull", at=docs / "sub")
    assert not stranger.requests
    assert said.code == 0, said.err


def test_no_private_file_goes_to_a_committed_upstream(victim: Victim, stranger: Stranger) -> None:
    upstream = f'[repository.upstream]\nurl = "{stranger.url}/x.git"\ntoken_file = "~/.git-credentials"\n'
    clone = victim.clone({"syncd.toml": configuration(url="http://127.0.0.1:9", more=upstream), **DOCS})
    said = victim.syncd("pull", at=clone)
    assert not stranger.requests
    assert said.code == 78
    assert "repository.0.upstream.token_file" in said.err


@pytest.mark.parametrize("words", ONLINE, ids=" ".join)
def test_no_command_sends_the_token_where_a_commit_says(
    victim: Victim, stranger: Stranger, words: tuple[str, ...]
) -> None:
    committed = configuration(url=stranger.url, more="[repository.site]\n")
    clone = victim.clone({"syncd.toml": committed, "site.yaml": "version: 1\n", **DOCS})
    said = victim.syncd(*words, at=clone)
    assert not stranger.requests
    assert said.code == 78


@pytest.mark.parametrize("words", ONLINE, ids=" ".join)
def test_no_command_sends_the_token_where_an_archive_says(
    victim: Victim, stranger: Stranger, words: tuple[str, ...]
) -> None:
    clone = victim.clone({"site.yaml": "version: 1\n", **DOCS})
    plant(clone / ".git", {"syncd.toml": configuration(url=stranger.url, more="[repository.site]\n")})
    said = victim.syncd(*words, at=clone)
    assert not stranger.requests
    assert said.code == 78


def test_a_git_file_that_points_into_an_archive_brings_no_configuration(victim: Victim, stranger: Stranger) -> None:
    clone = victim.clone(DOCS)
    (clone / ".git").rename(clone / "inner")
    plant(clone, {".git": "gitdir: inner\n", "inner/syncd.toml": configuration(url=stranger.url)})
    said = victim.syncd("pull", at=clone)
    assert not stranger.requests
    assert said.code == 78


def test_a_bare_repository_in_an_archive_brings_no_configuration(victim: Victim, stranger: Stranger) -> None:
    victim.clone(DOCS)
    victim.git("clone", "--quiet", "--bare", "clone", "bare.git", at=victim.root)
    bare = plant(victim.root / "bare.git", {"syncd.toml": configuration(url=stranger.url)})
    for at in (bare, bare / "refs"):
        assert victim.syncd("pull", at=at).code == 78
    assert not stranger.requests


def test_init_adopts_no_configuration_of_an_archive(victim: Victim, shell: Shell, stranger: Stranger) -> None:
    upstream = f'[repository.upstream]\nurl = "{stranger.url}/x.git"\ntoken_file = "~/.token"\n'
    clone = victim.clone(DOCS)
    plant(clone / ".git", {"syncd.toml": configuration(url=shell.url, space=shell.space, more=upstream)})
    words = ("init", shell.url, f"{shell.space}=docs", "--token-file", str(shell.token))
    for typed in (words, ("init",), ("sync",)):
        assert victim.syncd(*typed, at=clone).code == 78
    assert not stranger.requests


@pytest.mark.parametrize("words", [("sync",), ("api", "GET", "/user")], ids=" ".join)
def test_a_commit_gets_no_token_of_the_users_own_configuration(
    victim: Victim, shell: Shell, words: tuple[str, ...]
) -> None:
    """Content of a stranger would otherwise act, under the user's name, on spaces that it chose."""
    own = f'[platform]\nurl = "{shell.url}"\ntoken_file = "{shell.token}"\n'
    plant(victim.home, {".config/syncd/config.toml": own})
    more = '[repository.change_requests]\nmerge = "auto"\n'
    committed = configuration(space=shell.space, more=more).replace('directory = "docs"', 'directory = "."')
    clone = victim.clone({"syncd.toml": committed, "README.md": "# Owned\n", "SUMMARY.md": "* [Owned](README.md)\n"})
    assert victim.syncd(*words, at=clone).code == 78
    at_platform = ("--url", shell.url, "--token-file", shell.token)
    listed = shell.fine("api", "GET", f"/spaces/{shell.space}/change-requests", *at_platform)
    assert '"items": []' in listed


def test_a_link_in_the_place_of_a_committed_configuration_is_refused(victim: Victim, stranger: Stranger) -> None:
    private = plant(victim.home, {"elsewhere.toml": configuration(url=stranger.url)}) / "elsewhere.toml"
    clone = victim.clone(DOCS)
    (clone / "syncd.toml").symlink_to(private)
    said = victim.syncd("sync", at=clone)
    assert said.code == 78
    assert "symbolic link" in said.err
    assert not stranger.requests
    (clone / "syncd.toml").rename(clone / ".git" / "syncd.toml")
    said = victim.syncd("sync", at=clone)
    assert said.code == 78
    assert "symbolic link" in said.err
    assert not stranger.requests


def test_a_pipe_in_the_place_of_a_configuration_stops_nothing(victim: Victim) -> None:
    clone = victim.clone(DOCS)
    os.mkfifo(clone / "syncd.toml")
    assert victim.syncd("sync", at=clone).code == 78


@pytest.mark.parametrize("text", ["x = " + "[" * 20_000, "a." * 20_000 + "b = 1\n", "x" * (2 << 20)])
def test_a_configuration_made_to_break_the_reader_is_one_error(victim: Victim, text: str) -> None:
    clone = victim.clone({**DOCS, "syncd.toml": text})
    said = victim.syncd("sync", at=clone)
    assert said.code == 78
    assert len(said.err) < 2000


GITHUB = {"CI": "true", "GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": "main"}


@pytest.mark.parametrize(
    "words",
    [
        ("push", "--ci"),
        ("push", "--ci", "--config", "syncd.toml"),
        ("push", "--ci", "--config", "conf/linked.toml"),
        ("push", "--ci", "--config", "conf/../syncd.toml"),
        ("sync", "--config", "syncd.toml"),
        ("site", "apply", "--yes", "--config", "conf/linked.toml"),
        ("api", "GET", "/user", "--config", "syncd.toml"),
    ],
    ids=" ".join,
)
@pytest.mark.parametrize("named", [True, False])
def test_no_job_sends_its_token_where_the_checkout_says(
    victim: Victim, shell: Shell, stranger: Stranger, words: tuple[str, ...], named: bool
) -> None:
    """Whoever may push a branch, or opens a pull request that a job runs on, chooses these files."""
    clone = victim.clone({"syncd.toml": configuration(url=stranger.url), **DOCS})
    (clone / "conf").mkdir()
    (clone / "conf" / "linked.toml").symlink_to("../syncd.toml")
    environ = {**GITHUB, "SYNCD_URL": shell.url} if named else GITHUB
    assert victim.syncd(*words, at=clone, environ=environ).code == 78
    if "--config" in words:
        named_file = {"SYNCD_CONFIG": str(clone / words[-1])}
        assert victim.syncd(*words[:-2], at=clone, environ={**environ, **named_file}).code == 78
    assert not stranger.requests


@pytest.mark.parametrize(
    "event",
    [
        {"GITHUB_EVENT_NAME": "pull_request_target", **GITHUB},
        {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/docs", "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "evil/docs"},
    ],
)
@pytest.mark.parametrize("words", [("push", "--ci", "main"), ("sync",), ("site", "apply", "--yes")], ids=" ".join)
def test_a_change_from_a_fork_chooses_neither_spaces_nor_policies(
    victim: Victim, shell: Shell, event: dict[str, str], words: tuple[str, ...]
) -> None:
    more = '[repository.site]\n[repository.change_requests]\nmerge = "auto"\n'
    clone = victim.clone(
        {"syncd.toml": configuration(space=shell.space, more=more), "site.yaml": "version: 1\n", **DOCS}
    )
    environ = {**event, "SYNCD_URL": shell.url, "SYNCD_TOKEN": shell.token.read_text().strip()}
    said = victim.syncd(*words, at=clone, environ=environ)
    assert said.code == 78
    assert "comes from a fork" in said.err


def test_the_token_of_a_job_goes_to_the_platform_of_the_job_alone(
    victim: Victim, shell: Shell, stranger: Stranger
) -> None:
    docs = shell.clone()
    config = docs / ".git" / "syncd.toml"
    config.write_text(configuration(url=stranger.url))
    victim.syncd("trust", "--yes", at=docs)
    said = victim.syncd("pull", at=docs, environ={"SYNCD_URL": shell.url})
    assert said.code == 78
    assert "SYNCD_TOKEN is for" in said.err
    assert not stranger.requests


def test_a_relative_configuration_in_the_environment_is_no_ones(victim: Victim, stranger: Stranger) -> None:
    clone = victim.clone({"syncd.toml": configuration(url=stranger.url), **DOCS})
    assert victim.syncd("pull", at=clone, environ={"SYNCD_CONFIG": "syncd.toml"}).code == 78
    assert not stranger.requests


def test_trust_in_one_repository_is_none_in_another(victim: Victim, shell: Shell, stranger: Stranger) -> None:
    """Neither for the same bytes elsewhere, nor for other bytes in the place of those that were trusted."""
    clone = victim.clone({"syncd.toml": configuration(url=stranger.url), **DOCS})
    assert victim.syncd("trust", "--yes", at=clone).code == 0
    victim.git("clone", "--quiet", str(clone), "other", at=victim.root)
    assert victim.syncd("pull", at=victim.root / "other").code == 78
    clone.rename(victim.root / "gone")
    victim.git("clone", "--quiet", "gone", "clone", at=victim.root)
    (clone / "syncd.toml").write_text(configuration(url=stranger.url, space="another"))
    assert victim.syncd("pull", at=clone).code == 78
    assert not stranger.requests


def test_a_directory_of_another_user_above_brings_no_configuration(victim: Victim, stranger: Stranger) -> None:
    """On a machine that people share, /tmp/.git can be anybody's."""
    above = victim.root / "tmp"
    plant(above, {"syncd.toml": configuration(url=stranger.url)})
    victim.git("init", "--quiet", at=above)
    plant(above / ".git", {"syncd.toml": configuration(url=stranger.url)})
    (above / "mine").mkdir()
    assert victim.syncd("pull", at=above / "mine").code == 78
    (above / ".git" / "syncd.toml").unlink()
    assert victim.syncd("pull", at=above / "mine").code == 78
    assert not stranger.requests


def test_init_binds_no_repository_but_the_one_that_is_meant(victim: Victim, shell: Shell) -> None:
    clone = victim.clone({**EMBEDDED, **DOCS})
    said = victim.syncd(
        "init", shell.url, f"{shell.space}=docs", "--token-file", str(shell.token), at=clone / "evil.git"
    )
    assert said.code == 78
    assert "bare repository inside of the work tree" in said.err
    assert not (clone / ".git" / "syncd.toml").exists()


@pytest.mark.parametrize("path", ["site.yaml", "site.lock.json", "moved.csv"])
def test_no_private_file_is_read_through_a_link_to_a_site_file(victim: Victim, path: str) -> None:
    """Findings quote the line that they are about, in the log of a job that anybody can read."""
    site = "version: 1\nsite: { org: a, id: b }\nredirect_files: [moved.csv]\n"
    clone = victim.clone({"site.yaml": site, "moved.csv": "from,to\n", **DOCS})
    for target in (victim.home / ".git-credentials", clone / ".git" / "config"):
        with (clone / ".git" / "config").open("a") as config:
            config.write(f"[x]\n\ty = {SECRET}\n")
        (clone / path).unlink(missing_ok=True)
        (clone / path).symlink_to(target)
        for format in ("text", "json", "github"):
            said = victim.syncd("site", "validate", "--format", format, at=clone)
            assert "canary" not in said.out + said.err
            assert "repositoryformatversion" not in said.out + said.err


@pytest.mark.parametrize(
    "environ",
    [{"HOME": ""}, {"HOME": "."}, {"XDG_CONFIG_HOME": ".config"}, {"HOME": "", "XDG_CONFIG_HOME": "", "CI": "true"}],
)
def test_no_directory_of_a_repository_is_taken_for_the_home(
    victim: Victim, stranger: Stranger, environ: dict[str, str]
) -> None:
    clone = victim.clone({".config/syncd/config.toml": configuration(url=stranger.url), **DOCS})
    assert victim.syncd("api", "GET", "/user", at=clone, environ=environ).code == 78
    assert not stranger.requests


def test_a_home_inside_of_the_checkout_brings_neither_a_configuration_nor_trust(
    victim: Victim, stranger: Stranger
) -> None:
    """Some jobs have their home in the directory that they check out to, at a path that everybody knows."""
    text = configuration(url=stranger.url)
    clone = victim.clone({"syncd.toml": text, "home/.config/syncd/config.toml": text, **DOCS})
    outside = {"HOME": str(victim.home)}
    assert victim.syncd("trust", "--yes", at=clone, environ=outside).code == 0
    [record] = victim.home.glob(".local/state/syncd/trust/*.json")
    inside = {"HOME": str(clone / "home")}
    committed = clone / "home" / record.relative_to(victim.home)
    plant(committed.parent, {committed.name: record.read_text()})
    committed.chmod(0o600)
    assert victim.syncd("pull", at=clone, environ=inside).code == 78
    assert "XDG_STATE_HOME" in victim.syncd("trust", "--yes", at=clone, environ=inside).err
    (clone / "syncd.toml").unlink()
    assert victim.syncd("api", "GET", "/user", at=clone, environ={**inside, **GITHUB}).code == 78
    assert not stranger.requests
