"""Integration (`integration`): an app that organizations install, as it is published and as it is shown."""

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from syncd.model.base import Declared, Observed
from syncd.model.organization import Organization
from syncd.model.web_address import WebAddress

NAME_MAX = 100
NAME_PATTERN = r"^[a-zA-Z0-9\-_.]+$"
TITLE_MIN, TITLE_MAX = 2, 30
DESCRIPTION_MAX = 100
SUMMARY_MAX = 2048
PREVIEWS_MAX = 3
LINKS_MAX = 5
"""Source: @gitbook/api 0.146.0."""
SCRIPT_MAX = 8 * 1024 * 1024
IMAGE_MAX = 1024 * 1024
"""Characters of a script, and bytes of an image once it is decoded; the document shows neither."""
BASE64_MAX = -(-IMAGE_MAX // 3) * 4
PROPERTIES_MAX = 50
VALUE_MAX = 2048
"""Characters of a text in a configuration."""
POLICY_MAX = 4096
NUMBER_MAX = 2**53

Scope = Literal[
    "space:content:read",
    "space:content:write",
    "space:metadata:read",
    "space:metadata:write",
    "space:git:sync",
    "page:feedback:read",
    "site:metadata:read",
    "site:views:read",
    "site:script:inject",
    "site:script:cookies",
    "site:visitor:auth",
    "site:visitor:claims",
    "site:adaptive:read",
    "site:adaptive:write",
    "openapi:read",
    "openapi:write",
    "conversations:ingest",
]
Category = Literal["analytics", "collaboration", "content", "gitsync", "marketing", "visitor-auth", "other"]
Target = Literal["all", "site", "space", "organization"]
Visibility = Literal["public", "private", "unlisted"]

PropertyName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,49}$")]
Identifier = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$")]
Line = Annotated[str, Field(max_length=VALUE_MAX)]
Finite = Annotated[float, Field(allow_inf_nan=False)]

_DIRECTIVE = re.compile(r"[a-z][a-z-]{0,49}")
_POLICY = re.compile(r"[\x21-\x7e\t ]*")


class ConfigurationProperty(Declared):
    """One setting that an installation asks for.

    Shape: `default` is of the property's `type`; `enum` and `completion_url` are for texts, `callback_url` and
    `button_text` for a button, which has no value. A member that is unset is not there, whatever its default here.
    """

    type: Literal["string", "number", "boolean", "button"]
    title: str = Field(default="", max_length=100)
    description: str = Field(default="", max_length=1000)
    default: Line | bool | int | Finite = ""
    completion_url: WebAddress = Field(default="", alias="completion_url")
    enum: list[Line] = Field(default=[], min_length=1, max_length=100)
    callback_url: WebAddress = Field(default="", alias="callback_url")
    button_text: str = Field(default="", max_length=100, alias="button_text")

    @model_validator(mode="after")
    def _is_of_its_type(self) -> "ConfigurationProperty":
        if self.type != "string" and self.model_fields_set & {"enum", "completion_url"}:
            raise ValueError("`enum` and `completion_url` are for texts only")
        if self.type != "button" and self.model_fields_set & {"callback_url", "button_text"}:
            raise ValueError("`callback_url` and `button_text` are for buttons only")
        if "default" in self.model_fields_set and (problem := self.find_problem(self.default)):
            raise ValueError(f"default: {problem}")
        return self

    def find_problem(self, value: Any) -> str | None:
        """Return why a value from outside cannot be this property's, or None when it can."""
        if self.type == "button":
            return "a button has no value"
        kind = {"string": str, "number": int | float, "boolean": bool}[self.type]
        if not isinstance(value, kind) or (self.type == "number" and isinstance(value, bool)):
            return f"must be a {self.type}"
        if isinstance(value, str) and len(value) > VALUE_MAX:
            return f"must have at most {VALUE_MAX} characters"
        if isinstance(value, int | float) and not -NUMBER_MAX <= value <= NUMBER_MAX:
            return "is too large"
        if self.enum and value not in self.enum:
            return "must be one of the values that the integration names"
        return None


class ConfigurationSchema(Declared):
    """The settings of one level, for which the platform asks; `required` are those that an installation cannot lack."""

    properties: dict[PropertyName, ConfigurationProperty] = Field(max_length=PROPERTIES_MAX)
    required: list[str] = Field(default=[], max_length=PROPERTIES_MAX)

    @model_validator(mode="after")
    def _requires_what_it_has(self) -> "ConfigurationSchema":
        if any(name not in self.properties or self.properties[name].type == "button" for name in self.required):
            raise ValueError("required: must name properties that have a value")
        return self


class ConfigurationComponent(Declared):
    """The settings of one level, for which a component of the integration asks: their shape is its own."""

    component_id: Identifier


Configuration = ConfigurationSchema | ConfigurationComponent


