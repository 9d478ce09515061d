"""Speak to a Git remote: list its branches, fetch from it and push to it, from a scratch repository.

| rule                                              | why                                                              |
|---------------------------------------------------|------------------------------------------------------------------|
| git runs in a scratch repository, which shares    | no insteadOf, credential helper, proxy, header, sshCommand or    |
| only the objects; it lists refs in none           | hook of the user's repository takes part                         |
| one protocol is allowed, by the environment       | no redirect and no configuration leads to another transport      |
| the token is read by a helper, from its file, for | it is in no argument, environment, configuration, log or object  |
| one host                                          |                                                                  |
| ssh reads no configuration, asks nobody, and      | no ProxyCommand runs, and no stranger is trusted                 |
| knows hosts already                               |                                                                  |
| a push says where the branch has to be            | never force: what somebody else pushed meanwhile stays           |

Source: git(1), GIT_OBJECT_DIRECTORY and GIT_ALLOW_PROTOCOL; git-push(1), --porcelain.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from syncd.errors import GitFailed
from syncd.model.text import mask_unprintable
from syncd.repo.failures import build_remote_failure, translate_system_failures
from syncd.repo.names import check_branch, check_oid, check_ref
from syncd.repo.process.git import Git
from syncd.repo.process.location import RepositoryLocation
from syncd.repo.process.pipe import ignore_pulse
from syncd.repo.remote import credential
from syncd.repo.remote.address import Address, parse_address, ssh_path

SECONDS = 3600.0
"""How long one exchange with a remote may take; one that stands still is ended after a minute."""
STALL_SECONDS = 60
USERNAME = "x-access-token"
"""The user's name that goes with a token where none is given: hosts that check only the token take any name."""

_HEADS, _FETCHED, _FETCHED_REF = "refs/heads/", "refs/fetched/", "refs/fetched-ref"
_MISSING = "couldn't find remote ref"
_MOVED = re.compile(
    r"stale info|fetch first|non-fast-forward|incorrect old value|failed to (?:update ref|lock)|cannot lock"
)
_PROTECTED = re.compile(r"protected|hook declined|rule violations|pull request|TF402455|prohibited", re.IGNORECASE)
_PUSHED = re.compile(r"(.)\t[^\t]*\t(.*)")


@dataclass(frozen=True)
class Access:
    """Where a remote is, and what identifies the caller there: paths of files, never what they hold.

    Shape: a token file that `is_guarded` is the service manager's, which decides who may read it. With `addresses`,
    the host of a web address is taken to have these IP addresses, and no redirect is followed.
    """

    url: str
    username: str = ""
    token_file: Path | None = None
    ssh_key_file: Path | None = None
    known_hosts_file: Path | None = None
    is_guarded: bool = False
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """Why a remote did not take a branch; `protected` when it takes it from a pull request only."""

    reason: str
    is_protected: bool

    @property
    def has_moved(self) -> bool:
        """Whether the branch is elsewhere by now, or was locked, so that the next run may get through."""
        return _MOVED.search(self.reason) is not None


