"""What an OpenAPI description is made of: for each kind of object its members, as three tables of words.

`name` is text, `name:Kind` is something else, `!` marks a member that must be there, `[Kind]` is an array and `{Kind}`
a map of that kind, and `Kind*` may be a reference instead. `*:Kind` stands for every member that has no word of its
own. Members that start with `x-` are anybody's. Source: the OpenAPI specifications 2.0, 3.0.4 and 3.1.1.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

_SCHEMA = (
    "title description format pattern type:Types $ref maximum:number minimum:number multipleOf:number"
    " maxLength:count minLength:count maxItems:count minItems:count maxProperties:count minProperties:count"
    " uniqueItems:boolean required:[text] enum:array properties:{Schema*} additionalProperties:SchemaOrFlag*"
    " allOf:[Schema*] readOnly:boolean xml:object externalDocs:Docs"
)
_FLOW = "scopes!:{text} refreshUrl"

_SHARED_3 = {
    "Contact": "name url email",
    "License": "name! identifier url",
    "Info": "title! version!:label description termsOfService summary contact:Contact license:License",
    "Docs": "url! description",
    "Tag": "name! description externalDocs:Docs",
    "ServerVariable": "default! description enum:[text]",
    "Server": "url! description variables:{ServerVariable}",
    "Requirement": "*:[text]",
    "Responses": "*:Response*",
    "Paths": "*:PathItem*",
    "Callback": "*:PathItem*",
    "PathItem": "$ref summary description servers:[Server] parameters:[Parameter*] get:Operation put:Operation"
    " post:Operation delete:Operation options:Operation head:Operation patch:Operation trace:Operation",
    "Parameter": "name! in! description required:boolean deprecated:boolean allowEmptyValue:boolean style"
    " explode:boolean allowReserved:boolean schema:Schema* examples:{Example*} content:{MediaType}",
    "Header": "description required:boolean deprecated:boolean style explode:boolean schema:Schema*"
    " examples:{Example*} content:{MediaType}",
    "RequestBody": "description required:boolean content!:{MediaType}",
    "MediaType": "schema:Schema* examples:{Example*} encoding:{Encoding}",
    "Encoding": "contentType headers:{Header*} style explode:boolean allowReserved:boolean",
    "Response": "description! headers:{Header*} content:{MediaType} links:{Link*}",
    "Example": "summary description externalValue",
    "Link": "operationRef operationId parameters:object description server:Server",
    "SecurityScheme": "type! description name in scheme bearerFormat openIdConnectUrl flows:Flows",
    "Flows": "implicit:Implicit password:Password clientCredentials:Password authorizationCode:Code",
    "Implicit": f"authorizationUrl! {_FLOW}",
    "Password": f"tokenUrl! {_FLOW}",
    "Code": f"authorizationUrl! tokenUrl! {_FLOW}",
    "Components": "schemas:{Schema*} responses:{Response*} parameters:{Parameter*} examples:{Example*}"
    " requestBodies:{RequestBody*} headers:{Header*} securitySchemes:{SecurityScheme*} links:{Link*}"
    " callbacks:{Callback*} pathItems:{PathItem*}",
    "Operation": "summary description operationId tags:[text] externalDocs:Docs parameters:[Parameter*]"
    " requestBody:RequestBody* responses:Responses callbacks:{Callback*} deprecated:boolean security:[Requirement]"
    " servers:[Server]",
}
_SCHEMA_3 = f"{_SCHEMA} items:Schema* oneOf:[Schema*] anyOf:[Schema*] not:Schema* discriminator:Discriminator"
_DISCRIMINATOR = {"Discriminator": "propertyName! mapping:{text}"}

_OPENAPI_3_0 = {
    **_SHARED_3,
    **_DISCRIMINATOR,
    "Document": "openapi!:any info!:Info paths!:Paths servers:[Server] components:Components security:[Requirement]"
    " tags:[Tag] externalDocs:Docs",
    "Operation": _SHARED_3["Operation"].replace("responses:", "responses!:"),
    "Schema": f"{_SCHEMA_3} nullable:boolean writeOnly:boolean deprecated:boolean exclusiveMaximum:boolean"
    " exclusiveMinimum:boolean",
}
_OPENAPI_3_1 = {
    **_SHARED_3,
    **_DISCRIMINATOR,
    "Document": "openapi!:any info!:Info paths:Paths webhooks:{PathItem*} servers:[Server] components:Components"
    " security:[Requirement] tags:[Tag] externalDocs:Docs jsonSchemaDialect",
    "Schema": f"{_SCHEMA_3} $id $schema $anchor $dynamicRef $dynamicAnchor $comment $vocabulary:object"
    " $defs:{Schema*} prefixItems:[Schema*] contains:Schema* patternProperties:{Schema*} propertyNames:Schema*"
    " dependentSchemas:{Schema*} dependentRequired:object if:Schema* then:Schema* else:Schema*"
    " unevaluatedItems:Schema* unevaluatedProperties:Schema* contentSchema:Schema* contentEncoding contentMediaType"
    " minContains:count maxContains:count examples:array writeOnly:boolean deprecated:boolean"
    " exclusiveMaximum:number exclusiveMinimum:number",
}
_SWAGGER_2 = {
    "Document": "swagger!:any info!:Info paths!:Paths host basePath schemes:[text] consumes:[text] produces:[text]"
    " definitions:{Schema*} parameters:{Parameter*} responses:{Response*} securityDefinitions:{SecurityScheme}"
    " security:[Requirement] tags:[Tag] externalDocs:Docs",
    "Contact": "name url email",
    "License": "name! url",
    "Info": "title! version!:label description termsOfService contact:Contact license:License",
    "Docs": "url! description",
    "Tag": "name! description externalDocs:Docs",
    "Requirement": "*:[text]",
    "Paths": "*:PathItem*",
    "PathItem": "$ref parameters:[Parameter*] get:Operation put:Operation post:Operation delete:Operation"
    " options:Operation head:Operation patch:Operation",
    "Operation": "summary description operationId responses!:Responses tags:[text] externalDocs:Docs consumes:[text]"
    " produces:[text] parameters:[Parameter*] schemes:[text] deprecated:boolean security:[Requirement]",
    "Parameter": "name! in! description required:boolean schema:Schema* type format collectionFormat items:Items"
    " allowEmptyValue:boolean enum:array",
    "Items": "type! format collectionFormat items:Items enum:array",
    "Header": "type! description format collectionFormat items:Items enum:array",
    "Responses": "*:Response*",
    "Response": "description! schema:Schema* headers:{Header} examples:object",
    "SecurityScheme": "type! description name in flow authorizationUrl tokenUrl scopes:{text}",
    "Schema": f"{_SCHEMA} items:Schema* discriminator exclusiveMaximum:boolean exclusiveMinimum:boolean",
}
_TABLES = {"2.0": _SWAGGER_2, "3.0": _OPENAPI_3_0, "3.1": _OPENAPI_3_1}
VERSIONS = tuple(_TABLES)


@dataclass(frozen=True)
class ValueForm:
    """What a value must be: `shape` is "one", "list" or "map" of `kind`; `reference` allows a `$ref` instead."""

    kind: str
    shape: str = "one"
    reference: bool = False


@dataclass(frozen=True)
class ObjectKind:
    """What an object must have: the form of its members, the names that must be there, and the form of all others."""

    members: Mapping[str, ValueForm]
    required: tuple[str, ...]
    others: ValueForm | None


@cache
def load_grammar(version: str) -> Mapping[str, ObjectKind]:
    """Return the kinds of objects in a version of `VERSIONS`, by name; `Document` is the whole description."""
    return {name: _parse_kind(words) for name, words in _TABLES[version].items()}


def _parse_kind(words: str) -> ObjectKind:
    members: dict[str, ValueForm] = {}
    required: list[str] = []
    for word in words.split():
        name, _, form = word.partition(":")
        if name.endswith("!"):
            name = name[:-1]
            required.append(name)
        members[name] = _parse_form(form or "text")
    others = members.pop("*", None)
    return ObjectKind(members, tuple(required), others)


def _parse_form(text: str) -> ValueForm:
    shape = {"[": "list", "{": "map"}.get(text[0], "one")
    inner = text if shape == "one" else text[1:-1]
    return ValueForm(inner.removesuffix("*"), shape, inner.endswith("*"))
