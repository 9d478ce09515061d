"""People and moments in text for people: who said something, and how long ago."""

from datetime import datetime

from syncd.cli.terminal.text import escape
from syncd.daemon.workspaces import read_time
from syncd.model.text import join_lines
from syncd.model.user import User
from syncd.model.wording import format_count

_STEPS = (("year", 31_536_000), ("month", 2_592_000), ("day", 86_400), ("hour", 3600), ("minute", 60))


def format_author(user: User, at: str) -> str:
    """Return a person and how long ago something was."""
    return escape(f"{choose_user_name(user)}, {format_age(at)}")


def choose_user_name(user: User) -> str:
    """Return the name by which people know a person, on one line."""
    return join_lines(user.display_name) or user.email or user.id


def format_age(at: str) -> str:
    """Return how long ago a time of ISO 8601 was, in words; any other text stays as it is."""
    try:
        moment = datetime.fromisoformat(at)
        seconds = (read_time() - moment).total_seconds()
    except (ValueError, TypeError):
        return at
    for unit, size in _STEPS:
        count = int(seconds // size)
        if count > 0:
            return f"{format_count(count, unit)} ago"
    return "just now"
