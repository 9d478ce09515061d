"""A specification as pages need it: references followed, version 2 read like version 3, nothing trusted."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from syncd.layout.page.specifications import find_operation, find_webhook, follow_reference, read_part, read_words

Part = Mapping[str, Any]
_NOTHING: Part = {}


def read_parts(value: object) -> list[Part]:
    """Return the objects in a list."""
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list | tuple) else []


def find_schema_name(part: Part) -> str:
    """Return the name of the schema that a reference leads to; "" for what is no reference."""
    ref = part.get("$ref")
    return unquote(ref.rpartition("/")[2]).replace("~1", "/").replace("~0", "~") if isinstance(ref, str) else ""


@dataclass(frozen=True)
class Specification:
    """An OpenAPI description that was parsed."""

    document: Part

    def follow(self, part: Part) -> Part:
        """Return what a reference within the specification leads to; the part itself when it is none, or leads out."""
        return follow_reference(self.document, part)

    def find_operation(self, path: str, method: str) -> tuple[Part, Part]:
        """Return an operation and the path that it stands at; empty ones where there is none."""
        return find_operation(self.document, path, method)

    def find_webhook(self, name: str, method: str) -> tuple[str, Part, Part]:
        """Return the method of a webhook, the webhook and what it stands in; empty ones where there is none."""
        return find_webhook(self.document, name, method)

    @property
    def schemas(self) -> Part:
        """The schemas that have names."""
        return read_part(self.document, "components", "schemas") or read_part(self.document, "definitions")

    @property
    def server(self) -> str:
        """The address that all paths are behind: that of the first server, "" when it says none."""
        servers = read_parts(self.document.get("servers"))
        if servers:
            return read_words(servers[0], "url").rstrip("/")
        host, base = read_words(self.document, "host"), read_words(self.document, "basePath").rstrip("/")
        schemes = self.document.get("schemes")
        scheme = schemes[0] if isinstance(schemes, list) and schemes and isinstance(schemes[0], str) else "https"
        return f"{scheme}://{host}{base}" if host else base

    def list_parameters(self, item: Part, operation: Part) -> list[Part]:
        """Return the parameters of an operation, those of its path before its own, each once."""
        found: dict[tuple[str, str], Part] = {}
        for part in (*read_parts(item.get("parameters")), *read_parts(operation.get("parameters"))):
            parameter = self.follow(part)
            found[read_words(parameter, "in"), read_words(parameter, "name")] = parameter
        return list(found.values())

    def find_body(self, operation: Part, parameters: list[Part]) -> Part:
        """Return the request body of an operation; in version 2 it is one of its parameters."""
        if body := self.follow(read_part(operation, "requestBody")):
            return body
        for parameter in parameters:
            if read_words(parameter, "in") == "body":
                media = {"schema": read_part(parameter, "schema")}
                return {**parameter, "content": dict.fromkeys(self._list_types(operation, "consumes"), media)}
        return _NOTHING

    def list_responses(self, operation: Part) -> Iterator[tuple[str, Part]]:
        """Yield the status and the response of each answer."""
        for status, part in list(read_part(operation, "responses").items())[:50]:
            response = self.follow(part) if isinstance(part, Mapping) else _NOTHING
            if "content" not in response and isinstance(response.get("schema"), Mapping):
                media = {"schema": response["schema"]}
                response = {**response, "content": dict.fromkeys(self._list_types(operation, "produces"), media)}
            yield str(status), response

    def _list_types(self, operation: Part, member: str) -> list[str]:
        given = operation.get(member) or self.document.get(member)
        types = [one for one in given if isinstance(one, str)] if isinstance(given, list) else []
        return types[:3] or ["application/json"]