class Remote:
    """One remote of one repository, for one run; a context manager."""

    def __init__(
        self,
        place: RepositoryLocation,
        access: Access,
        *,
        pulse: Callable[[], None] = ignore_pulse,
        ssh: str | None = None,
        permit: Callable[[], None] | None = None,
        scratch: str = "",
    ) -> None:
        """Prepare to connect to a remote; nothing is sent yet.

        Shape: `pulse` is called while git works and can end it by an exception; `ssh` is a program in place of ssh;
        `permit` is called before each push and can refuse it; two remotes at once need a `scratch` each.
        Raises: ConfigInvalid.
        """
        self.address = parse_address(access.url)
        self.name = self.address.host or self.address.url
        self._place, self._access, self._permit = place, access, permit or ignore_pulse
        self._scratch = place.make_own_directory() / (scratch or "upstream.git")
        self._is_prepared = False
        self._git = Git(RepositoryLocation(self._scratch, self._scratch, None), seconds=SECONDS, pulse=pulse)
        self._config = _build_config(self.address, access)
        self._extra = {"GIT_OBJECT_DIRECTORY": str(place.common_dir / "objects"), **_build_environment(self.address)}
        if self.address.protocol == "ssh":
            self._extra |= _build_ssh_environment(access, ssh)

    def __enter__(self) -> Self:
        # What is empty is no repository yet: a listing needs none, and most runs find in it that there is no news.
        self._remove()
        with translate_system_failures("preparing to speak to a remote"):
            self._scratch.mkdir(mode=0o700)
        self._is_prepared = False
        return self

    def _prepare(self) -> None:
        """Make the scratch repository before objects are exchanged."""
        if self._is_prepared:
            return
        configured = dict(Git(self._place).read_configuration())
        kind = configured.get("extensions.objectformat") or "sha1"
        options = ["--quiet", "--bare", "--template=", f"--object-format={kind}"]
        # Objects are fetched into the repository itself, where others of its group may have to read them.
        if "core.sharedrepository" in configured:
            options.append(f"--shared={configured['core.sharedrepository'] or 'group'}")
        Git().run("init", *options, "--", str(self._scratch), disk=self._scratch)
        # Where a history is cut is noted beside the objects: without it, git would look for parents that are missing.
        shallow = self._place.common_dir / "shallow"
        if shallow.exists():
            with translate_system_failures("preparing to speak to a remote"):
                shutil.copyfile(shallow, self._scratch / "shallow")
        self._is_prepared = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._remove()

    def list_heads(self, names: Sequence[str]) -> dict[str, str]:
        """Return the branches of the remote that match names or patterns, each with the commit that it names.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        found = self._list_refs("--heads", "--", self.address.url, *(f"{_HEADS}{name}" for name in names))
        return {ref.removeprefix(_HEADS): oid for ref, oid in found.items() if ref.startswith(_HEADS)}

    def _list_refs(self, *arguments: str) -> dict[str, str]:
        listed = self._run("ls-remote", "--quiet", *arguments).decode("utf-8", "surrogateescape")
        return {ref: check_oid(oid) for oid, _, ref in (line.partition("\t") for line in listed.split("\n")[:-1])}

    def fetch(self, branches: Sequence[str], *, known: Sequence[str]) -> dict[str, str]:
        """Fetch what is missing of branches of the remote, and return the commit of each; `known` are commits that are
        here.

        Shape: no ref of the repository moves. Raises: Unreachable, Unauthorized, NotFound.
        """
        self._fetch([f"+{check_branch(name)}:{_FETCHED}{name}" for name in branches], known)
        listed = self._git.run("for-each-ref", "--format=%(objectname) %(refname)", "--", _FETCHED, extra=self._extra)
        pairs = (line.split(" ", 1) for line in listed.decode("utf-8", "surrogateescape").split("\n")[:-1])
        return {ref.removeprefix(_FETCHED): oid for oid, ref in pairs}

    def _fetch(self, specs: Sequence[str], known: Sequence[str]) -> None:
        self._prepare()
        # Git tells the remote only of what refs name: without these it would be sent the whole history again.
        seeds = "".join(f"create refs/seeds/{number} {check_oid(oid)}\n" for number, oid in enumerate(set(known)))
        self._git.run("update-ref", "--stdin", data=seeds.encode(), extra=self._extra)
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no")
        self._run("fetch", *options, "--", self.address.url, *specs)

    def fetch_alone(self, ref: str) -> str | None:
        """Fetch the commit that a full ref name of the remote leads to, without what was before it, and return its id.

        Shape: None for a branch that the remote does not have. The history of the repository is cut at that commit, so
        this is for a repository that holds nothing else. Raises: Unreachable, Unauthorized, NotFound.
        """
        target = f"{_FETCHED}alone"
        options = ("--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--recurse-submodules=no")
        spec = f"+{check_ref(ref)}:{target}"
        self._prepare()
        status, _, complaint = self._attempt("fetch", *options, "--depth=1", "--", self.address.url, spec)
        if status and _MISSING in complaint:
            return None
        if status:
            raise build_remote_failure("fetch", self.name, status, complaint)
        found = self._git.run("rev-parse", "--verify", "--end-of-options", f"{target}^{{commit}}", extra=self._extra)
        if (shallow := self._scratch / "shallow").exists():
            with translate_system_failures("noting where a history is cut"):
                shutil.copyfile(shallow, self._place.common_dir / "shallow")
        return check_oid(found.decode().strip())

    def push(self, commit: str, branch: str, *, old: str | None) -> Refusal | None:
        """Move a branch of the remote from `old`, None for a new branch, to a commit; return why it was refused, or
        None.

        Shape: the caller has made sure that nothing of `old` is lost. Raises: Unreachable, Unauthorized, NotFound.
        """
        return self._move(check_oid(commit), check_branch(branch), check_oid(old) if old else "")

    def delete(self, branch: str, *, old: str) -> Refusal | None:
        """Delete a branch of the remote that is at `old`; return why it was refused, or None.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        return self._move("", check_branch(branch), check_oid(old))

    def list_refs(self, names: Sequence[str]) -> dict[str, str]:
        """Return the refs of the remote that match full names or patterns, each with what it names.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        return self._list_refs("--", self.address.url, *names)

    def find_ref(self, ref: str) -> str | None:
        """Return what a ref of the remote, by its full name, is at; None where there is none.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        return self.list_refs([check_ref(ref)]).get(ref)

    def fetch_ref(self, ref: str, *, known: Sequence[str]) -> str:
        """Fetch what is missing of a ref of the remote, by its full name, and return its commit; no ref here moves.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        self._fetch([f"+{check_ref(ref)}:{_FETCHED_REF}"], known)
        return check_oid(self._git.run("rev-parse", "--verify", _FETCHED_REF, extra=self._extra).decode().strip())

    def push_ref(self, commit: str, ref: str, *, old: str | None) -> Refusal | None:
        """Move a ref of the remote, by its full name, from `old`, None for a new one; return why it was refused, or
        None.

        Raises: Unreachable, Unauthorized, NotFound.
        """
        return self._move(check_oid(commit), check_ref(ref), check_oid(old) if old else "")

    def _move(self, commit: str, ref: str, old: str) -> Refusal | None:
        self._prepare()
        self._permit()
        options = ("--quiet", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags")
        lease, submodules = f"--force-with-lease={ref}:{old}", "--recurse-submodules=no"
        status, output, complaint = self._attempt(
            "push", *options, lease, submodules, "--", self.address.url, f"{commit}:{ref}"
        )
        if not status:
            return None
        for line in output.decode("utf-8", "replace").splitlines():
            found = _PUSHED.fullmatch(line)
            if found is not None and found[1] == "!":
                return Refusal(
                    _find_reason(found[2]), is_protected="[remote rejected]" in found[2] and _is_protected(found[2])
                )
        raise build_remote_failure("push", self.name, status, complaint)

    def _run(self, verb: str, *arguments: str) -> bytes:
        status, output, complaint = self._attempt(verb, *arguments)
        if status:
            raise build_remote_failure(verb, self.name, status, complaint)
        return output

    def _attempt(self, verb: str, *arguments: str) -> tuple[int, bytes, str]:
        return self._git.attempt(verb, *arguments, extra=self._extra, config=self._config)

    def _remove(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)


def find_remote_url(git: Git, name: str) -> str | None:
    """Return the address of a Git remote from the repository's configuration; None when it has none."""
    status, output, _ = git.attempt("config", "--get", f"remote.{name}.url")
    return None if status else output.decode("utf-8", "surrogateescape").rstrip("\n")


