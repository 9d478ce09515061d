"""Pages that a renderer sees in the place of computed pages: of a specification, with ids and paths that stay."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from syncd.platform.services.directory.read import import_directory
from syncd.platform.specs.pages import LEVELS_MAX, PAGES_MAX, SpecPage, count_pages, list_spec_pages
from syncd.platform.specs.sources import PagesSource, read_pages_source
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site
from tests.platform.visitors.renderer import Renderer

INFO = {"title": "Pets", "version": "1"}
FINE = {"responses": {"200": {"description": "Fine"}}}
SPEC: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": INFO,
    "tags": [
        {"name": "care", "x-displayName": "Care & feeding", "description": "How to **care**.", "x-page-icon": "paw"},
        {"name": "sick-pets", "x-parent": "care", "x-page-description": "For those\nthat ail."},
        {"name": "unused"},
        {"name": "secret", "x-internal": True},
    ],
    "paths": {
        "/pets": {
            "get": {"summary": "List", "tags": ["care"], **FINE},
            "post": {"summary": "Add", "deprecated": True, **FINE},
            "delete": {"tags": ["care"], "x-internal": True, **FINE},
        },
        "/ill": {"get": {"operationId": "listIll", "tags": ["other", "sick-pets"], **FINE}},
        "/hidden": {"get": {"tags": ["secret"], **FINE}},
    },
    "webhooks": {"born": {"post": {"tags": ["other"], **FINE}}},
    "components": {"schemas": {"Pet": {"type": "object"}}},
}
BOTH = PagesSource("pets", has_models=True, is_by_operation=False)


def write_source(spec: str = "pets", kind: str = "builtin:openapi", **props: Any) -> str:
    """Given a specification and properties, return the entry of a table of contents for its pages."""
    source = {"type": kind, "props": props, "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": spec}}}}
    return f"* ```yaml\n  {json.dumps(source)}\n  ```\n"


def import_space(made: PublishedSiteMaker, tmp_path: Path, summary: str, **files: str) -> None:
    """Given a table of contents, make it the main content of the space Guides; `files` has texts by page."""
    docs = tmp_path / "docs"
    docs.mkdir(exist_ok=True)
    (docs / "SUMMARY.md").write_text(f"# Table of contents\n\n* [Home](README.md)\n{summary}")
    for name in ("README", "care", "staff"):
        (docs / f"{name}.md").write_text(files.get(name, f"# {name}\n"))
    import_directory(made.world.storage, docs, space=made.guides)


def put_spec(made: PublishedSiteMaker, description: Mapping[str, Any], slug: str = "pets") -> None:
    body = {"source": {"text": json.dumps(description)}}
    made.world.made("createOrUpdateOpenAPISpecBySlug", {"specSlug": slug}, body=body)
    made.world.run_jobs()


def complete_site(made: PublishedSiteMaker) -> None:
    put_spec(made, SPEC)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", complete_site) as made:
        yield made


def open_renderer(made: PublishedSiteMaker, **visitor: Any) -> Renderer:
    return Renderer(made, made.look_up("/", **visitor).json())


def walk(pages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for page in pages:
        yield page
        yield from walk(page.get("pages", []))


def list_paths(renderer: Renderer) -> list[str]:
    return [page["path"] for page in walk(renderer.read_answer("listPages")["pages"])]


def test_documents_stand_where_the_computed_page_does(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, f"\n## API\n\n* [Care](care.md)\n{write_source(models=True)}")
    renderer = open_renderer(made)
    revision = renderer.read_answer("getCurrentRevision")
    _, group = revision["pages"]
    assert [(page["type"], page["title"], page["path"]) for page in walk(group["pages"])] == [
        ("document", "Care", "api/care"),
        ("document", "Care & feeding", "api/care-feeding"),
        ("document", "Sick Pets", "api/care-feeding/sick-pets"),
        ("document", "Other", "api/other"),
        ("document", "Default", "api/default"),
        ("document", "Models", "api/models"),
    ]
    care, sick = group["pages"][1], group["pages"][1]["pages"][0]
    assert (care["icon"], sick["description"]) == ("paw", "For those that ail.")
    assert (care["kind"], "documentId" in care, care["layout"]["title"]) == ("sheet", False, True)
    spec = made.world.made("getOpenAPISpecBySlug", {"specSlug": "pets"})
    value = {"object": "openapi-spec", "id": spec["id"], "slug": "pets", "lastVersion": spec["lastVersion"]}
    assert care["computed"] == {
        "type": "builtin:openapi",
        "props": {"doc": "operations", "page": "care"},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}, "value": value}},
    }
    for operation in ("listPages", "listPagesInRevisionById", "getRevisionById"):
        assert renderer.read_answer(operation)["pages"] == revision["pages"]


def test_a_computed_document_is_found_and_read(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source(models=True))
    renderer = open_renderer(made)
    blocks = {}
    for page in list(walk(renderer.read_answer("listPages")["pages"]))[1:]:
        at = {"pageId": page["id"], "pagePath": page["path"]}
        for operation in ("getPageById", "getPageInRevisionById", "getPageByPath", "getPageInRevisionByPath"):
            assert renderer.read_answer(operation, at) == page
        document = renderer.read_answer("getPageDocumentInRevisionById", at)
        body = {"source": page["computed"], "seed": page["computedSeed"]}
        assert renderer.read_answer("getComputedDocument", body=body) == document
        assert renderer.read_answer("getPageById", at, query={"format": "document"})["document"] == document
        assert renderer.read_answer("getPageById", at, query={"format": "markdown"}) == page
        assert renderer.read_answer("listRevisionPageMetaLinks", at) == {}
        assert made.look_up(f"/{page['path']}").json()["pathname"] == f"/{page['path']}"
        blocks[page["title"]] = [
            (node["type"], node["data"].get("method")) for node in document["nodes"] if node["type"] != "paragraph"
        ]
    assert blocks == {
        "Care & feeding": [("openapi-operation", "get")],
        "Sick Pets": [("openapi-operation", "get")],
        "Other": [("openapi-operation", "get"), ("openapi-webhook", "post")],
        "Default": [("openapi-operation", "post")],
        "Models": [("openapi-schemas", None)],
    }


def test_each_operation_has_a_page_where_the_source_asks_for_it(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source(models=False, grouping="by-operation"))
    renderer = open_renderer(made)
    pages = list(walk(renderer.read_answer("listPages")["pages"]))[1:]
    assert [(page["path"], page["computed"]["props"]) for page in pages] == [
        ("care-feeding", {"doc": "tag", "page": "care"}),
        ("care-feeding/list", {"doc": "operation", "page": "/pets", "method": "get"}),
        ("care-feeding/sick-pets", {"doc": "tag", "page": "sick-pets"}),
        ("care-feeding/sick-pets/listill", {"doc": "operation", "page": "/ill", "method": "get"}),
        ("other", {"doc": "tag", "page": "other"}),
        ("other/born", {"doc": "operation", "page": "born", "method": "hook"}),
        ("default", {"doc": "tag", "page": "default"}),
        ("default/add", {"doc": "operation", "page": "/pets", "method": "post", "deprecated": True}),
    ]
    for page in pages:
        assert renderer.read_answer("getPageDocumentInRevisionById", {"pageId": page["id"]})["object"] == "document"


def test_ids_stay_and_pages_follow_the_newest_good_version(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source(models=True))
    renderer = open_renderer(made)
    before = {page["path"]: page["id"] for page in walk(renderer.read_answer("listPages")["pages"])}
    paths = {name: item for name, item in SPEC["paths"].items() if name != "/ill"}
    put_spec(made, {**SPEC, "paths": paths | {"/new": {"get": {"tags": ["new"], **FINE}}}})
    after = {page["path"]: page["id"] for page in walk(renderer.read_answer("listPages")["pages"])}
    assert set(after) - set(before) == {"new"}
    assert set(before) - set(after) == {"care-feeding/sick-pets"}
    assert all(before[path] == after[path] for path in set(before) & set(after))
    put_spec(made, {"openapi": "3.1.0"})
    assert {page["path"]: page["id"] for page in walk(renderer.read_answer("listPages")["pages"])} == after
    gone = {"pageId": before["care-feeding/sick-pets"], "pagePath": "care-feeding/sick-pets"}
    for operation in ("getPageById", "getPageByPath", "getPageDocumentInRevisionById"):
        assert made.world.call(operation, renderer.space | gone, by=renderer.content["apiToken"]).status_code == 404


def test_two_computed_pages_have_slugs_and_ids_of_their_own(made: PublishedSiteMaker, tmp_path: Path) -> None:
    put_spec(made, SPEC, "more")
    import_space(made, tmp_path, f"* [Other](care.md)\n{write_source()}{write_source()}{write_source('more')}")
    renderer = open_renderer(made)
    pages = list(walk(renderer.read_answer("listPages")["pages"]))
    assert len({page["id"] for page in pages}) == len({page["path"] for page in pages}) == len(pages) == 2 + 3 * 4
    assert {"care-feeding", "care-feeding-1", "care-feeding-2", "care-feeding-1/sick-pets"} <= set(list_paths(renderer))
    assert [page["path"] for page in pages if page["title"] == "Other"] == ["care", "other", "other-1", "other-2"]


def test_pages_below_the_home_page_have_paths_of_their_own(made: PublishedSiteMaker, tmp_path: Path) -> None:
    below = "".join(f"  {line}\n" for line in write_source().splitlines())
    import_space(made, tmp_path, f"{below}{write_source()}")
    renderer = open_renderer(made)
    home, *pages = renderer.read_answer("listPages")["pages"]
    assert [page["path"] for page in pages] == ["care-feeding", "other", "default"]
    assert [page["path"] for page in home["pages"]] == ["care-feeding-1", "other-1", "default-1"]
    for page in (*home["pages"], *pages):
        assert renderer.read_answer("getPageByPath", {"pagePath": page["path"]})["id"] == page["id"]


@pytest.mark.parametrize(
    "source",
    [
        write_source("none"),
        write_source("bad"),
        write_source(kind="integration:a:b"),
        "* ```yaml\n  type: new\n  ```\n",
    ],
)
def test_what_cannot_be_computed_is_left_out(made: PublishedSiteMaker, tmp_path: Path, source: str) -> None:
    made.world.made("createOpenAPISpec", body={"slug": "bad", "source": {"text": "{}"}})
    made.world.run_jobs()
    import_space(made, tmp_path, f"\n## API\n\n{source}* [Care](care.md)\n")
    renderer = open_renderer(made)
    assert list_paths(renderer) == ["", "api", "api/care"]
    put_spec(made, SPEC, "none")
    assert ("api/default" in list_paths(renderer)) is ('"none"' in source)


def test_others_see_the_computed_page_itself(made: PublishedSiteMaker, tmp_path: Path) -> None:
    import_space(made, tmp_path, write_source(models=True))
    renderer = open_renderer(made)
    document = list(walk(renderer.read_answer("listPages")["pages"]))[-1]
    for operation in ("getCurrentRevision", "listPages", "getRevisionById", "listPagesInRevisionById"):
        own = made.world.made(operation, renderer.space)["pages"]
        assert [page["type"] for page in own] == ["document", "computed"]
        assert renderer.read_answer(operation, query={"computed": "false"})["pages"] == own
        assert made.world.made(operation, renderer.space, query={"computed": "false"})["pages"] == own
    at = renderer.space | {"pageId": document["id"], "pagePath": document["path"]}
    token = renderer.content["apiToken"]
    for operation in ("getPageById", "getPageByPath", "getPageInRevisionById"):
        assert made.world.call(operation, at).status_code == 404
        assert made.world.call(operation, at, query={"computed": "false"}, by=token).status_code == 404


def test_pages_below_a_condition_are_for_its_visitors(made: PublishedSiteMaker, tmp_path: Path) -> None:
    below = "".join(f"  {line}\n" for line in write_source(models=True).splitlines())
    import_space(made, tmp_path, f"* [Staff](staff.md)\n{below}", staff=f"---\nif: {CLAIM}\n---\n\n# Staff\n")
    stranger, staff = open_renderer(made), open_renderer(made, jwtToken=made.sign(isStaff=True))
    assert "staff/default" in list_paths(staff)
    assert not [path for path in list_paths(stranger) if path.startswith("staff")]
    page = staff.read_answer("getPageByPath", {"pagePath": "staff/default"})
    body = {"source": page["computed"], "seed": "1"}
    assert staff.read_answer("getComputedDocument", body=body)["nodes"]
    by = stranger.content["apiToken"]
    assert made.world.call("getComputedDocument", stranger.space, body=body, by=by).status_code == 404
    version = {"specSlug": "pets", "versionId": "latest"}
    assert staff.read_answer("getOpenAPISpecVersionContentById", version)["filesystem"]
    assert made.world.call("getOpenAPISpecVersionContentById", version, by=by).status_code == 404


def test_a_token_reads_the_specification_of_the_revision_that_it_was_made_for(
    made: PublishedSiteMaker, tmp_path: Path
) -> None:
    import_space(made, tmp_path, write_source(models=True))
    renderer = open_renderer(made)
    import_space(made, tmp_path, "* [Care](care.md)\n")
    assert len(list_paths(renderer)) == 2
    page = list(walk(renderer.read_answer("listPagesInRevisionById")["pages"]))[-1]
    assert renderer.read_answer("getPageDocumentInRevisionById", {"pageId": page["id"]})["nodes"]
    again = open_renderer(made)
    body = {"source": page["computed"], "seed": "1"}
    by = again.content["apiToken"]
    assert made.world.call("getComputedDocument", again.space, body=body, by=by).status_code == 404


def describe(tags: list[Any], used: list[list[Any]]) -> dict[str, Any]:
    """Given tags and the tags of each operation, return a description."""
    paths = {f"/{number}": {"get": {"tags": names, **FINE}} for number, names in enumerate(used)}
    return {"openapi": "3.0.3", "info": INFO, "tags": tags, "paths": paths}


def test_odd_tags_become_pages_that_can_be_read(made: PublishedSiteMaker, tmp_path: Path) -> None:
    names = ["../../etc", "a/b", "\u202eevil\n", "   ", "-", "日本", "Page", "page", "PAGE", "x" * 2048, "\x00", "&<"]
    put_spec(made, describe([{"name": name} for name in names], [[name] for name in (*names, "y" * 3000)]))
    import_space(made, tmp_path, write_source(models=True))
    renderer = open_renderer(made)
    pages = list(walk(renderer.read_answer("listPages")["pages"]))[1:]
    assert len({page["path"] for page in pages}) == len(pages) == len(names) + 1
    for page in pages:
        assert page["title"].strip()
        assert page["title"].isprintable()
        assert len(page["title"]) <= 200
        assert page["slug"].strip("abcdefghijklmnopqrstuvwxyz0123456789-") == "" < page["slug"]
        at = {"pageId": page["id"], "pagePath": page["path"]}
        assert renderer.read_answer("getPageByPath", at) == page
        assert renderer.read_answer("getPageDocumentInRevisionById", at)["nodes"]


def test_pages_are_bounded(made: PublishedSiteMaker, tmp_path: Path) -> None:
    put_spec(made, describe([], [["same", f"same-{number}", f" same {number % 3}"] for number in range(3_000)]))
    import_space(made, tmp_path, write_source(models=True) * 12)
    renderer = open_renderer(made)
    pages = list(walk(renderer.read_answer("listPages")["pages"]))
    assert len({page["path"] for page in pages}) == len(pages) == 1 + 10 * PAGES_MAX
    assert renderer.read_answer("getPageByPath", {"pagePath": pages[-1]["path"]})["id"] == pages[-1]["id"]


def outline(pages: tuple[SpecPage, ...]) -> list[Any]:
    return [(page.props.get("page"), outline(page.pages)) if page.pages else page.props.get("page") for page in pages]


def test_tags_above_tags_go_round_in_no_circle() -> None:
    around = [{"name": "a", "parent": "b"}, {"name": "b", "parent": "a"}, {"name": "c", "parent": "c"}]
    tags = [*around, {"name": "d", "parent": "a"}, {"name": "e", "x-parent": "none"}, {"name": "f", "parent": ["a"]}, 7]
    found = list_spec_pages(describe(tags, [["a"], ["b"], ["c"], ["d"], ["e"], ["f"]]), BOTH)
    assert outline(found) == ["a", "b", "c", "d", "e", "f"]
    deep = [{"name": str(number), "x-parent": str(number - 1)} for number in range(50)]
    found = list_spec_pages(describe(deep, [["3"], ["40"]]), BOTH)
    assert outline(found) == [("0", [("1", [("2", ["3"])])]), "40"]
    found = list_spec_pages(describe(deep, [[str(number)] for number in range(50)]), BOTH)
    assert count_pages(found) == 50
    depth, level = 0, found
    while level:
        depth, level = depth + 1, level[0].pages
    assert depth == LEVELS_MAX + 1


def test_what_is_below_a_hidden_tag_is_hidden_too() -> None:
    tags = [{"name": "a", "x-gitbook-ignore": True}, {"name": "b", "x-parent": "a"}, {"name": "c"}]
    assert outline(list_spec_pages(describe(tags, [["a"], ["b"], ["c"], ["c", "a"]]), BOTH)) == ["c"]


@pytest.mark.parametrize(
    "description",
    [
        {},
        {"paths": [], "tags": {}, "webhooks": 1, "components": {"schemas": []}},
        {"paths": {"/a": [], "/b": {"get": []}, "/c": {"get": None}}, "webhooks": {"a": {"put": 1}, "b": 2}},
    ],
)
def test_a_description_of_any_shape_is_read(description: dict[str, Any]) -> None:
    assert count_pages(list_spec_pages(description, BOTH)) <= 1


@pytest.mark.parametrize(
    "computed",
    [
        None,
        "x",
        [],
        {},
        {"type": "builtin:openapi"},
        {"type": "builtin:openapi", "dependencies": {"spec": {"ref": {}}}},
    ],
)
def test_a_source_of_any_shape_is_read(computed: Any) -> None:
    assert read_pages_source(computed) is None


def test_a_source_without_properties_asks_for_pages_of_tags() -> None:
    ref = {"kind": "openapi", "spec": "pets"}
    source = {"type": "builtin:openapi", "props": 7, "dependencies": {"spec": {"ref": ref, "value": None}}}
    assert read_pages_source(source) == PagesSource("pets", has_models=False, is_by_operation=False)
