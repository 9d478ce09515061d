"""A Git remote: reached by its address alone, with a token that nobody else sees, and never forced."""

import os
import shutil
import stat
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from syncd.errors import (
    ConfigInvalid,
    GitFailed,
    NotFound,
    RepositoryDenied,
    Stopped,
    SyncdError,
    Unauthorized,
    Unreachable,
)
from syncd.repo.failures import build_remote_failure
from syncd.repo.process.git import Programs
from syncd.repo.process.location import find_repository
from syncd.repo.remote.address import parse_address
from syncd.repo.remote.credential import GUARDED, PRIVATE, answer_question
from syncd.repo.remote.remote import Access, Remote, build_ssh_command
from syncd.repo.repository import Repository
from tests.serving_git import TOKEN, GitServer, serve_git

Git = Callable[..., str]


@pytest.fixture
def server(tmp_path: Path, base: str, top: Path, git: Git) -> Iterator[GitServer]:
    """A server with a bare copy of the work tree."""
    (tmp_path / "hosted").mkdir()
    subprocess.run(["git", "clone", "--quiet", "--bare", str(top), str(tmp_path / "hosted/docs.git")], check=True)
    subprocess.run(["git", "-C", str(tmp_path / "hosted/docs.git"), "config", "http.receivepack", "true"], check=True)
    with serve_git(tmp_path / "hosted") as serving:
        yield serving


@pytest.fixture
def token(tmp_path: Path) -> Path:
    path = tmp_path / "a token's file"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o600)
    return path


def hosted(server: GitServer, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(server.root / "docs.git"), *words], capture_output=True, text=True, check=True
    )
    return done.stdout


def grown(server: GitServer, git: Git, top: Path, text: str = "more\n") -> str:
    """Somebody else commits to the remote's branch."""
    other = top.parent / "other"
    if not other.exists():
        subprocess.run(["git", "clone", "--quiet", str(server.root / "docs.git"), str(other)], check=True)
    git("pull", "--quiet", at=other)
    (other / "more.md").write_text(text)
    git("add", "--all", at=other)
    git("commit", "--quiet", "--message", "More", at=other)
    git("push", "--quiet", "origin", "main", at=other)
    return git("rev-parse", "main", at=other).strip()


def test_branches_are_listed_fetched_and_pushed(
    server: GitServer, token: Path, base: str, top: Path, git: Git, commit: Callable[..., str]
) -> None:
    theirs = grown(server, git, top)
    with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
        assert remote.list_heads(["main", "nothing"]) == {"main": theirs}
        assert remote.fetch(["main"], known=[base]) == {"main": theirs}
        assert git("cat-file", "-t", theirs) == "commit\n"
        assert git("for-each-ref", "--format=%(objectname)").split() == [base, base], "no ref moves"
        ours = commit({"ours.md": b"ours\n"}, theirs)
        assert remote.push(ours, "main", old=theirs) is None
        assert remote.push(ours, "side/main", old=None) is None
    assert hosted(server, "rev-parse", "main", "side/main").split() == [ours, ours]
    assert not (top / ".git/syncd/upstream.git").exists()


@pytest.mark.parametrize("format", ["sha1", "sha256"])
def test_a_listing_makes_no_repository_whatever_ids_the_remote_has(tmp_path: Path, git: Git, format: str) -> None:
    hosted, top = tmp_path / "hosted.git", tmp_path / "clone"
    git("init", "--quiet", "--bare", f"--object-format={format}", "--initial-branch=main", str(hosted), at=tmp_path)
    git("init", "--quiet", f"--object-format={format}", "--initial-branch=main", str(top), at=tmp_path)
    git("commit", "--quiet", "--allow-empty", "--message", "One", at=top)
    one = git("rev-parse", "HEAD", at=top).strip()
    git("push", "--quiet", str(hosted), "main", "main:refs/notes/one", at=top)
    with Remote(find_repository(top), Access(str(hosted))) as remote:
        assert remote.list_heads(["main", "other"]) == {"main": one}
        assert remote.find_ref("refs/notes/one") == one
        assert remote.find_ref("refs/notes/two") is None
        assert remote.list_refs(["refs/notes/one", "refs/heads/ma*"]) == {"refs/notes/one": one, "refs/heads/main": one}
        assert list((top / ".git/syncd/upstream.git").iterdir()) == []
        assert remote.fetch(["main"], known=[]) == {"main": one}
        assert remote.push(one, "other", old=None) is None
        assert remote.list_heads(["main", "other"]) == {"main": one, "other": one}