def _is_protected(summary: str) -> bool:
    return _PROTECTED.search(summary) is not None


def _find_reason(summary: str) -> str:
    """What stands in brackets, or all of it; it is the remote's text, so it is cut."""
    found = re.search(r"\((.*)\)\s*$", summary)
    return mask_unprintable(found[1] if found else summary, "?")[:120]


def _build_config(address: Address, access: Access) -> Mapping[str, str]:
    config = {
        "credential.helper": "",
        "http.followRedirects": "initial",
        "http.lowSpeedLimit": "1",
        "http.lowSpeedTime": str(STALL_SECONDS),
        "http.proxy": "",
        "push.default": "nothing",
        "transfer.credentialsInUrl": "die",
    }
    if access.addresses:
        # The name is not looked up a second time: whoever answers for it could then name another machine.
        parts = urlsplit(address.url)
        port = parts.port or (443 if address.protocol == "https" else 80)
        config["http.curloptResolve"] = f"{parts.hostname}:{port}:{','.join(access.addresses)}"
        config["http.followRedirects"] = "false"
    if access.token_file is not None and address.protocol in ("https", "http"):
        # -I and -S: the process that reads the token loads no module of its own folder or of site-packages.
        guard = credential.GUARDED if access.is_guarded else credential.PRIVATE
        words = [guard, str(access.token_file), access.username or USERNAME, address.protocol, address.host]
        config["credential.helper"] = "!" + shlex.join([_find_python(), "-I", "-S", str(credential.__file__), *words])
    return config


def _find_python() -> str:
    if not sys.executable:
        raise GitFailed("Python does not say where it is, so git cannot read the token", hint="run syncd as a program")
    return sys.executable


def _build_environment(address: Address) -> Mapping[str, str]:
    """What git needs to know besides; only certificate authorities come from the caller."""
    environment = {"GIT_ALLOW_PROTOCOL": address.protocol}
    if authorities := os.environ.get("SSL_CERT_FILE"):
        environment["GIT_SSL_CAINFO"] = authorities
    return environment


def _build_ssh_environment(access: Access, program: str | None) -> Mapping[str, str]:
    environment = {"GIT_SSH_COMMAND": build_ssh_command(access, program), "GIT_SSH_VARIANT": "ssh"}
    agent = os.environ.get("SSH_AUTH_SOCK")
    return environment | ({"SSH_AUTH_SOCK": agent} if agent and access.ssh_key_file is None else {})


def build_ssh_command(access: Access, program: str | None = None) -> str:
    """Return the command line for ssh, quoted for a shell: it reads no configuration and asks nobody.

    Raises: ConfigInvalid, GitFailed when there is no ssh.
    """
    ssh = program or shutil.which("ssh")
    if ssh is None:
        raise GitFailed("ssh is not installed", hint="install OpenSSH, or use an https address")
    options = ["BatchMode=yes", "StrictHostKeyChecking=yes", "ConnectTimeout=30"]
    # A connection that stands still ends after a minute, as one over https does.
    options += ["ServerAliveInterval=15", "ServerAliveCountMax=4"]
    words = [ssh, "-F", "none"]
    if access.ssh_key_file is not None:
        words += ["-i", ssh_path(access.ssh_key_file, "ssh_key_file")]
        options.append("IdentitiesOnly=yes")
    if access.known_hosts_file is not None:
        options.append(f"UserKnownHostsFile={ssh_path(access.known_hosts_file, 'known_hosts_file')}")
    return shlex.join([*words, *(word for option in options for word in ("-o", option))])
