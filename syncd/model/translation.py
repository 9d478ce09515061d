"""Translation (`translation`): a space that follows another one in a second language."""

from typing import Annotated, Literal

from pydantic import Field

from syncd.model.base import Declared, Observed, ObservedId
from syncd.model.document import Document

Language = Literal[
    "en", "fr", "de", "es", "it", "pt", "pt-br", "ru", "ja", "zh", "zh-tw", "yue", "ko", "ar", "hi", "nl", "pl", "tr",
    "sv", "no", "da", "fi", "el", "cs", "hu", "ro", "th", "vi", "id", "ms", "he", "uk", "sk", "bg", "hr", "lt", "lv",
    "et", "sl",
]  # fmt: skip
"""Source: @gitbook/api 0.146.0."""


class TranslationSourceWrite(Declared):
    """What is translated; its language is the space's own when it is not said."""

    space: Annotated[str, Field(min_length=1, max_length=100)]
    language: Language | None = None


class TranslationCreate(Declared):
    """Body of `POST …/translations`."""

    source: TranslationSourceWrite
    language: Language
    instructions: Document | None = None


class TranslationUpdate(Declared):
    """Body of `PUT …/translations/{translationId}`."""

    instructions: Document


class TranslationSource(Observed):
    """The id of the space that is translated, and its language where that is known."""

    space: ObservedId
    language: str | None = None


class TranslationResult(Observed):
    """The id of the translated space, and of the revision that the last run made."""

    space: ObservedId
    revision: ObservedId | None = None
    language: str | None = None


class TranslationStats(Observed):
    """What all runs and the latest one did. Units: durations in milliseconds."""

    runs: int
    total_words: int
    total_pages: int
    total_duration: int
    latest_run_duration: int | None = None
    latest_pages: int | None = None
    latest_words: int | None = None


class Translation(Observed):
    """A translation. Source: API document, Translation; `status` is `pending`, `running` or `completed`."""

    object: Literal["translation"] = "translation"
    id: ObservedId
    status: str
    source: TranslationSource
    language: str
    instructions: Document | None = None
    result: TranslationResult | None = None
    created_at: str
    updated_at: str
    stats: TranslationStats
    permissions: dict[str, bool] = {}
    urls: dict[str, str] = {}