@pytest.mark.parametrize("setting", ["group", "0660", "true"])
def test_what_is_fetched_into_a_shared_repository_is_shared(
    server: GitServer, token: Path, base: str, top: Path, git: Git, setting: str
) -> None:
    # A directory of loose objects from before the setting keeps its mode, and what is fetched may fall into it.
    git("repack", "-adq")
    git("config", "core.sharedRepository", setting)
    theirs = grown(server, git, top)
    umask = os.umask(0o077)
    try:
        with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
            remote.fetch(["main"], known=[base])
    finally:
        os.umask(umask)
    loose = top / ".git" / "objects" / theirs[:2] / theirs[2:]
    assert stat.S_IMODE(loose.stat().st_mode) == 0o440
    assert loose.parent.stat().st_mode & 0o070 == 0o070


@pytest.mark.long
def test_what_somebody_pushed_meanwhile_is_never_replaced(
    server: GitServer, token: Path, base: str, top: Path, git: Git, commit: Callable[..., str]
) -> None:
    ours = commit({"ours.md": b"ours\n"}, base)
    theirs = grown(server, git, top)
    with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
        refusal = remote.push(ours, "main", old=base)
        assert refusal is not None
        assert (refusal.reason, refusal.is_protected) == ("stale info", False)
        refusal = remote.push(ours, "main", old=None)
        assert refusal is not None
    assert hosted(server, "rev-parse", "main").strip() == theirs


@pytest.mark.long
@pytest.mark.parametrize(("says", "protected"), [("protected branch", True), ("no", True)])
def test_a_protected_branch_is_told(
    server: GitServer, token: Path, base: str, top: Path, commit: Callable[..., str], says: str, protected: bool
) -> None:
    hook = server.root / "docs.git/hooks/pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\necho 'GH006: {says} {TOKEN}' >&2\nexit 1\n")
    hook.chmod(0o755)
    with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
        refusal = remote.push(commit({"ours.md": b"ours\n"}, base), "main", old=base)
    assert refusal is not None
    assert refusal.is_protected is protected
    assert refusal.reason == "pre-receive hook declined"


