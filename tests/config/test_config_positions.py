"""Positions of keys: every way that TOML has to write one, and a search that ends."""

import tomllib

import pytest

from syncd.config import positions
from syncd.config.positions import FilePosition, find_nearest, find_positions, find_repeated
from syncd.config.trust import list_keys

TEXT = b'''# A comment
[platform]
  url = "https://api.example.com"   # another

[[repository]]
branches = [
  "main",   # ]
  "docs/*",
]
change_requests.merge = "auto"
[[repository.space]]
id = "a"
[[repository.space]]
"id" = "b"
directory = """
[[repository]]
"""
[repository.site]
file = 'site.yaml'
[[repository]]
space = [{id = "c"}, {id = "d"}]
[[ repository . space2 ]]
id = "e"
'''


@pytest.mark.parametrize(
    ("key", "line", "column"),
    [
        ("platform", 2, 1),
        ("platform.url", 3, 3),
        ("repository.0", 5, 1),
        ("repository.0.branches", 6, 1),
        ("repository.0.change_requests.merge", 10, 1),
        ("repository.0.space.0.id", 12, 1),
        ("repository.0.space.1.id", 14, 1),
        ("repository.0.space.1.directory", 15, 1),
        ("repository.0.site.file", 19, 1),
        ("repository.1", 20, 1),
        ("repository.1.space.1.id", 21, 1),
        ("repository.1.space2.0.id", 23, 1),
    ],
)
def test_a_key_has_the_position_where_it_is_written(key: str, line: int, column: int) -> None:
    assert find_positions(TEXT)[key] == FilePosition(line, column)


def test_every_key_that_the_parser_finds_has_a_position() -> None:
    assert {key.name for key in list_keys(tomllib.loads(TEXT.decode()))} <= find_positions(TEXT).keys()


def test_a_key_that_is_missing_has_the_position_of_its_table() -> None:
    found = find_positions(TEXT)
    assert find_nearest(found, "repository.0.space.1.name") == FilePosition(13, 1)
    assert find_nearest(found, "other") is None


def test_behind_what_is_no_toml_there_are_no_positions() -> None:
    assert find_positions(b"a = 1\nb = = 2\nc = 3\n") == {"a": FilePosition(1, 1)}


def test_the_search_ends_when_it_has_parsed_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"a = 1\nb = [\n" + b"1,\n" * 100 + b"]\nc = 3\n"
    assert find_positions(text).keys() == {"a", "b", "c", *(f"b.{number}" for number in range(100))}
    monkeypatch.setattr(positions, "BYTES_PARSED_MAX", 1000)
    assert find_positions(text).keys() == {"a"}


@pytest.mark.parametrize(
    ("text", "name", "lines"),
    [
        ("a = 1\na = 2\n", "a", (1, 2)),
        ("[[r]]\na = 1\n[[r]]\na = 2\n  a = [\n  1]\nb = 3\n", "r.1.a", (4, 5)),
        ('[[r]]\na = ["b"]\na = ["c"]\n', "r.0.a", (2, 3)),
        ("a = [{b = 1}]\na = [{b = 1}]\n", "a", (1, 2)),
        ("a.b = 1\na.c = 2\na.b = 3\n", "a.b", (1, 3)),
        ("[[r]]\n[r.u]\nv = 1\n[r.u]\nv = 2\n", "r.0.u", (2, 4)),
        ("[a]\nb = 1\n[a.b]\nc = 1\n", "a.b", (2, 3)),
        ("a = {b = 1}\n[a]\n", "a", (1, 2)),
        ("[[r]]\n[r]\n", "r.0", (1, 2)),
        ("[r]\n[[r]]\n", "r", (1, 2)),
    ],
)
def test_a_name_that_is_there_twice_has_both_places(text: str, name: str, lines: tuple[int, int]) -> None:
    with pytest.raises(tomllib.TOMLDecodeError) as refused:
        tomllib.loads(text)
    said = str(refused.value)
    assert said.startswith("Cannot ")
    found = find_repeated(text.encode(), int(said.rpartition("line ")[2].partition(",")[0]))
    assert found is not None
    assert (found.name, found.first.line, found.second.line) == (name, *lines)


def test_a_mark_before_the_text_takes_no_position_away() -> None:
    assert find_positions(b"\xef\xbb\xbf" + TEXT) == find_positions(TEXT)
