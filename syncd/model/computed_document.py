"""ComputedContentSourceDocument: what a document is computed from when it is read (@gitbook/api 0.202.0)."""

from typing import Annotated, Any, Literal

from pydantic import Field

from syncd.model.base import ABSENT, Declared

Id = Annotated[str, Field(min_length=1, max_length=100)]
Name = Annotated[str, Field(min_length=1, max_length=2048)]
Seed = Annotated[str, Field(max_length=1024)]
Method = Literal["get", "post", "put", "delete", "patch", "options", "head", "trace", "hook"]


class SpecRef(Declared):
    """A specification by its slug."""

    kind: Literal["openapi"]
    spec: Id


class SpecDependency(Declared):
    """A specification that is read; `value` is what a client knows of it, which nobody trusts."""

    ref: SpecRef
    value: Any = ABSENT


class SpecDependencies(Declared):
    """What a document of a specification is computed from."""

    spec: SpecDependency


class ModelsProps(Declared):
    """All schemas of a specification."""

    doc: Literal["models"]


class TagProps(Declared):
    """What a specification says of itself (`info`), of a tag, or all operations with a tag; `page` is the tag."""

    doc: Literal["info", "operations", "tag"]
    page: Name


class OperationProps(Declared):
    """One operation; `page` is its path, or with the method `hook` the name of a webhook."""

    doc: Literal["operation"]
    page: Name
    method: Method
    deprecated: bool = ABSENT


class OpenAPISource(Declared):
    """A document of a specification."""

    type: Literal["builtin:openapi"]
    props: Annotated[ModelsProps | TagProps | OperationProps, Field(discriminator="doc")]
    dependencies: SpecDependencies


class TranslationLink(Declared):
    """A translation by its id."""

    kind: Literal["translation"]
    translation: Id


class TranslationDependency(Declared):
    """A translation that is read; `value` is what a client knows of it, which nobody trusts."""

    ref: TranslationLink
    value: Any = ABSENT


class TranslationDependencies(Declared):
    """What a translated document is computed from."""

    translation: TranslationDependency


class TranslationProps(Declared):
    """The document that is translated, by its space and its id."""

    space: Id
    document: Id


class TranslatedSource(Declared):
    """A document in another language."""

    type: Literal["builtin:translation"]
    props: TranslationProps
    dependencies: TranslationDependencies


class ComputedDocumentRequest(Declared):
    """Body of `POST …/content/computed/document`; `seed` makes the keys of its nodes its own."""

    source: Annotated[OpenAPISource | TranslatedSource, Field(discriminator="type")]
    seed: Seed