class Configurations(Declared):
    """The settings of an integration by level."""

    account: Configuration = ConfigurationSchema(properties={})
    space: Configuration = ConfigurationSchema(properties={})
    site: Configuration = ConfigurationSchema(properties={})


class BlockMarkdown(Declared):
    """How Markdown says a block: as a code block of the syntax `codeblock`, the text in the property `body`."""

    codeblock: str = Field(min_length=1, max_length=100)
    body: str = Field(min_length=1, max_length=100)


class Block(Declared):
    """A block that pages can have once the integration is installed."""

    id: Identifier
    title: str = Field(min_length=2, max_length=40)
    description: str = Field(default="", max_length=150)
    icon: str = Field(default="", max_length=255)
    url_unfurl: list[Annotated[str, Field(min_length=1, max_length=VALUE_MAX)]] = Field(default=[], max_length=50)
    markdown: BlockMarkdown = BlockMarkdown(codeblock="none", body="none")


class ContentSource(Declared):
    """A place from which pages can be computed."""

    id: Identifier
    title: str = Field(min_length=2, max_length=40)
    description: str = Field(default="", max_length=150)
    icon: str = Field(default="", max_length=255)
    configuration: ConfigurationComponent = ConfigurationComponent(component_id="none")


class ExternalLink(Declared):
    """A link that the integration's page shows."""

    url: WebAddress
    label: str = Field(min_length=1, max_length=100)


def _policy(value: str | dict[str, str]) -> str | dict[str, str]:
    # It becomes a header: no line end and nothing beyond ASCII may get there.
    directives = value if isinstance(value, dict) else {}
    if not all(_DIRECTIVE.fullmatch(name) and ";" not in text for name, text in directives.items()):
        raise ValueError("must name directives of a content security policy")
    text = format_policy(value)
    if len(text) > POLICY_MAX or not _POLICY.fullmatch(text):
        raise ValueError(f"must be one line of at most {POLICY_MAX} characters")
    return value


def format_policy(policy: str | dict[str, str]) -> str:
    """Return a content security policy, given as text or by directive, as text."""
    return policy if isinstance(policy, str) else "; ".join(f"{name} {value}" for name, value in policy.items())


class IntegrationPublish(Declared):
    """Body of `POST /integrations/{integrationName}`: the whole of a new version; what is unset is not there.

    Source: API document, Integrations; required members, limits and values: @gitbook/api 0.146.0.
    """

    runtime: Literal["v1", "v2"] = "v1"
    icon: str = Field(default="", max_length=BASE64_MAX)
    title: str = Field(min_length=TITLE_MIN, max_length=TITLE_MAX)
    description: str = Field(max_length=DESCRIPTION_MAX)
    summary: str = Field(default="", max_length=SUMMARY_MAX)
    preview_images: list[Annotated[str, Field(max_length=BASE64_MAX)]] = Field(default=[], max_length=PREVIEWS_MAX)
    visibility: Visibility = "private"
    target: Target = "all"
    scopes: list[Scope] = Field(max_length=32)
    categories: list[Category] = Field(default=[], max_length=16)
    blocks: list[Block] = Field(default=[], max_length=100)
    content_sources: list[ContentSource] = Field(default=[], max_length=100)
    external_links: list[ExternalLink] = Field(default=[], max_length=LINKS_MAX)
    configurations: Configurations = Configurations()
    script: str = Field(max_length=SCRIPT_MAX)
    organization: str = Field(min_length=1, max_length=100)
    secrets: dict[PropertyName, Annotated[str, Field(max_length=8192)]] = Field(default={}, max_length=100)
    content_security_policy: Annotated[str | dict[str, str], AfterValidator(_policy)] = ""

    @model_validator(mode="after")
    def _names_each_once(self) -> "IntegrationPublish":
        for name, ids in (
            ("scopes", list(self.scopes)),
            ("categories", list(self.categories)),
            ("blocks", [block.id for block in self.blocks]),
            ("contentSources", [source.id for source in self.content_sources]),
        ):
            if len(set(ids)) < len(ids):
                raise ValueError(f"{name}: names something twice")
        return self


class Integration(Observed):
    """An integration in its last version. Source: API document, Integration."""

    object: Literal["integration"] = "integration"
    name: str
    version: int
    title: str
    description: str | None = None
    summary: str | None = None
    preview_images: tuple[str, ...] = ()
    target: str | None = None
    verified: bool = False
    visibility: str
    scopes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    blocks: tuple[dict[str, Any], ...] = ()
    content_sources: tuple[dict[str, Any], ...] = ()
    configurations: dict[str, Any] | None = None
    external_links: tuple[dict[str, Any], ...] = ()
    owner: Organization
    urls: dict[str, str] = {}
    permissions: dict[str, bool] = {}
    content_security_policy: str | None = None
