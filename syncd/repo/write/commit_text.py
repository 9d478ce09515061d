"""Write the text of a commit object: who wrote and recorded it, and its message; find out who that is."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from syncd.model.text import join_lines
from syncd.repo.process.git import Git
from syncd.repo.values import Person

STREAM_REF = b"refs/syncd/stream"
"""The name that fast-import builds under; it exists in the stream only."""


def format_signature(author: Person, committer: Person) -> bytes:
    """Return the two lines of a commit that name its author and its committer."""
    return f"author {_format_person(author)}\ncommitter {_format_person(committer)}\n".encode()


def _format_person(person: Person) -> str:
    offset = person.when.utcoffset() or timedelta()
    minutes = int(offset.total_seconds()) // 60
    sign = "-" if minutes < 0 else "+"
    hours, minutes = divmod(abs(minutes), 60)
    seconds = max(0, int(person.when.timestamp()))
    return (
        f"{_clean_name(person.name) or 'unknown'} <{_clean_name(person.email)}> {seconds} {sign}{hours:02}{minutes:02}"
    )


def _clean_name(text: str) -> str:
    """A name as a commit's header can hold it: without what would end it or is unseen. Source: git, ident.c."""
    return join_lines(text.replace("<", " ").replace(">", " "))


def encode_message(message: str) -> bytes:
    """Return the bytes of a commit message, with one line end at the end and nothing that a commit cannot hold."""
    return message.replace("\0", "").rstrip("\n").encode("utf-8", "replace") + b"\n"


def read_author(git: Git, environ: Mapping[str, str], *, when: datetime) -> Person | None:
    """Return the person whose name and address Git would write into a commit, or None where none is configured.

    Shape: `environ` is the environment that is asked first. The system's configuration file is not read.
    Source: git-commit(1), COMMIT INFORMATION.
    """
    home = environ.get("HOME", "")
    usual = (f"{home}/.gitconfig", f"{environ.get('XDG_CONFIG_HOME') or f'{home}/.config'}/git/config")
    files = (environ["GIT_CONFIG_GLOBAL"],) if "GIT_CONFIG_GLOBAL" in environ else usual
    found = []
    for word in ("name", "email"):
        text = environ.get(f"GIT_AUTHOR_{word.upper()}", "")
        for key in (f"author.{word}", f"user.{word}"):
            for file in files:
                extra = {"GIT_CONFIG_GLOBAL": file, "HOME": home}
                status, output, _ = (1, b"", "") if text else git.attempt("config", "--get", key, extra=extra)
                text = text if status else output.decode("utf-8", "replace").strip()
        found.append(text)
    return Person(found[0], found[1], when) if all(found) else None
