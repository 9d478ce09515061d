"""Every key is either a repository's to decide, or has a meaning that its owner is told before they trust it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from syncd.cli.trust import MEANINGS
from syncd.config import Config, UpstreamConfig
from syncd.config.trust import PERMITTED, find_privileged_keys, is_same_address, keep_permitted

ROOT = Path(__file__).parents[2]


def names(model: type[BaseModel], above: str = "") -> Iterator[str]:
    """Every key and table of the configuration, by its full name."""
    for name, field in model.model_fields.items():
        here = f"{above}{name}"
        inner = [part for part in _parts(field.annotation) if isinstance(part, type) and issubclass(part, BaseModel)]
        yield here
        for part in inner:
            yield from names(part, f"{here}.")


def _parts(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _parts(part)


KEYS = sorted(names(Config))


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_permitted_or_explained(key: str) -> None:
    assert (key in PERMITTED) != (key in MEANINGS or key == "platform")


def test_no_file_host_or_remote_is_a_repositorys_to_decide() -> None:
    assert set(KEYS) >= PERMITTED
    upstream = {f"repository.upstream.{name}" for name in UpstreamConfig.model_fields}
    suspicious = {key for key in KEYS if key.startswith("platform") or key.endswith(("_file", ".path", ".url"))}
    assert not PERMITTED & (suspicious | upstream | {"repository.upstream", "repository.remote"})


@pytest.mark.parametrize("key", sorted(set(MEANINGS)))
def test_each_privileged_key_is_on_the_page_about_trust(key: str) -> None:
    page = (ROOT / "syncd/manual/explanation/trust.md").read_text(encoding="utf-8")
    assert f"`{key.rpartition('.')[2]}`" in page


def test_what_is_not_permitted_is_left_out() -> None:
    raw: dict[str, Any] = {
        "platform": {"url": "x"},
        "repository": [{"path": "/", "branches": ["b"], "upstream": {}, "space": [{"id": "s"}], "site": {}}],
    }
    assert keep_permitted(raw) == {"repository": [{"branches": ["b"], "space": [{"id": "s"}], "site": {}}]}
    assert [key.name for key in find_privileged_keys(raw)] == [
        "platform.url",
        "repository.0.path",
        "repository.0.upstream",
    ]
    assert not find_privileged_keys(keep_permitted(raw))


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://a.example", "https://a.example/v1/", True),
        ("https://a.example/", "https://a.example", True),
        ("https://a.example", "https://a.example.evil", False),
        ("https://a.example", "http://a.example", False),
        ("https://a.example", "https://a.example/v2", False),
        ("https://a.example", "https://a.example@evil.example", False),
    ],
)
def test_two_addresses_are_one_but_for_their_end(one: str, other: str, same: bool) -> None:
    assert is_same_address(one, other) is same
