"""Pages that are kept over a restart: found while they are right, and only ever what anybody may read."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from syncd.platform.app import create_app
from syncd.platform.revisions import metadata
from syncd.platform.storage.storage import Storage
from tests.contract.in_process import InProcess
from tests.contract.world import World
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


def restart(made: PublishedSiteMaker) -> httpx.Client:
    """Given a site, return a client of a server that has rendered nothing."""
    return httpx.Client(base_url="http://platform", transport=InProcess(create_app(made.world.storage)))


def get(made: PublishedSiteMaker, path: str, **cookies: str) -> str:
    """Given a path below a site, return what a server says that was started just now."""
    with restart(made) as client:
        client.cookies.update(cookies)
        return client.get(made.base + path, follow_redirects=True).text


def list_kept(made: PublishedSiteMaker) -> list[str]:
    # Whoever asks makes the file.
    made.world.storage.kept_pages.find_page((b"none",))
    with closing(sqlite3.connect(made.world.storage.data / "pages.db")) as database:
        rows = database.execute("SELECT html FROM pages WHERE scope LIKE ?", (f"%{made.base}%",))
        return [html.decode() for (html,) in rows]


def mark_kept(made: PublishedSiteMaker) -> None:
    """Write into each kept page of a site that it was kept."""
    with closing(sqlite3.connect(made.world.storage.data / "pages.db", isolation_level=None)) as database:
        database.execute(
            "UPDATE pages SET html = CAST(CAST(html AS TEXT) || '<!-- kept -->' AS BLOB) WHERE scope = ?", (made.base,)
        )


def find_page(made: PublishedSiteMaker, title: str) -> str:
    pages = made.world.made("listPages", {"spaceId": made.guides})["pages"]
    return str(next(one["id"] for one in pages if one["title"] == title))


def update(made: PublishedSiteMaker, called: str, **members: object) -> None:
    made.world.write(made.guides, [{"operation": "update_page", "page": find_page(made, called), **members}])


def test_a_page_outlives_its_server_and_has_the_origin_of_whoever_asks(made: PublishedSiteMaker) -> None:
    first = get(made, "/setup")
    assert f'<link rel="canonical" href="http://platform{made.base}/setup">' in first
    [kept] = list_kept(made)
    assert "http://platform" not in kept
    mark_kept(made)
    assert get(made, "/setup") == f"{first}<!-- kept -->"


def test_a_changed_text_leaves_all_other_pages_kept(made: PublishedSiteMaker) -> None:
    for path in ("/", "/setup", "/v1"):
        get(made, path)
    mark_kept(made)
    update(made, "Setup", document={"markdown": "# Setup\n\nOther words.\n"})
    assert "Other words." in get(made, "/setup")
    assert "kept" not in get(made, "/setup")
    assert "kept" in get(made, "/")
    assert "kept" in get(made, "/v1")


def test_what_a_page_shows_of_others_has_it_rendered_again(made: PublishedSiteMaker) -> None:
    get(made, "/")
    mark_kept(made)
    update(made, "Setup", title="Settings")
    text = get(made, "/")
    assert "kept" not in text
    assert "Settings" in text


def test_a_page_that_reads_another_space_of_the_site_follows_that_one(made: PublishedSiteMaker) -> None:
    [old] = made.world.made("listPages", {"spaceId": made.old})["pages"]
    card = f'{{% content-ref url="https://app.gitbook.com/s/{made.old}/welcome" %}}\nx\n{{% endcontent-ref %}}'
    made.world.write(made.guides, [page("Links", card)])
    assert "Welcome" in get(made, "/links")
    mark_kept(made)
    assert "kept" in get(made, "/links")
    made.world.write(made.old, [{"operation": "update_page", "page": old["id"], "title": "Farewell"}])
    text = get(made, "/links")
    assert "kept" not in text
    assert "Farewell" in text


def test_a_changed_customization_has_all_rendered_again(made: PublishedSiteMaker) -> None:
    get(made, "/setup")
    mark_kept(made)
    made.world.made("updateSiteById", made.path, body={"title": "Handbook"})
    assert "kept" not in get(made, "/setup")
    assert "Handbook" in get(made, "/setup")


@pytest.mark.parametrize("visibility", ["share-link", "visitor-auth"])
def test_nothing_is_kept_of_a_site_for_some(world: World, visibility: str) -> None:
    made = PublishedSiteMaker(world, visibility=visibility)
    below = f"/{made.add_share_link()}" if visibility == "share-link" else ""
    token = made.sign(isStaff=True) if visibility == "visitor-auth" else ""
    assert "Words of Welcome" in get(made, f"{below}/", **({"syncd-visitor": token} if token else {}))
    assert list_kept(made) == []


def test_nothing_is_kept_of_what_a_visitor_reads_by_claims(made: PublishedSiteMaker) -> None:
    token = made.sign(isStaff=True)
    assert "vault" in get(made, "/internal", **{"syncd-visitor": token})
    assert "Internal" in get(made, "/setup", **{"syncd-visitor": token})
    assert list_kept(made) == []
    assert "Internal" not in get(made, "/setup")
    assert "Internal" in get(made, "/setup", **{"syncd-visitor": token})
    [kept] = list_kept(made)
    assert "Internal" not in kept


@pytest.mark.parametrize("visibility", ["share-link", "visitor-auth"])
def test_what_was_kept_is_read_by_nobody_once_the_site_is_for_some(made: PublishedSiteMaker, visibility: str) -> None:
    assert "Words of Welcome" in get(made, "/")
    made.world.made("updateSiteById", made.path, body={"visibility": visibility})
    assert "Words of Welcome" not in get(made, "/")
    made.world.made("updateSiteById", made.path, body={"visibility": "public"})
    made.world.made("unpublishSite", made.path)
    assert "Words of Welcome" not in get(made, "/")


def test_a_page_for_some_visitors_is_not_kept_for_others(made: PublishedSiteMaker) -> None:
    assert "Do " in get(made, "/setup")
    update(made, "Setup", document={"markdown": f"---\nif: {CLAIM}\n---\n\n# Setup\n\nFor staff.\n"})
    assert "For staff" not in get(made, "/setup")
    assert "For staff" in get(made, "/setup", **{"syncd-visitor": made.sign(isStaff=True)})
    assert "For staff" not in get(made, "/setup")
    assert not any("For staff" in one for one in list_kept(made))


def test_the_other_pages_follow_the_first_one_that_was_not_rendered(made: PublishedSiteMaker) -> None:
    app = create_app(made.world.storage)
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        assert client.get(f"{made.base}/setup").status_code == 200
        app.state.site_renderer.render_waiting()
        kept = list_kept(made)
        assert len(kept) == 3
        assert not any("vault" in one for one in kept)
        mark_kept(made)
        assert "kept" in client.get(f"{made.base}/v1").text
        update(made, "Setup", document={"markdown": "# Setup\n\nOther words.\n"})
        assert "Other words." in client.get(f"{made.base}/setup").text
        app.state.site_renderer.render_waiting()
        # What the page was before the change is kept no more.
        assert [("kept" in one, "Other words." in one) for one in list_kept(made)].count((True, False)) == 2
        assert len(list_kept(made)) == 3


def test_a_page_that_is_never_kept_has_no_others_rendered(made: PublishedSiteMaker) -> None:
    source = '{"openapi": "3.1.0", "info": {"title": "Pets", "version": "1"}, "paths": {}}'
    made.world.made("createOrUpdateOpenAPISpecBySlug", {"specSlug": "pets"}, body={"source": {"text": source}})
    block = '{% openapi-operation spec="pets" path="/pets" method="get" %}\n\n{% endopenapi-operation %}'
    update(made, "Setup", document={"markdown": f"# Setup\n\n{block}\n"})
    app = create_app(made.world.storage)
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        assert client.get(f"{made.base}/setup").status_code == 200
        app.state.site_renderer.render_waiting()
    assert list_kept(made) == []


def test_nothing_is_rendered_ahead_of_a_site_that_was_closed_meanwhile(made: PublishedSiteMaker) -> None:
    app = create_app(made.world.storage)
    with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
        client.get(f"{made.base}/setup")
        made.world.made("updateSiteById", made.path, body={"visibility": "visitor-auth"})
        app.state.site_renderer.render_waiting()
    assert list_kept(made) == []


def test_a_page_that_an_older_syncd_left_open_is_nowhere_after_the_upgrade(
    made: PublishedSiteMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = "* [Home](README.md)\n* [Unread](unread.md)\n"
    texts = {"README.md": "# Home\n", "SUMMARY.md": summary, "unread.md": "---\nif: [a, b]\n---\n\n# Unread\n"}
    with monkeypatch.context() as older:
        older.setattr(metadata, "is_deciding", lambda _: False)
        made.import_space(tmp_path / "docs", texts)
    home, page = "/docs", "/docs/unread"
    assert "Unread</h1>" in get(made, page)
    assert page in get(made, home)
    data = made.world.storage.data
    with closing(sqlite3.connect(data / "platform.db", isolation_level=None)) as database:
        database.execute("UPDATE alembic_version SET version_num = '0008'")
    Storage(data).close()
    assert "Unread" not in get(made, page)
    assert page not in get(made, home)
