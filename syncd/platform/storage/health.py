"""Health of the platform's database: whether the last read and the last change of it succeeded."""

from typing import Literal

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

DatabaseUse = Literal["read", "changed"]


class DatabaseHealth:
    """The reasons why the last uses of the database failed; safe in any thread."""

    def __init__(self) -> None:
        self._reasons: dict[DatabaseUse, str] = {}

    def note_success(self, use: DatabaseUse) -> None:
        """Record that a use of the database succeeded."""
        self._reasons.pop(use, None)

    def note_failure(self, use: DatabaseUse, failure: BaseException) -> None:
        """Record why a use of the database failed; `failure` is an error of SQLAlchemy or of a driver."""
        original = getattr(failure, "orig", None) or failure
        self._reasons[use] = str(original).partition("\n")[0] or type(original).__name__

    def watch_changes(self, writer: sa.Engine) -> None:
        """Record the result of every change that the writing engine makes."""
        sa.event.listen(writer, "commit", lambda _: self.note_success("changed"))  # before one that can still fail
        sa.event.listen(writer, "handle_error", self._note_error)

    def find_faults(self) -> list[str]:
        """Return a line for each use that failed the last time, without the reason."""
        return [f"the database could not be {use}" for use in sorted(self._reasons)]

    def render_reasons(self) -> str:
        """Return one line about what failed and why, for the operator; "" while all is well."""
        return "; ".join(f"the database could not be {use}: {why}" for use, why in sorted(self._reasons.items()))

    def _note_error(self, context: sa.engine.ExceptionContext) -> None:
        failure = context.sqlalchemy_exception or context.original_exception
        # A request may violate a constraint or hold an invalid value; that is no fault of the database.
        if not isinstance(failure, sa.exc.IntegrityError | sa.exc.DataError) and isinstance(failure, sa.exc.DBAPIError):
            self.note_failure("changed", failure)


async def answer_readiness(request: Request) -> Response:
    """Answer 200 while the database can be used, else 503 with a line for each thing that it cannot be used for."""
    health: DatabaseHealth = request.app.state.storage.health
    faults = health.find_faults()
    if faults:
        return PlainTextResponse("\n".join(["not ready", *faults, ""]), 503)
    return PlainTextResponse("ready\n")
