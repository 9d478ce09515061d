"""Prepared answers: handlers return these, so that nothing is validated a second time on its way out."""

from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse


def ok(body: Any) -> JSONResponse:
    """Given a JSON value, return it with status 200."""
    return JSONResponse(body)


def created_resource(body: Any, *, location: str | None = None) -> JSONResponse:
    """Given a new resource and, where the API names it, its absolute address, return status 201."""
    return JSONResponse(body, 201, None if location is None else {"Location": location})


def no_content() -> Response:
    """Return status 204, the same whether or not there was something to delete. Source: API document, Errors 2."""
    return Response(status_code=204)
