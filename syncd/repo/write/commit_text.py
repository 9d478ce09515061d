"""Write the text of a commit object: who wrote and recorded it, and its message."""

from datetime import timedelta

from syncd.model.text import join_lines
from syncd.repo.values import Person


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
