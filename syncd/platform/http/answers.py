"""Prepared answers: handlers return these, so that nothing is validated a second time on its way out."""

from typing import Any

from fastapi import Response
from fastapi.responses import JSONResponse


def ok(body: Any) -> JSONResponse:
    """Return an answer with status 200 and a JSON body."""
    return JSONResponse(body)


def created_resource(body: Any, *, location: str | None = None) -> JSONResponse:
    """Return an answer with status 201 for a new resource, with its absolute address where the API names it."""
    return JSONResponse(body, 201, None if location is None else {"Location": location})


def no_content() -> Response:
    """Return status 204, the same whether or not there was something to delete. Source: API document, Errors 2."""
    return Response(status_code=204)
