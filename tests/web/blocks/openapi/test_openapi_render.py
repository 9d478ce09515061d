"""Operations of a specification are readable: what is sent, what comes back, and what a value looks like."""

from typing import Any

import pytest

from syncd.layout.richtext.nodes import make_block, make_text
from syncd.web.blocks import BlockContext
from tests.web.blocks.documents import Node, block, paragraph, render
from tests.web.blocks.test_hostile import check

PET: Node = {
    "type": "object",
    "description": "A *pet*.",
    "required": ["name"],
    "properties": {
        "name": {"type": "string", "maxLength": 80, "example": "Rex"},
        "parent": {"$ref": "#/components/schemas/Pet"},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
}
SPECIFICATION: Node = {
    "openapi": "3.1.0",
    "servers": [{"url": "https://api.example.org/v1/"}],
    "paths": {
        "/pets/{id}": {
            "parameters": [{"$ref": "#/components/parameters/Id"}],
            "put": {
                "summary": "Update a pet",
                "description": "## Not in the outline\n\nReplaces it.",
                "security": [{"bearer": []}],
                "requestBody": {
                    "required": True,
                    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Pet"}}},
                },
                "responses": {"200": {"description": "The pet."}, "404": {"description": "No pet."}},
            },
        }
    },
    "webhooks": {"petAdded": {"post": {"summary": "A pet was added", "responses": {}}}},
    "components": {
        "parameters": {
            "Id": {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "format": "uuid"}}
        },
        "schemas": {"Pet": PET},
    },
}
REF = {"kind": "openapi", "spec": "pets"}


def show(kind: str, data: Node, specification: Any = SPECIFICATION) -> str:
    """Render a block of OpenAPI."""
    context = BlockContext(read_specification=lambda ref: specification if ref == REF else None)
    caption = {"object": "fragment", "fragment": "caption", "nodes": [paragraph("its caption")]}
    html = str(render(block(kind, {"ref": REF} | data, fragments=[caption]), context=context).html)
    check(html)
    return html


def test_an_operation_is_readable() -> None:
    html = show("openapi-operation", {"path": "/pets/{id}", "method": "put"})
    for words in ("PUT", "https://api.example.org/v1", "/pets/{id}", "Update a pet", "Replaces it.", "bearer"):
        assert words in html
    for words in (
        "string (uuid)",
        "required",
        "at most 80 characters",
        "array of string",
        "A <em>pet</em>.",
        "No pet.",
    ):
        assert words in html
    assert "Rex" in html


SCHEMES: Node = {
    "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "Made in the *settings*."},
    "key": {"type": "apiKey", "in": "header", "name": "X-Key"},
    "login": {"type": "oauth2", "flows": {}},
}


@pytest.mark.parametrize(
    ("security", "words"),
    [
        ([{"bearer": []}], ["HTTP bearer (JWT)", "Made in the <em>settings</em>."]),
        (
            [{"key": [], "login": ["read", "write"]}],
            ["API key in header X-Key", " + ", "OAuth 2.0, scopes read, write"],
        ),
        ([{"key": []}, {}], ["API key in header X-Key", " or</p>", "<p>none</p>"]),
        ([{"unknown": []}], ["<code>unknown</code>"]),
    ],
)
def test_who_may_call_an_operation_is_said_in_words(security: list[Node], words: list[str]) -> None:
    operation = {"security": security, "responses": {}}
    for schemes in ({"components": {"securitySchemes": SCHEMES}}, {"securityDefinitions": SCHEMES}):
        html = show(
            "openapi-operation", {"path": "/p", "method": "get"}, {"paths": {"/p": {"get": operation}}} | schemes
        )
        assert [word for word in words if word not in html] == []


def test_an_example_of_a_schema_within_itself_has_an_empty_list_in_it() -> None:
    node = {
        "type": "object",
        "properties": {"inner": {"type": "array", "items": {"$ref": "#/components/schemas/Node"}}},
    }
    operation = {
        "responses": {"200": {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}}}
    }
    specification = {"paths": {"/p": {"get": operation}}, "components": {"schemas": {"Node": node}}}
    html = show("openapi-operation", {"path": "/p", "method": "get"}, specification)
    assert "null" not in html


def test_an_operation_is_in_the_outline_and_headings_of_its_description_are_not() -> None:
    node = block("openapi-operation", {"ref": REF, "path": "/pets/{id}", "method": "put"})
    rendered = render(node, context=BlockContext(read_specification=lambda ref: SPECIFICATION))
    assert [(one.anchor, one.title) for one in rendered.outline] == [("update-a-pet", "Update a pet")]
    assert '<section class="b-api" id="update-a-pet"' in rendered.html


