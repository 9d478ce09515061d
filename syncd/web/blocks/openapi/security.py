"""How callers of an operation say who they are, in words."""

from collections.abc import Iterator
from dataclasses import dataclass

from syncd.layout.page.specifications import read_part, read_words
from syncd.web.blocks.openapi.specification import Part, Specification, read_parts

_SCOPES_MAX = 20
_TYPES = {"basic": "HTTP basic", "oauth2": "OAuth 2.0", "openIdConnect": "OpenID Connect", "mutualTLS": "mutual TLS"}


@dataclass(frozen=True)
class SecurityScheme:
    """One way to say who calls: its name in the specification, its type in words, and its description in Markdown."""

    name: str
    type: str
    description: str


def list_requirements(specification: Specification, operation: Part) -> Iterator[list[SecurityScheme]]:
    """Yield the alternatives of an operation, each the schemes that are needed together; none for an open one."""
    for requirement in read_parts(operation.get("security", specification.document.get("security"))):
        yield [_read_scheme(specification, str(name), scopes) for name, scopes in requirement.items()]


def _read_scheme(specification: Specification, name: str, scopes: object) -> SecurityScheme:
    document = specification.document
    known = read_part(document, "components", "securitySchemes") or read_part(document, "securityDefinitions")
    scheme = specification.follow(read_part(known, name))
    named = [one for one in scopes if isinstance(one, str)][:_SCOPES_MAX] if isinstance(scopes, list) else []
    words = [_describe_type(scheme), f"scopes {', '.join(named)}" if named else ""]
    return SecurityScheme(name, ", ".join(filter(None, words)), read_words(scheme, "description"))


def _describe_type(scheme: Part) -> str:
    kind = read_words(scheme, "type")
    if kind == "http":
        shape = read_words(scheme, "bearerFormat")
        return f"HTTP {read_words(scheme, 'scheme')}".strip() + (f" ({shape})" if shape else "")
    if kind == "apiKey":
        return f"API key in {read_words(scheme, 'in')} {read_words(scheme, 'name')}".rstrip()
    return _TYPES.get(kind, kind)
