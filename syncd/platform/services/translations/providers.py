"""Translation providers: a built-in one that works offline, and a service that the operator configures.

The built-in one is a pseudo-localisation: the same words, accented and longer, which shows what is translated, what is
not, and where a longer language does not fit. A service speaks a small protocol of JSON over HTTP::

    POST <url>
    Authorization: Bearer <key>          (when the operator gave one)
    {"source": "en", "target": "fr", "instructions": "Say tu.", "texts": ["Press ⟦0⟧Save⟦1⟧."], "model": "…"}

    200 {"texts": ["Appuyez sur ⟦0⟧Enregistrer⟦1⟧."]}

`source`, `instructions` and `model` are left out when there are none. The answer has one text for each that was sent,
in their order. `⟦0⟧`, `⟦1⟧`, … stand for syntax; each must come back once, in the same order, or the text stays as it
was. Any other status than 200 is a failure, and what failed is sent again later.
"""

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import syncd
from syncd.net import exchange
from syncd.platform.settings import PlatformSettings, ServiceEndpoint

TEXTS_MAX = 50
CHARACTERS_MAX = 20_000
"""Of one request to a service; a longer text is sent alone."""
TIMEOUT_S = 60.0
ANSWER_MAX = 4 * 1024 * 1024

_MARKER = re.compile(r"(⟦[0-9]+⟧)")
_ACCENTED = str.maketrans("ACDEGHIJLNORSTUWYZacdeghijlnorstuwyz", "ÅÇÐÉĜĤÎĴĻÑÖŔŠŢÛŴÝŽåçðéĝĥîĵļñöŕšţûŵýž")
_DOUBLED = re.compile(r"[AEIOUaeiou]")


class ProviderFailed(Exception):
    """A provider did not translate; the message names neither the texts nor the address."""


@dataclass(frozen=True)
class TranslationOptions:
    """The options of a translation. Shape: languages are codes; `source` is "" when it is not known."""

    source: str
    target: str
    instructions: str = ""


class Provider(Protocol):
    """Translates texts; each answer has the markers of its text."""

    def translate(self, texts: Sequence[str], options: TranslationOptions) -> list[str]:
        """Return the translations of texts, in order. Raises: ProviderFailed."""


def create_provider(settings: PlatformSettings) -> Provider:
    """Return the provider that the settings select."""
    if settings.translate is None:
        return PseudoProvider()
    return ServiceProvider(settings.translate)


class PseudoProvider:
    """The same words, accented and longer."""

    def translate(self, texts: Sequence[str], options: TranslationOptions) -> list[str]:
        """Return texts with accents and doubled vowels, which shows what a translation would reach."""
        return ["".join(_pseudo_translate(part) for part in _MARKER.split(text)) for text in texts]


@dataclass(frozen=True)
class ServiceProvider:
    """A service that speaks the protocol above."""

    endpoint: ServiceEndpoint

    def translate(self, texts: Sequence[str], options: TranslationOptions) -> list[str]:
        """Return the translations of texts, asked of the service in as few requests as possible."""
        return [text for batch in _split_batches(texts) for text in self._request_translations(batch, options)]

    def _request_translations(self, texts: Sequence[str], options: TranslationOptions) -> list[str]:
        wanted = {"source": options.source, "target": options.target, "instructions": options.instructions}
        asked = {**wanted, "texts": list(texts), "model": self.endpoint.model}
        headers = {"Content-Type": "application/json", "User-Agent": f"syncd/{syncd.__version__}"}
        if self.endpoint.key:
            headers["Authorization"] = f"Bearer {self.endpoint.key}"
        try:
            with exchange.open_stream(
                "POST",
                self.endpoint.url,
                headers=headers,
                body=json.dumps({name: value for name, value in asked.items() if value}).encode(),
                timeout=TIMEOUT_S,
                limit=ANSWER_MAX,
                # The operator chose it, and may well have it beside the platform. It sends nobody elsewhere.
                private=True,
                redirects=0,
            ) as answer:
                if answer.status != 200:
                    raise ProviderFailed(f"the translation service answered {answer.status}")
                return _parse_texts(answer.read_body(), len(texts))
        except exchange.NetworkError as failure:
            raise ProviderFailed(f"the translation service was not reached: {failure}") from failure


def _split_batches(texts: Sequence[str]) -> Iterator[Sequence[str]]:
    start, size = 0, 0
    for end, text in enumerate(texts):
        if end > start and (end - start >= TEXTS_MAX or size + len(text) > CHARACTERS_MAX):
            yield texts[start:end]
            start, size = end, 0
        size += len(text)
    if start < len(texts):
        yield texts[start:]


def _parse_texts(body: bytes, count: int) -> list[str]:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    texts = said.get("texts") if isinstance(said, dict) else None
    if not isinstance(texts, list) or len(texts) != count or not all(isinstance(text, str) for text in texts):
        raise ProviderFailed("the translation service answered something else than the texts")
    # Half a character cannot be written down.
    return [text.encode(errors="replace").decode() for text in texts]


def _pseudo_translate(part: str) -> str:
    return part if _MARKER.fullmatch(part) else _DOUBLED.sub(r"\g<0>\g<0>", part).translate(_ACCENTED)
