"""OpenAPISpec (`openapi-spec`): a description of an API that an organization's pages can show."""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from syncd.model.base import Declared, Nullable, Observed, ObservedId

SLUG_PATTERN = r"^[a-zA-Z0-9]+(?:-[a-zA-Z0-9]+)*$"
"""Source: API document, OpenAPISpec."""
SLUG_MAX = 100
"""Source: @gitbook/api 0.146.0."""
URL_MAX = 2048
TEXT_MAX = 8 * 1024 * 1024
"""Characters of a specification that is sent as text; the sources show no limit."""


Slug = Annotated[str, StringConstraints(min_length=1, max_length=SLUG_MAX, pattern=SLUG_PATTERN)]


class SpecProblem(Observed):
    """Why the last processing failed."""

    message: str
    code: str


class SpecPermissions(Observed):
    """What the caller may do with a specification."""

    view: bool
    edit: bool


class SpecUrls(Observed):
    """Where a specification is; `published` only while it is public and has a version."""

    location: str
    app: str | None = None
    published: str | None = None


class OpenAPISpec(Observed):
    """A specification as the platform shows it."""

    object: str = "openapi-spec"
    id: ObservedId
    created_at: str
    updated_at: str
    slug: str
    source_url: Annotated[str | None, Field(alias="sourceURL")] = None
    processing_state: str
    visibility: str
    last_version: ObservedId | None = None
    last_processed_at: str | None = None
    last_process_error_code: str | None = None
    last_processed_errors: tuple[SpecProblem, ...] = ()
    last_processed_error_count: int | None = None
    permissions: SpecPermissions
    urls: SpecUrls


class OpenAPISpecVersion(Observed):
    """One content that a specification had (`openapi-spec-version`)."""

    object: str = "openapi-spec-version"
    id: ObservedId
    created_at: str
    urls: SpecUrls


class SpecFile(Observed):
    """A file of a specification; the one at which it is entered has all of it here."""

    filename: str
    dir: str
    is_entrypoint: bool
    references: tuple[str, ...] = ()
    specification: dict[str, Any]


class SpecContentUrls(Observed):
    """Where a specification was read from, and where everybody reads it, null for a private one."""

    source: str
    public: Nullable[str]


class OpenAPISpecContent(Observed):
    """What a version of a specification says, parsed. Source: @gitbook/api 0.146.0 (`url`) and 0.202.0 (`urls`)."""

    filesystem: tuple[SpecFile, ...]
    url: str
    urls: SpecContentUrls


class OpenAPISpecRawContent(Observed):
    """What a version of a specification says, as it was written."""

    text: str
    format: Literal["json", "yaml"]


class UrlSource(Declared):
    """A specification that is read from an address."""

    url: str = Field(min_length=1, max_length=URL_MAX)


class TextSource(Declared):
    """A specification that is sent along: JSON or YAML."""

    text: str = Field(min_length=1, max_length=TEXT_MAX)


SpecSource = UrlSource | TextSource
SpecVisibility = Literal["private", "public"]


class OpenAPISpecCreate(Declared):
    """Body of `POST …/openapi`."""

    slug: Slug
    source: SpecSource


class OpenAPISpecPut(Declared):
    """Body of `PUT …/openapi/{specSlug}`."""

    source: SpecSource


class OpenAPISpecUpdate(Declared):
    """Body of `PATCH …/openapi/{specSlug}`."""

    visibility: SpecVisibility
