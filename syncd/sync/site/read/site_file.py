"""A site file with the redirect files that it names, all from one commit, or all from the work tree."""

import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from syncd.errors import ConfigInvalid, FileInvalid, PathRefused, SyncdError
from syncd.files import open_file
from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read.declared import SiteFile
from syncd.layout.site.read.file import list_named_files, read_site_file

if TYPE_CHECKING:
    from syncd.repo.repository import Repository

SITE_FILE_BYTES = 1 << 20
REDIRECT_FILE_BYTES = 16 << 20
"""More than a file of either kind can need; what is larger is not read at all."""
_SHOWN = 5
"""Mistakes of a file that one error tells."""


@dataclass(frozen=True)
class SiteFileTexts:
    """The texts of a site file; `commit` is "" for the work tree's."""

    path: str
    text: str
    others: Mapping[str, str]
    commit: str = ""

    def inputs(self) -> str:
        """Return a digest that differs when any of these texts does."""
        digest = hashlib.sha256()
        for path, text in sorted({**self.others, self.path: self.text}.items()):
            digest.update(f"{path}\0{len(text)}\0{text}\0".encode())
        return digest.hexdigest()


def read_committed(repository: "Repository", branch: str, path: str) -> SiteFileTexts:
    """Return the texts of a site file that are committed on a branch.

    Raises: ConfigInvalid when there is no such branch or file; FileInvalid when one cannot be read.
    """
    commit = repository.resolve(f"refs/heads/{branch}")
    if commit is None:
        hint = f"commit {path} on {branch}; syncd site import --out {path} makes one"
        if repository.resolve("HEAD") is not None:
            hint = f"commit {path} on {branch}; in a job's clone that is on no branch: git switch -c {branch}"
        raise ConfigInvalid(f"there is no branch {branch}, so there is no {path}", hint=hint)
    missing = ConfigInvalid(
        f"there is no {path} on branch {branch}; nothing was done",
        hint=f"commit one; syncd site import --out {path} makes it\nor take [repository.site] out of the configuration",
    )
    return read_at_commit(repository, commit, path, missing)


def read_at_commit(repository: "Repository", commit: str, path: str, missing: SyncdError) -> SiteFileTexts:
    """Return the texts of a site file in a commit.

    Raises: `missing` when there is no such file; FileInvalid when one cannot be read.
    """

    def text_of(name: str, most: int) -> str | None:
        oid = repository.lookup(commit, name)
        if oid is None:
            return None
        size = repository.read_sizes([oid]).get(oid, 0)
        return _decode(repository.read(oid) if size <= most else b"", name, size, most)

    return _read_texts(path, commit, text_of, missing)


def read_work_tree(top: Path, path: str) -> SiteFileTexts:
    """Return the texts of a site file on disk.

    Raises: ConfigInvalid when there is no such file; FileInvalid when one cannot be read.
    """

    def text_of(name: str, most: int) -> str | None:
        try:
            with open_file(top, name) as file:
                size = os.fstat(file.fileno()).st_size
                return _decode(file.read() if size <= most else b"", name, size, most)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except PathRefused as error:
            hint = "put the file itself there: links, directories and pipes are not read"
            raise FileInvalid(f"cannot be read: {error.what}", path=name, line=0, hint=hint) from error
        except OSError as error:
            hint = f"let your user read it: chmod u+r {name}" if isinstance(error, PermissionError) else ""
            raise FileInvalid(f"cannot be read: {error.strerror}", path=name, line=0, hint=hint) from error

    if (top / path).is_dir():
        raise ConfigInvalid(
            f"{top / path} is a directory, and no site file", hint="name a file in it, such as site.yaml"
        )
    missing = ConfigInvalid(
        f"there is no {path} in {top}", hint=f"syncd site import --out {path} makes one; --file names another"
    )
    return _read_texts(path, "", text_of, missing)


def read_source(source: SiteFileTexts) -> tuple[SiteFile, tuple[Finding, ...]]:
    """Return a site file, checked offline, with its warnings. Raises: FileInvalid."""
    file, findings = read_site_file(source.text, path=source.path, others=source.others)
    refuse_errors(findings)
    if file is None:
        raise FileInvalid("the file says nothing", path=source.path, hint="syncd site validate")
    checked = check_site(file)
    refuse_errors(checked)
    return file, (*findings, *checked)


def refuse_errors(findings: Sequence[Finding], command: str = "syncd site validate") -> None:
    """Refuse findings of which one is an error; `command` is what shows all of them.

    Raises: FileInvalid with the first one and what else is wrong.
    """
    errors = sorted(one for one in findings if one.severity == "error")
    if not errors:
        return
    first = errors[0]
    more = [f"{one.path}:{one.line}:{one.column}: {one.code} {one.message}" for one in errors[1:_SHOWN]]
    left = [f"and {len(errors) - _SHOWN} more"] if len(errors) > _SHOWN else []
    show = f"{'all of them' if more else 'the line itself'}: {command}"
    hints = [*([first.hint] if first.hint else []), *more, *left, show]
    raise FileInvalid(
        f"{first.code} {first.message}", path=first.path, line=first.line, column=first.column, hint="\n".join(hints)
    )


def _read_texts(
    path: str, commit: str, text_of: Callable[[str, int], str | None], missing: SyncdError
) -> SiteFileTexts:
    text = text_of(path, SITE_FILE_BYTES)
    if text is None:
        raise missing
    others = {name: text_of(name, REDIRECT_FILE_BYTES) for name in list_named_files(text, path=path)}
    return SiteFileTexts(path, text, {name: other for name, other in others.items() if other is not None}, commit)


def _decode(data: bytes, path: str, size: int, most: int) -> str:
    if size > most:
        raise FileInvalid(f"the file has {size} bytes; {most} are the most", path=path)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = len(data[data.rfind(b"\n", 0, error.start) + 1 : error.start].decode("utf-8")) + 1
        raise FileInvalid(
            "the file is no UTF-8", path=path, line=line, column=column, hint="save it as UTF-8"
        ) from error