def test_a_heading_with_the_words_of_an_operation_stands_for_it_in_the_outline() -> None:
    heading = make_block("heading-2", {}, [make_text("Update a pet")])
    node = block("openapi-operation", {"ref": REF, "path": "/pets/{id}", "method": "put"})
    rendered = render(heading, node, context=BlockContext(read_specification=lambda ref: SPECIFICATION))
    assert [one.anchor for one in rendered.outline] == ["update-a-pet"]
    assert 'id="update-a-pet-1"' in rendered.html


def test_schemas_and_webhooks_are_readable() -> None:
    assert "array of string" in show("openapi-schemas", {"schemas": ["Pet"]})
    assert "A pet was added" in show("openapi-webhook", {"name": "petAdded"})


def test_version_2_is_read_like_version_3() -> None:
    body = {"in": "body", "name": "pet", "schema": {"$ref": "#/definitions/Pet"}}
    count = {"in": "query", "name": "count", "type": "integer", "required": True}
    answer = {"200": {"description": "Fine.", "schema": {"type": "array", "items": {"$ref": "#/definitions/Pet"}}}}
    operation = {"parameters": [body, count], "responses": answer}
    old = {"swagger": "2.0", "host": "h.example", "basePath": "/v1", "paths": {"/pets": {"post": operation}}}
    html = show("swagger", {"path": "/pets", "method": "post"}, old | {"definitions": {"Pet": PET}})
    for words in ("https://h.example/v1", "array of Pet", "integer", "Query parameters", "Rex", "Fine."):
        assert words in html


@pytest.mark.parametrize("data", [{}, {"path": "/x", "method": "get"}, {"path": "/pets/{id}", "method": "servers"}])
def test_what_is_not_there_is_said_with_its_caption(data: Node) -> None:
    html = show("openapi-operation", data)
    assert "is not there" in html
    assert "its caption" in html
    assert "is not there" in show("openapi-operation", data, None)


def test_specifications_that_never_end_are_shown_in_part() -> None:
    wide = {f"p{number}": {"$ref": f"#/components/schemas/S{level}"} for number in range(50) for level in (1,)}
    chain = {
        f"S{level}": {"properties": {name: {"$ref": f"#/components/schemas/S{level + 1}"} for name in wide}}
        for level in range(30)
    }
    circle = {
        "C": {"allOf": [{"$ref": "#/components/schemas/C"}] * 20, "oneOf": [{"$ref": "#/components/schemas/C"}] * 20}
    }
    loop = {"L": {"$ref": "#/components/schemas/L"}, "A": {"items": {"$ref": "#/components/schemas/A"}}}
    html = show(
        "openapi-schemas", {"schemas": ["S0", "C", "L", "A"]}, {"components": {"schemas": chain | circle | loop}}
    )
    assert len(html) < 400_000


@pytest.mark.parametrize("value", [None, 7, "x", [], {}, [[]], {"$ref": "#/"}, {"$ref": "#/paths"}, "<script>"])
def test_no_shape_of_a_specification_raises(value: Any) -> None:
    data = {"path": "/p", "method": "get", "schemas": ["S"]}
    security = {"paths": {"/p": {"get": {"security": [{"s": value}]}}}, "components": {"securitySchemes": {"s": value}}}
    members = ("parameters", "requestBody", "responses", "security", "description", "summary", "servers")
    operation = dict.fromkeys(members, value) | {
        "responses": {"<b>": value, "200": {"content": {"<i>": value, "x": {"schema": value}}}}
    }
    for specification in (
        value,
        security,
        {"paths": value, "components": value, "servers": value},
        {"paths": {"/p": value}, "components": {"schemas": value}},
        {"paths": {"/p": {"get": operation, "parameters": value}}, "components": {"schemas": {"S": value}}},
        {
            "paths": {"/p": {"get": operation}},
            "components": {"schemas": {"S": {"properties": value, "allOf": value, "enum": value}}},
        },
        {"paths": {"/p": {"get": operation}}, "components": {"schemas": {"S": {"properties": {"<script>": value}}}}},
    ):
        show("openapi-operation", data, specification)
        show("openapi-schemas", data, specification)


def test_an_answer_of_which_nothing_else_is_said_cannot_be_unfolded() -> None:
    html = show("openapi-operation", {"path": "/pets/{id}", "method": "put"})
    assert "<details" not in html
    assert '<p class="b-response b-response-empty"><span class="b-status">200</span> The pet.</p>' in html


def test_the_values_of_an_array_are_named() -> None:
    schema = {"type": "array", "items": {"type": "string", "enum": ["new", "old"]}}
    tags = {"name": "tags", "in": "query", "schema": schema}
    found = show("openapi", {"path": "/x", "method": "get"}, {"paths": {"/x": {"get": {"parameters": [tags]}}}})
    assert "each one of new, old" in found
