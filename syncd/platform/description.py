"""The OpenAPI document that the platform serves of itself: what every operation has in common is said here, once."""

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel

from syncd.platform.auth import EXTENSION_KEY

_METHODS = ("get", "post", "put", "patch", "delete")
_UNSIGNED = ("/v1/downloads/", "/v1/published/")
"""Addresses that carry a signature of their own in place of a token, or are open to everybody."""


class ErrorDetail(BaseModel):
    """Why an operation refused. Shapes: `code` is the status."""

    code: int
    message: str


class ErrorBody(BaseModel):
    """The body of every refusal. Source: not-shown.md (b), line 530."""

    error: ErrorDetail


def describe(app: FastAPI) -> dict[str, Any]:
    """Given the application, return its OpenAPI document, made once."""
    if app.openapi_schema is None:
        routes = list(app.state.operations.values())
        document = get_openapi(title=app.title, version=app.version, routes=routes, description=_ABOUT)
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        error = ErrorBody.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas |= {**error.pop("$defs"), "ErrorBody": error}
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, item in document["paths"].items():
            for method in _METHODS:
                if method in item:
                    _complete(item[method], signed=not path.startswith(_UNSIGNED))
        app.openapi_schema = document
    return app.openapi_schema


def _complete(operation: dict[str, Any], *, signed: bool) -> None:
    # Invalid requests are answered with 400 and this platform's own error body, never with FastAPI's 422.
    operation["responses"].pop("422", None)
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorBody"}}}
    operation["responses"]["default"] = {"description": "The operation refused, or failed.", "content": content}
    if signed:
        operation["security"] = [{"token": []}]


_ABOUT = (
    "The API of the embedded platform of syncd. Operations with "
    f"`{EXTENSION_KEY}` are not in the API document that the others follow; `x-role` is the weakest role that may call."
)
