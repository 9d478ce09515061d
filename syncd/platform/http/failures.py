"""Errors of the API: each leaves the server as `{"error": {"code": <status>, "message": <text>}}`."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sqlalchemy as sa
from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException as Refusal

from syncd.errors import StoreError

HEADERS_KEY = "syncd.headers"
"""Where `limits` leaves, in the ASGI scope, the headers that an answer made outside of it must still carry: pairs of
bytes."""

_PROBLEMS_MAX = 5
"""Invalid members that one message names at most."""
_PROBLEM_MAX = 300
"""Characters of each problem in a message: the names of members come from the client and may be long."""


class Failure(HTTPException):
    """An error answer of an operation; `message` tells the caller why and never contains content."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(status, message)
        self.status = status
        self.message = message


AnswerFailure = Callable[[Request, int], Response | None]


def build_error_body(status: int, message: str) -> dict[str, Any]:
    """Return the JSON body of an error. Source: @gitbook/api 0.146.0."""
    return {"error": {"code": status, "message": message}}


def install_error_handlers(app: FastAPI, answer_for_people: AnswerFailure) -> None:
    """Let the application answer every error with the error body of the API.

    Shape: `answer_for_people` returns the page for a request of somebody who reads in a browser, None for any other.
    """
    app.state.answer_failure = answer_for_people
    app.add_exception_handler(Refusal, _answer_refusal)
    app.add_exception_handler(RequestValidationError, _answer_invalid_request)
    for failure in (sa.exc.OperationalError, sa.exc.TimeoutError, StoreError):
        app.add_exception_handler(failure, _answer_unavailable)
    app.add_exception_handler(sa.exc.InternalError, _answer_internal_error)
    app.add_exception_handler(sa.exc.DataError, _answer_unstorable_value)
    app.add_exception_handler(Exception, _answer_unexpected_error)


def _answer_error(request: Request, status: int, message: str, headers: Mapping[str, str] | None = None) -> Response:
    answer_for_people: AnswerFailure = request.app.state.answer_failure
    page = answer_for_people(request, status)
    if page is None:
        return JSONResponse(build_error_body(status, message), status, headers)
    page.headers.update(headers or {})
    return page


async def _answer_refusal(request: Request, refusal: Exception) -> Response:
    assert isinstance(refusal, Refusal)
    headers = {"WWW-Authenticate": "Bearer"} if refusal.status_code == 401 else refusal.headers
    return _answer_error(request, refusal.status_code, refusal.detail, headers)


async def _answer_invalid_request(request: Request, invalid: Exception) -> Response:
    assert isinstance(invalid, RequestValidationError)
    # Each location begins with `body`, `query` or `path`, which says nothing beyond the name of the member.
    problems = [problem | {"loc": problem["loc"][1:] or problem["loc"]} for problem in invalid.errors()]
    return _answer_error(request, 400, format_problems(problems))


async def _answer_unavailable(request: Request, failure: Exception) -> Response:
    # The write lock, a connection or a blob was not available in time; the transaction was rolled back.
    return _answer_error(request, 503, "The platform is busy or its database cannot be reached. Try again later.")


async def _answer_internal_error(request: Request, failure: Exception) -> Response:
    # PostgreSQL ends a transaction that is idle for too long, and its connection.
    assert isinstance(failure, sa.exc.InternalError)
    return await (_answer_unavailable if failure.connection_invalidated else _answer_unexpected_error)(request, failure)


async def _answer_unstorable_value(request: Request, failure: Exception) -> Response:
    # PostgreSQL cannot store text with the character NUL.
    return _answer_error(request, 400, "The request has a value that cannot be kept: a character or number.")


async def _answer_unexpected_error(request: Request, failure: Exception) -> Response:
    headers = {name.decode(): value.decode() for name, value in request.scope.get(HEADERS_KEY, ())}
    return _answer_error(request, 500, "The platform failed on this request.", headers)


def format_problems(problems: Iterable[Any]) -> str:
    """Return one sentence that names the first few invalid members and their problems, from pydantic's errors."""
    named = [f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}"[:_PROBLEM_MAX] for problem in problems]
    more = f"; and {len(named) - _PROBLEMS_MAX} more" if len(named) > _PROBLEMS_MAX else ""
    return "; ".join(named[:_PROBLEMS_MAX]) + more
