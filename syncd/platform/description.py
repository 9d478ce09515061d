"""The OpenAPI document that the platform serves, with what all operations have in common."""

import asyncio
import json
import threading
from collections.abc import Iterable
from concurrent.futures import Future
from hashlib import sha256
from typing import Any

from fastapi import Request, Response
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel

import syncd
from syncd.platform.people.auth import ANONYMOUS_KEY, EXTENSION_KEY

TITLE = "syncd platform"

_METHODS = ("get", "post", "put", "patch", "delete")
_UNSIGNED = ("/v1/downloads/", "/v1/published/")
"""Addresses that carry a signature of their own in place of a token, or are open to everybody."""


class ErrorDetail(BaseModel):
    """Why an operation refused. Shape: `code` is the status."""

    code: int
    message: str


class ErrorBody(BaseModel):
    """The body of every refusal. Source: @gitbook/api 0.146.0."""

    error: ErrorDetail


class OpenApiDescription:
    """The OpenAPI document of some operations, built once, when it is first needed; safe in any number of threads.

    Building it takes more than half a second of computing. A separate thread does it, so that neither the event loop
    nor a thread that answers requests waits for it, however many clients ask at once.
    """

    def __init__(self, operations: Iterable[APIRoute]) -> None:
        self._operations = tuple(operations)
        self._lock = threading.Lock()
        self._future: Future[tuple[dict[str, Any], bytes, str]] | None = None

    def prepare(self) -> None:
        """Start building the OpenAPI document, so that the first client that asks for it does not wait."""
        self._start_building()

    def document(self) -> dict[str, Any]:
        """Return the OpenAPI document; whoever gets it must not change it."""
        return self._start_building().result()[0]

    async def answer(self, request: Request) -> Response:
        """Answer a request with the OpenAPI document, or with 304 when the client has it."""
        # Shielded: a client that disconnects must not cancel the document for the others.
        _, body, tag = await asyncio.shield(asyncio.wrap_future(self._start_building()))
        headers = {"ETag": tag, "Cache-Control": "no-cache"}
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    def _start_building(self) -> Future[tuple[dict[str, Any], bytes, str]]:
        with self._lock:
            if self._future is None:
                self._future = Future()
                threading.Thread(
                    target=self._build_answer, args=(self._future,), name="syncd-description", daemon=True
                ).start()
            return self._future

    def _build_answer(self, made: Future[tuple[dict[str, Any], bytes, str]]) -> None:
        try:
            document = _build_document(self._operations)
            body = json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
            made.set_result((document, body, f'"{sha256(body).hexdigest()}"'))
        except BaseException as failure:
            made.set_exception(failure)
            raise


def _build_document(operations: tuple[APIRoute, ...]) -> dict[str, Any]:
    document = get_openapi(title=TITLE, version=syncd.__version__, routes=operations, description=_ABOUT)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    error = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas |= {**error.pop("$defs"), "ErrorBody": error}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                _complete_operation(item[method], signed=not path.startswith(_UNSIGNED))
    return document


def _complete_operation(operation: dict[str, Any], *, signed: bool) -> None:
    # Invalid requests are answered with 400 and this platform's own error body, never with FastAPI's 422.
    operation["responses"].pop("422", None)
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    operation["responses"]["default"] = {"description": "The operation refused, or failed.", "content": content}
    if signed:
        operation["security"] = [{"token": []}, *([{}] if operation.get(ANONYMOUS_KEY) else [])]


_ABOUT = (
    "The API of the embedded platform of syncd. Operations with "
    f"`{EXTENSION_KEY}` are not in the API document that the others follow; `x-role` is the weakest role that may call."
)
