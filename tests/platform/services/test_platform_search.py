"""Search: what is found, in what order, that it is right after every change, and that no query can mean anything."""

from collections.abc import Callable
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import httpx
import pytest
import sqlalchemy as sa
from hypothesis import example, given, settings
from hypothesis import strategies as st

from syncd.model.words import has_any_term, parse_query, split_words
from syncd.platform.revisions import revisions
from syncd.platform.schema import search
from syncd.platform.schema.content import spaces
from syncd.platform.services.directory.read import import_directory
from syncd.platform.services.search import engine, index
from syncd.platform.services.search.engine import find_matches
from syncd.platform.settings import PlatformSettings
from syncd.platform.storage.jobs import JobContext
from syncd.platform.storage.storage import Storage
from tests.due_jobs import run_due_jobs

PAGES = {
    "README.md": "# Home\n\nAll about sailing, see also knots.\n",
    "knots.md": "# Knots\n\nRopes.\n\n## Bowline\n\nA loop that holds.\n\n## Reef knot\n\nTwo ends; not for sailing.\n",
    "boats.md": "# Boats\n\n## Knots under way\n\nSpeed is told in a unit.\n",
    "多.md": "# 多言語\n\n港の設計について。 Crème brûlée.\n",
}


@pytest.fixture
def space(storage: Storage, server: tuple[str, str], tmp_path: Path) -> str:
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    return import_directory(storage, tmp_path / "docs", title="Docs").space


def found(http: httpx.Client, space: str, query: str, **more: Any) -> list[str]:
    answer = http.get(f"/v1/spaces/{space}/search", params={"query": query, **more})
    assert answer.status_code == 200, answer.text
    return [item["title"] for item in answer.json()["items"]]


def changed(http: httpx.Client, space: str, *changes: dict[str, Any]) -> None:
    http.post(f"/v1/spaces/{space}/change-requests", json={}).raise_for_status()
    number = http.get(f"/v1/spaces/{space}").json()["changeRequests"]
    request = f"/v1/spaces/{space}/change-requests/{number}"
    http.post(f"{request}/content", json={"changes": list(changes)}).raise_for_status()
    http.post(f"{request}/merge").raise_for_status()


def test_a_title_goes_before_a_heading_and_a_heading_before_the_body(http: httpx.Client, space: str) -> None:
    assert found(http, space, "knots") == ["Knots", "Boats", "Home"]


def test_all_words_must_be_there_and_the_last_may_be_begun(http: httpx.Client, space: str) -> None:
    assert found(http, space, "loop bow") == ["Knots"]
    assert found(http, space, "loop boat") == []
    assert found(http, space, "bowline loop") == ["Knots"]
    assert found(http, space, "bow loop") == []
    assert found(http, space, "sail loop") == []


def test_case_accents_and_scripts_without_spaces_are_no_obstacle(http: httpx.Client, space: str) -> None:
    assert found(http, space, "CREME BRULEE") == found(http, space, "設計") == found(http, space, "crème") == ["多言語"]


def test_a_page_shows_the_sections_that_match_and_what_it_stands_below(http: httpx.Client, space: str) -> None:
    knots = http.get(f"/v1/spaces/{space}/search?query=loop").json()["items"][0]
    (section,) = knots["sections"]
    assert (section["title"], section["body"], section["path"]) == ("Bowline", "A loop that holds.", "knots#bowline")
    assert section["urls"]["app"] == f"{knots['urls']['app']}#bowline"
    assert (knots["path"], knots["ancestors"]) == ("knots", [])


@pytest.mark.parametrize("query", ['"', "a*", "NEAR(a b)", "title : x", "' OR 1=1 --", "& | ! ( )", "\\", "{}", "*"])
def test_no_sign_of_a_query_means_anything(http: httpx.Client, space: str, query: str) -> None:
    assert http.get(f"/v1/spaces/{space}/search", params={"query": query}).status_code == 200


@given(st.text(max_size=200))
@example("\u3097 \u30a0\u30fb\u3099\ufadb")
@settings(deadline=None, max_examples=50)
def test_words_are_letters_and_digits_and_stay_what_they_are(text: str) -> None:
    assert all(word.isalnum() for word in split_words(text))
    assert split_words(" ".join(split_words(text))) == split_words(text)
    assert set(parse_query(text)) <= set(split_words(text))


@given(st.text("ab _-\n漢字ひéÉß.\u00a0\u3097İ", max_size=6), st.text("ab _-\n漢字ひéÉß.\u00a0\u3097İ", max_size=14))
@example("a" * 70 + " b", "x " + "a" * 64)
@example("ab", "xab ab")
@example("ab", "xab ac")
def test_a_text_has_a_term_when_one_of_its_words_is_one(query: str, text: str) -> None:
    if wanted := parse_query(query):
        words = split_words(text)
        assert has_any_term(wanted, text) is any(word in wanted or word.startswith(wanted[-1]) for word in words)


