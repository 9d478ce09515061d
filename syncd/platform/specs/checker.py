"""Whether a value is an OpenAPI description: one walk over it, without recursion, that names what is wrong and where.

Nothing is fetched: a reference that leaves the document is itself a mistake.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from syncd.platform.specs.grammar import VERSIONS, ObjectKind, ValueForm, load_grammar

PROBLEMS_MAX = 20
DEPTH_MAX = 100
_PLACE_MAX = 200

_VERSION = re.compile(r"(2\.0|3\.0|3\.1)(?:\.\d{1,3})?")
_STATUS = re.compile(r"default|[1-5](?:\d\d|XX)")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_WHERE = ("query", "header", "path", "formData", "body")
_WHERE_3 = ("query", "header", "path", "cookie")
_KINDS = ("array", "boolean", "integer", "number", "object", "string", "null", "file")
_SECURITY_2: Mapping[str, tuple[str, ...]] = {"basic": (), "apiKey": ("name", "in"), "oauth2": ("flow", "scopes")}
_SECURITY_3: Mapping[str, tuple[str, ...]] = {
    "apiKey": ("name", "in"),
    "http": ("scheme",),
    "mutualTLS": (),
    "oauth2": ("flows",),
    "openIdConnect": ("openIdConnectUrl",),
}
_PLAIN: Mapping[str, tuple[type | tuple[type, ...], str]] = {
    "text": (str, "must be text"),
    # `version: 1.0` without quotes is a number in YAML, too.
    "label": ((str, int, float), "must be text"),
    "boolean": (bool, "must be true or false"),
    "number": ((int, float), "must be a number"),
    "count": (int, "must be a whole number"),
    "array": (list, "must be an array"),
    "object": (dict, "must be an object"),
}


@dataclass(frozen=True)
class SpecProblem:
    """One thing that is wrong. Shape: `place` is where, member by member, empty for the whole document."""

    place: str
    what: str

    def __str__(self) -> str:
        return f"{self.place}: {self.what}" if self.place else self.what


@dataclass(frozen=True, slots=True)
class _DocumentPath:
    """A place in a document, as the way to it from above."""

    above: "_DocumentPath | None" = None
    name: str = ""
    depth: int = 0

    def below(self, name: object) -> "_DocumentPath":
        return _DocumentPath(self, str(name), self.depth + 1)

    def __str__(self) -> str:
        names: list[str] = []
        here: _DocumentPath | None = self
        while here is not None and here.above is not None:
            names.append(here.name)
            here = here.above
        return ".".join(reversed(names))[:_PLACE_MAX]


def find_problems(document: Any) -> list[SpecProblem]:
    """Return the problems of a parsed OpenAPI description, at most 20; () when it can be used."""
    if not isinstance(document, dict):
        return [SpecProblem("", "is not an object with the members of an OpenAPI description")]
    # `swagger: 2.0` without quotes is a number in YAML, and is what many people write.
    said = _VERSION.fullmatch(str(document.get("openapi", document.get("swagger", ""))))
    version = said[1] if said else ""
    if version not in VERSIONS or ("swagger" in document) != (version == "2.0"):
        return [SpecProblem("", "is not OpenAPI 3.0 or 3.1, nor Swagger 2.0")]
    walk = _DocumentCheck(document, version)
    found: list[SpecProblem] = []
    for problem in walk.run():
        found.append(problem)
        if len(found) == PROBLEMS_MAX:
            break
    return found


@dataclass
class _DocumentCheck:
    """One pass over one document; `pending` has what is still to be looked at."""

    document: dict[str, Any]
    version: str
    pending: list[tuple[Any, ValueForm, _DocumentPath]] = field(default_factory=list)
    operations: set[str] = field(default_factory=set)
    targets: dict[str, bool] = field(default_factory=dict)

    def run(self) -> Iterator[SpecProblem]:
        kinds = load_grammar(self.version)
        self.pending.append((self.document, ValueForm("Document"), _DocumentPath()))
        if self.version == "3.1" and not any(name in self.document for name in ("paths", "components", "webhooks")):
            yield SpecProblem("", "needs paths, components or webhooks")
        while self.pending:
            value, form, at = self.pending.pop()
            if at.depth > DEPTH_MAX:
                yield SpecProblem(str(at), f"is nested deeper than {DEPTH_MAX}")
                return
            if form.shape != "one":
                yield from self.push_items(value, form, at)
            elif form.kind in _PLAIN:
                yield from _check_plain(value, form.kind, at)
            elif form.kind == "Types":
                yield from _check_types(value, at)
            elif form.kind != "any":
                yield from self.check_object(value, form, at, kinds)

    def push_items(self, value: Any, form: ValueForm, at: _DocumentPath) -> Iterator[SpecProblem]:
        if not isinstance(value, list if form.shape == "list" else dict):
            yield SpecProblem(str(at), "must be an array" if form.shape == "list" else "must be an object")
            return
        one = ValueForm(form.kind, reference=form.reference)
        items = enumerate(value) if isinstance(value, list) else value.items()
        self.push(at, [(name, item, one) for name, item in items])

    def check_object(
        self, value: Any, form: ValueForm, at: _DocumentPath, kinds: Mapping[str, ObjectKind]
    ) -> Iterator[SpecProblem]:
        name = "Schema" if form.kind == "SchemaOrFlag" else form.kind
        if isinstance(value, bool) and name == "Schema" and (form.kind != name or self.version == "3.1"):
            return
        if not isinstance(value, dict):
            yield SpecProblem(str(at), "must be an object")
            return
        if form.reference and "$ref" in value:
            yield from self.check_reference(value["$ref"], at)
            return
        kind = kinds[name]
        for required in kind.required:
            if required not in value:
                yield SpecProblem(str(at.below(required)), "must be there")
        yield from self.check_particular(name, value, at)
        members = [(key, item, kind.members.get(key) or kind.others) for key, item in value.items()]
        self.push(at, [(key, item, one) for key, item, one in members if one and not key.startswith("x-")])

    def push(self, at: _DocumentPath, items: Iterable[tuple[object, Any, ValueForm]]) -> None:
        # Reversed, so that what is pending is taken, and complained about, in the document's order.
        self.pending += [(item, form, at.below(name)) for name, item, form in reversed(list(items))]

    def check_reference(self, reference: Any, at: _DocumentPath) -> Iterator[SpecProblem]:
        if not isinstance(reference, str) or not reference.startswith("#"):
            yield SpecProblem(str(at), "refers to something outside of the document, which is not read")
            return
        if reference not in self.targets:
            self.targets[reference] = _has_target(self.document, reference)
        if not self.targets[reference]:
            yield SpecProblem(str(at), "refers to something that is not there")

    def check_particular(self, name: str, value: dict[str, Any], at: _DocumentPath) -> Iterator[SpecProblem]:
        if name == "Paths":
            wrong = [key for key in value if not key.startswith(("/", "x-"))]
            yield from (SpecProblem(str(at.below(key)), "must begin with /") for key in wrong)
        elif name == "Responses":
            wrong = [key for key in value if not _STATUS.fullmatch(key) and not key.startswith("x-")]
            yield from (SpecProblem(str(at.below(key)), "is neither a status code nor default") for key in wrong)
        elif name == "Operation":
            yield from self.check_operation(value.get("operationId"), at)
        elif name == "Parameter":
            yield from self.check_parameter(value, at)
        elif name == "SecurityScheme":
            yield from self.check_security(value, at)

    def check_operation(self, id: Any, at: _DocumentPath) -> Iterator[SpecProblem]:
        if not isinstance(id, str):
            return
        if id in self.operations:
            yield SpecProblem(str(at.below("operationId")), "is the name of another operation, too")
        self.operations.add(id)

    def check_parameter(self, value: dict[str, Any], at: _DocumentPath) -> Iterator[SpecProblem]:
        where = value.get("in")
        places = _WHERE if self.version == "2.0" else _WHERE_3
        if where is not None and where not in places:
            yield SpecProblem(str(at.below("in")), f"must be one of {', '.join(places)}")
        if where == "path" and value.get("required") is not True:
            yield SpecProblem(str(at.below("required")), "must be true for a parameter in the path")
        needed = ("schema", "content") if self.version != "2.0" else ("schema",) if where == "body" else ("type",)
        if not any(name in value for name in needed):
            yield SpecProblem(str(at), f"needs {' or '.join(needed)}")

    def check_security(self, value: dict[str, Any], at: _DocumentPath) -> Iterator[SpecProblem]:
        schemes = _SECURITY_2 if self.version == "2.0" else _SECURITY_3
        type = value.get("type")
        if not isinstance(type, str) or type not in schemes:
            yield SpecProblem(str(at.below("type")), f"must be one of {', '.join(schemes)}")
            return
        missing = [name for name in schemes[type] if name not in value]
        yield from (SpecProblem(str(at.below(name)), "must be there") for name in missing)


def _check_plain(value: Any, kind: str, at: _DocumentPath) -> Iterator[SpecProblem]:
    wanted, what = _PLAIN[kind]
    # To Python, true is a number.
    if not isinstance(value, wanted) or (isinstance(value, bool) and kind != "boolean"):
        yield SpecProblem(str(at), what)


def _check_types(value: Any, at: _DocumentPath) -> Iterator[SpecProblem]:
    for type in value if isinstance(value, list) else (value,):
        if type not in _KINDS:
            yield SpecProblem(str(at), f"must be one of {', '.join(_KINDS)}")
            return


def _has_target(document: Any, reference: str) -> bool:
    if reference != "#" and not reference.startswith("#/"):
        return True  # an anchor: a name within a schema
    here = document
    for part in reference[2:].split("/") if reference != "#" else ():
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(here, list):
            if not _INDEX.fullmatch(name) or int(name) >= len(here):
                return False
            here = here[int(name)]
        elif isinstance(here, dict) and name in here:
            here = here[name]
        else:
            return False
    return True