def test_the_token_is_in_no_argument_environment_configuration_object_or_error(
    server: GitServer,
    token: Path,
    base: str,
    top: Path,
    tmp_path: Path,
    commit: Callable[..., str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A git that records how it was called takes git's place; all that it starts is recorded too."""
    record, programs = tmp_path / "record", tmp_path / "programs"
    programs.mkdir()
    record.mkdir()
    wrapper = programs / "git"
    wrapper.write_text(f'#!/bin/sh\n{{ echo "$0 $*"; env; }} >> "{record}/$$"\nexec {shutil.which("git")} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr(
        "syncd.repo.process.git._find_programs", lambda: Programs(str(shutil.which("env")), str(wrapper))
    )
    errors = []
    with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
        remote.list_heads(["main"])
        remote.fetch(["main"], known=[base])
        assert remote.push(commit({"ours.md": b"ours\n"}, base), "main", old=base) is None
        configuration = (top / ".git/syncd/upstream.git/config").read_text()
        server.token = "another"
        with pytest.raises(Unauthorized) as refused:
            remote.list_heads(["main"])
        errors.append(refused.value.what)
    assert any("Basic" in authorization for _, authorization in server.seen), "the token was used"
    told = "".join(path.read_text(errors="replace") for path in record.iterdir())
    assert "ls-remote" in told
    assert "push" in told
    objects = subprocess.run(
        ["git", "-C", str(top), "cat-file", "--batch-all-objects", "--batch"], capture_output=True, check=True
    ).stdout
    files = b"".join(path.read_bytes() for path in (top / ".git").rglob("*") if path.is_file())
    for where in (told, configuration, *errors):
        assert TOKEN not in where
    assert TOKEN.encode() not in objects + files


@pytest.mark.parametrize("protocol", ["same host", "another host"])
def test_after_a_redirect_no_other_host_learns_the_token(
    server: GitServer, token: Path, tmp_path: Path, base: str, top: Path, protocol: str
) -> None:
    with serve_git(tmp_path / "hosted") as other:
        server.moved["moved"] = (server if protocol == "same host" else other).url
        with Remote(find_repository(top), Access(f"{server.url}/moved/docs.git", token_file=token)) as remote:
            if protocol == "same host":
                assert remote.list_heads(["main"]) == {"main": base}
            else:
                with pytest.raises(SyncdError):
                    remote.list_heads(["main"])
                assert other.seen
                assert not any(authorization for _, authorization in other.seen)


def test_the_configuration_of_the_repository_takes_no_part(
    server: GitServer, token: Path, tmp_path: Path, base: str, top: Path, git: Git
) -> None:
    sung = tmp_path / "sung"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {sung}\n")
    program.chmod(0o755)
    with serve_git(tmp_path / "hosted") as thief:
        for key, value in {
            f"url.{thief.url}/.insteadOf": f"{server.url}/",
            f"url.{thief.url}/x/.pushInsteadOf": f"{server.url}/",
            "credential.helper": f"!{program}",
            f"credential.{server.url}.helper": f"!{program}",
            "core.askPass": str(program),
            "core.sshCommand": str(program),
            "http.proxy": thief.url,
            "http.extraHeader": "X-Thief: 1",
            "protocol.ext.allow": "always",
            "protocol.allow": "always",
            "core.hooksPath": str(program.parent),
        }.items():
            git("config", key, value)
        with Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote:
            assert remote.list_heads(["main"]) == {"main": base}
            remote.fetch(["main"], known=[])
        assert not thief.seen
    assert not sung.exists()


def test_a_path_of_this_machine_is_a_remote(server: GitServer, base: str, top: Path) -> None:
    for url in (str(server.root / "docs.git"), f"file://{server.root}/docs.git"):
        with Remote(find_repository(top), Access(url)) as remote:
            assert remote.list_heads(["main"]) == {"main": base}


def test_ssh_is_told_whom_to_trust_and_asks_nobody(tmp_path: Path, base: str, top: Path) -> None:
    """A program in place of ssh writes down how it was called, and serves the repository itself."""
    record = tmp_path / "record"
    program = tmp_path / "ssh"
    program.write_text(
        f'#!/bin/sh\nprintf "%s\\n" "$@" > {record}\nenv >> {record}\nfor last; do :; done\neval "$last"\n'
    )
    program.chmod(0o755)
    access = Access(
        f"git@example.org:{top}/.git", ssh_key_file=tmp_path / "key", known_hosts_file=tmp_path / "known_hosts"
    )
    with Remote(find_repository(top), access, ssh=str(program)) as remote:
        assert remote.list_heads(["main"]) == {"main": base}
    told = record.read_text().split("\n")
    for word in ("none", str(tmp_path / "key"), "BatchMode=yes", "StrictHostKeyChecking=yes", "IdentitiesOnly=yes"):
        assert word in told
    assert f"UserKnownHostsFile={tmp_path / 'known_hosts'}" in told
    assert "git@example.org" in told
    assert not any(line.startswith(("SSH_", "SYNCD_")) for line in told)


def test_a_path_that_ssh_would_read_otherwise_is_refused() -> None:
    for path in ("/a b", "/a%d", "/a'b", "/$HOME", "/~"):
        with pytest.raises(ConfigInvalid):
            build_ssh_command(Access("git@example.org:x", known_hosts_file=Path(path)), "/bin/ssh")
    assert build_ssh_command(Access("git@example.org:x"), "/bin/ssh").startswith("/bin/ssh -F none -o BatchMode=yes")


@pytest.mark.parametrize(
    ("url", "protocol", "host"),
    [
        ("https://example.org/a/b.git", "https", "example.org"),
        ("https://example.org:8443/a/b.git", "https", "example.org:8443"),
        ("http://127.0.0.1:8000/a", "http", "127.0.0.1:8000"),
        ("ssh://git@example.org:22/a", "ssh", "example.org:22"),
        ("git@example.org:a/b.git", "ssh", "example.org"),
        ("example.org:/srv/a.git", "ssh", "example.org"),
        ("/srv/a b.git", "file", ""),
        ("file:///srv/a.git", "file", ""),
    ],
)
def test_addresses_that_are_spoken_to(url: str, protocol: str, host: str) -> None:
    address = parse_address(url)
    assert (address.protocol, address.host) == (protocol, host)


REFUSED = """
ext::sh%20-c%20id  ext::x  fd::17  git://example.org/a  http://example.org/a  ftp://example.org/a  ../a.git  a.git
-oProxyCommand=x  -oProxyCommand=x:y  git@-oProxyCommand=x:y  ssh://-oProxyCommand=x/a  https://  https:///a
file://example.org/a  https://example.org/a?x=1  git@example.org:-x  https://exa$mple.org/x  http::https://x/y
file://  user@:x  https://[::1  ssh://a@b@c/x
"""


@pytest.mark.parametrize(
    "url",
    REFUSED.split(),
)
def test_addresses_that_are_refused(url: str) -> None:
    with pytest.raises(ConfigInvalid):
        parse_address(url)


@pytest.mark.parametrize(
    "url", ["https://u:hunter2@example.org/a", "https://hunter2@example.org/a", "ssh://u:hunter2@x/a"]
)
def test_a_credential_in_an_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        parse_address(url)
    assert "hunter2" not in f"{refused.value.what}{refused.value.hint}"
    assert "token_file" in refused.value.hint


def test_the_helper_answers_for_one_host_only(token: Path) -> None:
    words = [PRIVATE, str(token), "me", "https", "example.org"]
    assert answer_question([*words, "get"], "protocol=https\nhost=example.org\n") == f"username=me\npassword={TOKEN}\n"
    for question in (
        "protocol=https\nhost=evil.org\n",
        "protocol=http\nhost=example.org\n",
        "",
        "host=example.org:1\n",
    ):
        assert answer_question([*words, "get"], question) == ""
    assert answer_question([*words, "store"], "protocol=https\nhost=example.org\n") == ""


@pytest.mark.parametrize(
    "text",
    ["", "two words\n", "two\nlines\n", "https://u:p@h\nhttps://v:q@i\n", "é\n", "x" * 20_000, "-----BEGIN\nx\n"],
)
def test_the_helper_sends_nothing_but_a_token(token: Path, text: str) -> None:
    token.write_text(text)
    assert answer_question([PRIVATE, str(token), "me", "https", "h", "get"], "protocol=https\nhost=h\n") == ""


def test_the_helper_sends_no_file_that_others_may_read_unless_it_is_guarded(token: Path) -> None:
    token.chmod(0o640)
    words = [str(token), "me", "https", "h", "get"]
    assert answer_question([PRIVATE, *words], "protocol=https\nhost=h\n") == ""
    assert answer_question([GUARDED, *words], "protocol=https\nhost=h\n") != ""


@pytest.mark.parametrize(
    ("complaint", "error"),
    [
        ("fatal: unable to access 'https://x/': Could not resolve host: x", Unreachable),
        (
            "ssh: connect to host x port 22: Connection refused\nfatal: Could not read from remote repository.",
            Unreachable,
        ),
        ("error: RPC failed; HTTP 502 curl 22 The requested URL returned error: 502", Unreachable),
        ("remote: no\nfatal: Authentication failed for 'https://x/'", Unauthorized),
        ("fatal: could not read Username for 'https://x': terminal prompts disabled", Unauthorized),
        ("git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.", Unauthorized),
        (
            "No ED25519 host key is known for x and you have requested strict checking.\nHost key verification failed.",
            Unauthorized,
        ),
        ("fatal: unable to access 'https://x/': SSL certificate problem: self-signed certificate", Unauthorized),
        ("fatal: unable to access 'https://x/': The requested URL returned error: 403", Unauthorized),
        ("remote: Repository not found.\nfatal: repository 'https://x/a/' not found", NotFound),
        ("fatal: '/a' does not appear to be a git repository", NotFound),
        ("fatal: something else", GitFailed),
        ("error: cannot open '.git/FETCH_HEAD': Permission denied", RepositoryDenied),
        ("error: insufficient permission for adding an object to repository database .git/objects", RepositoryDenied),
    ],
)
def test_failures_are_told_apart(complaint: str, error: type[SyncdError]) -> None:
    found = build_remote_failure("fetch", "x", 128, complaint)
    assert type(found) is error
    assert "remote:" not in found.what


def test_words_of_the_remote_are_not_repeated() -> None:
    for complaint in (
        f"remote: {TOKEN}\nfatal: bad",
        f"fatal: remote error: {TOKEN}",
        f"ERR: remote error: {TOKEN} timed out",
    ):
        assert TOKEN not in build_remote_failure("fetch", "x", 128, complaint).what


@pytest.mark.long
@pytest.mark.parametrize("status", [503, 404, 403])
def test_a_server_that_fails_is_told(server: GitServer, token: Path, top: Path, status: int) -> None:
    server.status = status
    error = {503: Unreachable, 404: NotFound, 403: Unauthorized}[status]
    with (
        Remote(find_repository(top), Access(f"{server.url}/docs.git", token_file=token)) as remote,
        pytest.raises(error),
    ):
        remote.list_heads(["main"])


def test_a_wait_can_be_ended(tmp_path: Path, base: str, top: Path) -> None:
    program = tmp_path / "ssh"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)

    def stop() -> None:
        raise Stopped("stopped")

    with Remote(find_repository(top), Access("x@y:/z"), pulse=stop, ssh=str(program)) as remote, pytest.raises(Stopped):
        remote.list_heads(["main"])


def test_the_address_of_a_remote_is_read_from_the_configuration(repository: Repository, git: Git) -> None:
    assert repository.find_remote_url("origin") is None
    git("config", "url.https://evil.org/.insteadOf", "https://example.org/")
    git("remote", "add", "origin", "https://example.org/a.git")
    assert repository.find_remote_url("origin") == "https://example.org/a.git"


@pytest.mark.long
def test_a_shallow_repository_can_fetch_and_push(
    server: GitServer, token: Path, top: Path, git: Git, tmp_path: Path
) -> None:
    grown(server, git, top)
    url = f"file://{server.root}/docs.git"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", url, str(tmp_path / "shallow")], check=True)
    theirs = grown(server, git, top, "even more\n")
    shallow = tmp_path / "shallow"
    here = git("rev-parse", "main", at=shallow).strip()
    with Remote(find_repository(shallow), Access(f"{server.url}/docs.git", token_file=token)) as remote:
        assert remote.fetch(["main"], known=[here]) == {"main": theirs}
        assert git("merge-base", here, theirs, at=shallow).strip() == here
        git("fsck", "--connectivity-only", at=shallow)
        assert remote.push(theirs, "new", old=None) is None
    assert stat.S_IMODE((shallow / ".git/syncd").stat().st_mode) == 0o700