def test_the_best_pages_are_found_whatever_other_spaces_have(
    storage: Storage, space: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of more pages than a search finds, those of other spaces take no place."""
    others = [import_directory(storage, tmp_path / "docs", title=title).space for title in ("Better", "Best")]
    index.refresh_index(storage, [space, *others])
    with storage.read() as connection:
        for chosen in chain.from_iterable(combinations([space, *others], count) for count in (1, 2, 3)):
            for word in ("knots", "bowline", "sailing"):
                whole = find_matches(connection, [word], chosen)
                with monkeypatch.context() as cut:
                    cut.setattr(engine, "MATCHES_MAX", 1)
                    best = find_matches(connection, [word], chosen)
                assert best[0].space in chosen
                assert best[0].score == whole[0].score


def test_search_is_right_after_every_change(http: httpx.Client, space: str) -> None:
    page = http.get(f"/v1/spaces/{space}/content/path/boats").json()["id"]
    assert found(http, space, "speed") == ["Boats"]
    changed(http, space, {"operation": "update_page", "page": page, "document": {"markdown": "# Boats\n\nPlain.\n"}})
    assert (found(http, space, "speed"), found(http, space, "plain")) == ([], ["Boats"])
    changed(http, space, {"operation": "update_page", "page": page, "title": "Ships"})
    assert found(http, space, "ships") == ["Ships"]
    changed(http, space, {"operation": "delete_page", "page": page})
    assert found(http, space, "plain") == found(http, space, "ships") == []


def test_pages_of_results_follow_each_other_without_gap(http: httpx.Client, space: str) -> None:
    first = http.get(f"/v1/spaces/{space}/search", params={"query": "knots", "limit": 2}).json()
    rest = found(http, space, "knots", limit=2, page=first["next"]["page"])
    assert [item["title"] for item in first["items"]] + rest == ["Knots", "Boats", "Home"]


def test_only_what_changed_is_indexed_again(http: httpx.Client, storage: Storage, space: str) -> None:
    def rows() -> dict[str, int]:
        with storage.read() as connection:
            return {row.page: row.id for row in connection.execute(search.pages.select())}

    found(http, space, "knots")
    before = rows()
    page = http.get(f"/v1/spaces/{space}/content/path/boats").json()["id"]
    changed(http, space, {"operation": "update_page", "page": page, "document": {"markdown": "# Boats\n\nPlain.\n"}})
    found(http, space, "plain")
    after = rows()
    assert {id for id in after if after[id] != before[id]} == {page}


def test_a_space_from_before_there_was_an_index_is_found(http: httpx.Client, storage: Storage, space: str) -> None:
    with storage.write() as connection:
        connection.execute(search.indexed.delete())
        connection.execute(search.pages.delete())
    assert found(http, space, "bowline") == ["Knots"]


def test_an_import_is_indexed_ahead_of_the_first_search(storage: Storage, space: str) -> None:
    run_due_jobs(JobContext(storage, PlatformSettings()), index.HANDLERS)
    with storage.read() as connection:
        assert len(connection.execute(search.pages.select()).all()) == len(PAGES)


def test_the_words_of_a_space_go_with_it(http: httpx.Client, storage: Storage, space: str) -> None:
    found(http, space, "knots")
    with storage.write() as connection:
        connection.execute(spaces.delete().where(spaces.c.id == space))
        assert connection.exec_driver_sql("SELECT count(*) FROM search_words").scalar() == 0


def test_an_organization_is_searched_across_its_spaces(
    http: httpx.Client, organization: str, storage: Storage, space: str, tmp_path: Path
) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "README.md").write_text("# More\n\nOne bowline.\n")
    other = import_directory(storage, tmp_path / "more", title="More").space
    items = http.get(f"/v1/orgs/{organization}/search?query=bowline").json()["items"]
    assert [(item["id"], [page["title"] for page in item["pages"]]) for item in items] == [
        (space, ["Knots"]),
        (other, ["More"]),
    ]
    http.delete(f"/v1/spaces/{other}").raise_for_status()
    assert len(http.get(f"/v1/orgs/{organization}/search?query=bowline").json()["items"]) == 1


def test_postgresql_finds_the_same_in_the_same_order(tmp_path: Path, postgres_url: Callable[[], str]) -> None:
    for name, text in PAGES.items():
        (tmp_path / "docs").mkdir(exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    asked = ("knots", "loop bow", "bow loop", "CREME BRULEE", "設計", "x'y:*|&!()<->\\", "sail loop")
    found: list[list[list[str]]] = []
    for number, database in enumerate((None, postgres_url())):
        with Storage(tmp_path / str(number), database=database) as storage:
            storage.bootstrap()
            space = import_directory(storage, tmp_path / "docs", title="Docs").space
            index.refresh_index(storage, [space])
            with storage.read() as connection:
                main = connection.scalar(sa.select(spaces.c.revision))
                pages = revisions.open_revision(connection, space, str(main)).entries
                matches = [find_matches(connection, parse_query(query), [space]) for query in asked]
                found.append([[pages[match.page].node.title for match in each] for each in matches])
            with storage.write() as connection:
                connection.execute(spaces.delete())
                assert connection.exec_driver_sql("SELECT count(*) FROM search_words").scalar() == 0
    assert found[0] == found[1]
    assert found[0][:3] == [["Knots", "Boats", "Home"], ["Knots"], []]
