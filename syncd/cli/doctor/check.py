"""One thing that `doctor` looked at, and what it found."""

from dataclasses import dataclass
from typing import Literal

from syncd.errors import SyncdError

State = Literal["ok", "warn", "fail", "skip"]


@dataclass(frozen=True)
class Check:
    """What one check found.

    Shape: `state` is "skip" where what failed before made it impossible. `hint` mends it; `exit_code` is that of a
    failure.
    """

    subject: str
    state: State
    detail: str
    hint: str = ""
    exit_code: int = 0


def make_failure(subject: str, error: SyncdError) -> Check:
    """Return the check that an error made fail."""
    return Check(subject, "fail", error.what, error.hint, error.exit_code)
