"""All that a renderer asks of the platform to show a site: each operation, and the members that it reads of answers.

The renderer has nothing but an address: whatever it shows, it reads with the content token that the address gives it.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jwt
import pytest

from tests.contract.probes._linked import imported
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page
from tests.platform.visitors.renderer import Renderer

SPEC = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1", "description": "All of *pets*."},
    "tags": [{"name": "care", "description": "How to **care**."}],
    "paths": {
        "/pets": {
            "get": {"summary": "List", "tags": ["care"], "responses": {"200": {"description": "Pets"}}},
            "post": {"summary": "Add", "responses": {"200": {"description": "A pet"}}},
            "patch": {"tags": ["care"], "x-internal": True, "responses": {"200": {"description": "A pet"}}},
        }
    },
    "webhooks": {"born": {"post": {"responses": {"200": {"description": "Thanks"}}}}},
    "components": {"schemas": {"Pet": {"type": "object"}}},
}
BLOCK = '{% openapi-operation spec="pets" path="/pets" method="get" %}\n\n{% endopenapi-operation %}'

SITE = (
    "id", "type", "appliedType", "title", "visibility", "defaultLevel", "permissions", "published", "createdAt",
    "siteSpaces", "features", "urls",
)  # fmt: skip
SETTINGS = (
    "styling", "internationalization", "favicon", "header", "footer", "themes", "feedback", "ai",
    "advancedCustomization", "trademark", "externalLinks", "pagination", "pageActions", "privacyPolicy",
    "socialPreview", "socialAccounts", "insights", "pdf", "git",
)  # fmt: skip
LAYOUT = (
    "width", "cover", "coverSize", "coverMask", "title", "description", "tableOfContents", "outline",
    "pagination", "metadata", "tags", "actions", "anchors",
)  # fmt: skip
PAGE = ("id", "title", "type", "kind", "urls", "slug", "path", "pages", "layout", "tags", "documentId")
CONTENT = (
    "site", "siteSpace", "space", "pathname", "basePath", "siteBasePath", "apiToken", "organization", "complete",
    "canonicalUrl", "revision", "siteSection",
)  # fmt: skip
REDIRECT = ("id", "source", "destination", "draft", "captureWildcard", "permanent", "createdAt")
PERMISSIONS = (
    "view", "access", "edit", "create", "admin", "installIntegration", "viewAdaptiveSchema", "editAdaptiveSchema",
)  # fmt: skip


def complete_site(made: PublishedSiteMaker) -> None:
    world = made.world
    world.made("createOpenAPISpec", body={"slug": "pets", "source": {"text": json.dumps(SPEC)}})
    world.run_jobs()
    staff = page("Staff page", "Hidden.")
    staff["document"]["markdown"] = f"---\nif: {CLAIM}\n---\n\n" + staff["document"]["markdown"]
    world.write(made.guides, [page("API", f"See [setup](setup.md).\n\n{BLOCK}"), staff])
    world.made("addSectionGroupToSite", made.path, body={"title": "Learn", "sections": [made.sections[0]]})
    world.made("updateSiteById", made.path, body={"defaultSiteSection": made.sections[0]})
    body = {"source": "/old", "destination": {"kind": "external", "url": "https://example.com/new"}, "permanent": True}
    world.made("createSiteRedirect", made.path, body=body)
    own = {"title": "Before"}
    noted = imported(world)
    body = {"spaceId": noted["spaceId"], "sectionId": made.sections[0]}
    world.made("addSpaceToSite", made.path, body=body)
    at = made.path | {"siteSpaceId": made.variant}
    world.made("overrideSiteSpaceCustomizationById", at, body=own)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform", complete_site) as made:
        yield made


@pytest.fixture
def renderer(made: PublishedSiteMaker) -> Renderer:
    return Renderer(made, made.look_up("/api").json())


def has(value: dict[str, Any], members: tuple[str, ...]) -> bool:
    """Given a value of an answer, return whether it has all members; which one it lacks stands in the failure."""
    assert not [name for name in members if name not in value]
    return True


def walk(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Given an answer, yield all objects of a kind in it."""
    if isinstance(value, dict):
        if value.get("object") == kind:
            yield value
        for child in value.values():
            yield from walk(child, kind)
    elif isinstance(value, list):
        for child in value:
            yield from walk(child, kind)


def test_the_answer_to_an_address_and_its_token(renderer: Renderer) -> None:
    found = renderer.content
    assert has(found, CONTENT)
    assert (found["pathname"], found["complete"]) == ("/api", True)
    members = jwt.decode(found["apiToken"], options={"verify_signature": False})
    named = ("kind", "organization", "site", "siteSpace", "siteSection", "space", "spaces", "exp")
    assert has(members, named)
    assert members["kind"] == "site"
    assert {renderer.made.guides, renderer.made.old} < set(members["spaces"])
    assert renderer.made.internal not in members["spaces"]


def test_the_site_has_settings_for_every_site_space(renderer: Renderer) -> None:
    whole = renderer.read_answer("getPublishedContentSite", renderer.made.path)
    assert has(whole["site"], SITE)
    assert has(whole["site"]["urls"], ("location", "app", "published", "preview"))
    assert has(whole["site"]["permissions"], PERMISSIONS)
    assert [name for name, may in whole["site"]["permissions"].items() if may] == ["view"]
    shown = {one["id"] for one in walk(whole["structure"], "site-space")}
    settings = whole["customizations"]["siteSpaces"]
    assert set(settings) == shown > {renderer.content["siteSpace"], renderer.made.variant}
    for one in (whole["customizations"]["site"], *settings.values()):
        assert has(one, SETTINGS)
        for theme in ("default", "openapi"):
            assert has(one["styling"]["codeTheme"][theme], ("light", "dark"))
    assert whole["customizations"]["site"]["pageActions"]["items"] == ["markdown", "pdf"]
    assert settings[renderer.made.variant]["title"] == "Before"


def test_links_are_those_for_the_visitor(made: PublishedSiteMaker) -> None:
    settings = made.world.made("getSiteCustomizationById", made.path)
    to = {"kind": "url", "url": "https://example.com/"}
    links: list[dict[str, Any]] = [{"title": title, "to": to, "links": []} for title in ("Open", "Canteen")]
    links[1]["condition"] = CLAIM
    settings["header"] = {**settings["header"], "links": links}
    made.world.made("updateSiteCustomizationById", made.path, body=settings)
    for claims, shown in (({}, ["Open"]), ({"isStaff": True}, ["Open", "Canteen"])):
        renderer = Renderer(made, made.look_up("/api", jwtToken=made.sign(**claims)).json())
        found = renderer.read_answer("getPublishedContentSite", made.path)["customizations"]
        for one in (found["site"], *found["siteSpaces"].values()):
            assert [link["title"] for link in one["header"]["links"]] == shown
        assert CLAIM not in json.dumps(found)
    whole = made.world.made("getPublishedContentSite", made.path)["customizations"]
    assert whole["site"]["header"]["links"][1]["condition"] == CLAIM


def test_the_structure_says_of_each_part_whether_it_is_a_draft(renderer: Renderer) -> None:
    structure = renderer.read_answer("getPublishedContentSite", renderer.made.path)["structure"]
    groups, sections, spaces = (
        list(walk(structure, kind)) for kind in ("site-section-group", "site-section", "site-space")
    )
    assert [one["title"] for one in groups] == ["Learn"]
    assert has(groups[0], ("id", "title", "children", "draft"))
    for part in sections:
        assert has(part, ("id", "title", "path", "draft", "siteSpaces", "urls"))
    for part in spaces:
        assert has(part, ("id", "title", "path", "draft", "space", "urls"))
        assert part["draft"] is False
    assert {one["title"] for one in sections} == {"Guides"}


@pytest.mark.parametrize(
    "operation", ["getRevisionById", "getCurrentRevision", "listPages", "getPageByPath", "getPageInRevisionById"]
)
def test_pages_have_all_of_their_layout_and_no_condition(renderer: Renderer, operation: str) -> None:
    made = renderer.made
    staff = made.look_up("/api", jwtToken=made.sign(isStaff=True)).json()
    pages = {one["title"]: one for one in made.world.made("listPages", renderer.space)["pages"]}
    path = {"pageId": pages["API"]["id"], "pagePath": "api"}
    for content in (renderer.content, staff):
        answer = Renderer(made, content).read_answer(operation, path)
        shown = answer.get("pages") or [answer]
        assert shown
        for one in shown:
            assert has(one, PAGE)
            assert has(one["layout"], LAYOUT)
            assert "condition" not in one
        assert ("Staff page" in str(answer)) is (content is staff and "pages" in answer and len(answer["pages"]) > 0)
    assert "condition" in pages["Staff page"]


def test_a_document_comes_with_what_it_refers_to(renderer: Renderer) -> None:
    found = renderer.read_answer("getPageByPath", {"pagePath": "api"})
    query = {"evaluated": "true", "dereferenced": "true"}
    document = renderer.read_answer("getPageDocumentInRevisionById", {"pageId": found["id"]}, query=query)
    assert document["object"] == "document"
    assert has(document, ("data", "nodes", "meta"))
    assert [one["type"] for one in document["nodes"]] == ["paragraph", "openapi-operation"]
    assert document["nodes"][1]["data"]["ref"] == {"kind": "openapi", "spec": "pets"}
    [target] = [one for one in document["meta"]["targets"] if one["ref"]["kind"] == "page"]
    assert target["page"]["title"] == "Setup"


def test_footnotes_are_annotations_to_a_renderer_and_text_to_writers(renderer: Renderer) -> None:
    made = renderer.made
    made.world.write(made.guides, [page("Noted", "A word[^1].\n\n[^1]: With [a link](api.md).")])
    reader = Renderer(made, made.look_up("/noted").json())
    at = {"pageId": reader.read_answer("getPageByPath", {"pagePath": "noted"})["id"]}
    document = reader.read_answer("getPageDocumentInRevisionById", at, query={"dereferenced": "true"})
    [paragraph] = document["nodes"]
    [annotation] = [one for one in paragraph["nodes"] if one.get("type") == "annotation"]
    assert annotation["nodes"][0]["leaves"][0]["text"] == "word"
    [body] = annotation["fragments"]
    assert (body["type"], body["nodes"][0]["nodes"][1]["data"]["ref"]["kind"]) == ("annotation-body", "page")
    assert len(document["meta"]["targets"]) == 1
    own = made.world.made("getPageDocumentInRevisionById", reader.space | at)
    assert "[^1]: With" in str(own["nodes"])


def test_a_document_is_the_same_in_each_version_of_the_schema(renderer: Renderer) -> None:
    document = {"documentId": renderer.read_answer("getPageByPath", {"pagePath": "api"})["documentId"]}
    read = [renderer.read_answer("getDocumentById", document, query={"schema": name}) for name in ("current", "next")]
    assert read == [renderer.read_answer("getDocumentById", document)] * 2
    source = {
        "type": "builtin:openapi",
        "props": {"doc": "models"},
        "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}},
    }
    body = {"source": source, "seed": "1"}
    computed = renderer.read_answer("getComputedDocument", body=body, query={"schema": "next"})
    assert computed == compute(renderer, doc="models")
    for operation in ("getDocumentById", "getComputedDocument"):
        answer = renderer.made.world.call(operation, renderer.space | document, query={"schema": "1"}, body=body)
        assert (answer.status_code, "schema" in answer.text) == (400, True)


def test_reusable_content_has_a_document(renderer: Renderer) -> None:
    made = renderer.made
    structure = renderer.read_answer("getPublishedContentSite", made.path)["structure"]
    noted = list(walk(structure, "site-space"))[-1]
    reader = Renderer(made, made.look_up(f"/{noted['path']}").json())
    [shared] = reader.read_answer("getCurrentRevision")["reusableContents"]
    path = {"reusableContentId": shared["id"]}
    document = reader.read_answer("getReusableContentDocumentInRevisionById", path)
    assert (document["object"], "Mind the gap." in str(document["nodes"])) == ("document", True)


def test_a_space_says_the_address_of_the_site_of_the_token(made: PublishedSiteMaker) -> None:
    world = made.world
    other = world.site(title="Other", visibility="public")
    world.made("addSpaceToSite", {"siteId": other["id"]}, body={"spaceId": made.old})
    world.made("publishSite", {"siteId": other["id"]})
    world.made("deleteSiteSpaceById", made.path | {"siteSpaceId": made.variant})
    world.made("addSpaceToSite", made.path, body={"spaceId": made.old, "sectionId": made.sections[0]})
    address = f"{made.origin}/sites/{world.made('getSiteById', {'siteId': other['id']})['basename']}/"
    body = {"url": address, "visitor": {}}
    token = world.made("resolvePublishedContentByUrl", body=body)["apiToken"]
    for by, expected in ((token, address), (made.look_up("/").json()["apiToken"], f"{made.origin}{made.base}/")):
        for operation in ("getSpaceById", "getCurrentRevision"):
            assert world.made(operation, {"spaceId": made.old}, by=by)["urls"]["published"] == expected
    world.made("updateSiteById", made.path, body={"visibility": "share-link"})
    key = made.add_share_link()
    token = made.look_up(f"/{key}/").json()["apiToken"]
    urls = world.made("getSpaceById", {"spaceId": made.old}, by=token)["urls"]
    assert (urls["published"], "public" in urls) == (f"{made.origin}{made.base}/{key}/", False)


def test_the_first_page_is_found_by_a_name_of_its_file(renderer: Renderer) -> None:
    made = renderer.made
    structure = renderer.read_answer("getPublishedContentSite", made.path)["structure"]
    noted = list(walk(structure, "site-space"))[-1]
    for path in ("readme.md", "README"):
        found = made.look_up(f"/{noted['path']}/{path}").json()
        assert (found["siteSpace"], found["pathname"]) == (noted["id"], f"/{path}")
        page = Renderer(made, found).read_answer("getPageByPath", {"pagePath": path}, query={"format": "markdown"})
        assert (page["path"], page["markdown"] != "") == ("", True)


def test_a_redirect_says_all_of_itself(renderer: Renderer) -> None:
    found = renderer.read_answer("getSiteRedirectBySource", renderer.made.path, query={"source": "/OLD"})
    assert has(found["redirect"], REDIRECT)
    assert (found["target"], found["redirect"]["permanent"]) == ("https://example.com/new", True)
    assert renderer.made.look_up("/old").json()["target"] == "external"


def test_what_stands_beside_pages_is_read_too(renderer: Renderer) -> None:
    found = renderer.read_answer("getPageByPath", {"pagePath": "api"})
    assert renderer.read_answer("listRevisionPageMetaLinks", {"pageId": found["id"]}) == {}
    embed = renderer.read_answer("getEmbedByUrlInSpace", query={"url": "https://example.com/film"})
    assert has(embed, ("type", "title", "site"))
    version = {"specSlug": "pets", "versionId": "latest"}
    assert renderer.read_answer("getOpenAPISpecVersionById", version)["object"] == "openapi-spec-version"
    content = renderer.read_answer("getOpenAPISpecVersionContentById", version)
    assert content["filesystem"][0]["specification"] == SPEC
    assert json.loads(renderer.read_answer("getOpenAPISpecVersionContentRawById", version)["text"]) == SPEC
    body = {"query": "setup", "scope": {"mode": "all"}}
    [space] = renderer.read_answer("searchSiteContent", renderer.made.path, body=body)["items"]
    assert has(space, ("type", "id", "title", "score", "pages"))
    assert has(space["pages"][0], ("id", "title", "path", "score", "rank", "sections", "urls"))
    event = {"type": "page_view", "location": {"siteSpace": renderer.content["siteSpace"], "page": found["id"]}}
    assert renderer.read_answer("trackEventsInSiteById", renderer.made.path, body={"events": [event]}) is None
    about = renderer.made.world.target.client.get("/v1/").json()
    assert has(about, ("version", "build"))


def compute(renderer: Renderer, seed: str = "1", **props: Any) -> dict[str, Any]:
    """Given properties of a document of the specification, return the document."""
    dependency = {"ref": {"kind": "openapi", "spec": "pets"}, "value": None}
    source = {"type": "builtin:openapi", "props": props, "dependencies": {"spec": dependency}}
    return dict(renderer.read_answer("getComputedDocument", body={"source": source, "seed": seed}))


@pytest.mark.parametrize(
    ("props", "blocks"),
    [
        ({"doc": "models"}, [("openapi-schemas", {"schemas": ["Pet"], "grouped": True})]),
        ({"doc": "info", "page": "Pets"}, [("paragraph", None)]),
        ({"doc": "tag", "page": "care"}, [("paragraph", None)]),
        (
            {"doc": "operations", "page": "care"},
            [("paragraph", None), ("openapi-operation", {"path": "/pets", "method": "get"})],
        ),
        (
            {"doc": "operations", "page": "default"},
            [
                ("openapi-operation", {"path": "/pets", "method": "post"}),
                ("openapi-webhook", {"name": "born", "method": "post"}),
            ],
        ),
        (
            {"doc": "operation", "page": "/pets", "method": "post"},
            [("openapi-operation", {"path": "/pets", "method": "post"})],
        ),
        (
            {"doc": "operation", "page": "born", "method": "hook"},
            [("openapi-webhook", {"name": "born", "method": "post"})],
        ),
    ],
)
def test_a_document_is_computed_from_a_specification(
    renderer: Renderer, props: dict[str, Any], blocks: list[tuple[str, dict[str, Any] | None]]
) -> None:
    document = compute(renderer, **props)
    assert document["object"] == "document"
    ref = {"ref": {"kind": "openapi", "spec": "pets"}}
    expected = [(kind, {} if data is None else ref | data) for kind, data in blocks]
    assert [(one["type"], one["data"]) for one in document["nodes"]] == expected
    assert compute(renderer, **props) == document
    other = compute(renderer, "2", **props)
    assert not {one["key"] for one in document["nodes"]} & {one["key"] for one in other["nodes"]}


def test_nothing_is_computed_from_what_the_reader_may_not_read(renderer: Renderer) -> None:
    world, made = renderer.made.world, renderer.made
    for props in (
        {"doc": "operation", "page": "/none", "method": "get"},
        {"doc": "operation", "page": "/pets", "method": "put"},
        {"doc": "tag", "page": "none"},
    ):
        source = {
            "type": "builtin:openapi",
            "props": props,
            "dependencies": {"spec": {"ref": {"kind": "openapi", "spec": "pets"}}},
        }
        answer = world.call("getComputedDocument", renderer.space, body={"source": source, "seed": ""})
        assert answer.status_code == 404
    world.made("createOpenAPISpec", body={"slug": "secret", "source": {"text": json.dumps(SPEC)}})
    world.run_jobs()
    spec = {"spec": {"ref": {"kind": "openapi", "spec": "secret"}}}
    body = {"source": {"type": "builtin:openapi", "props": {"doc": "models"}, "dependencies": spec}, "seed": "1"}
    assert world.call("getComputedDocument", renderer.space, body=body).status_code == 200
    for by, space, status in (
        (renderer.content["apiToken"], made.guides, 404),
        (renderer.content["apiToken"], made.internal, 404),
        (world.outsider, made.guides, 404),
        (world.anonymous, made.guides, 401),
    ):
        assert world.call("getComputedDocument", {"spaceId": space}, body=body, by=by).status_code == status
    unknown = {"source": {"type": "integration:a:b", "props": {}}, "seed": "1"}
    assert world.call("getComputedDocument", renderer.space, body=unknown).status_code == 400


def test_a_document_is_computed_by_a_translation(renderer: Renderer) -> None:
    world, made = renderer.made.world, renderer.made
    translation = world.made("createTranslation", body={"source": {"space": made.guides}, "language": "fr"})
    world.run_jobs()
    shown = world.made("getTranslation", {"translationId": translation["id"]})
    assert shown["result"]["language"] == "fr"
    [setup] = [one for one in world.made("listPages", renderer.space)["pages"] if one["title"] == "Setup"]
    ref = {"ref": {"kind": "translation", "translation": translation["id"]}, "value": shown["result"]}
    props = {"space": made.guides, "document": setup["documentId"]}
    source = {"type": "builtin:translation", "props": props, "dependencies": {"translation": ref}}
    body = {"source": source, "seed": "1"}
    document = world.made("getComputedDocument", {"spaceId": made.guides}, body=body)
    assert (document["object"], len(document["nodes"])) == ("document", 1)
    by = renderer.content["apiToken"]
    assert world.call("getComputedDocument", renderer.space, body=body, by=by).status_code == 404
    added = world.made(
        "addSpaceToSite",
        made.path,
        body={"spaceId": shown["result"]["space"], "sectionId": made.sections[0]},
    )
    assert added["id"]
    again = made.look_up("/setup").json()["apiToken"]
    read = world.made("getComputedDocument", renderer.space, body=body, by=again)
    assert read["object"] == "document"


def test_members_of_the_organization_and_its_specifications(renderer: Renderer) -> None:
    world = renderer.made.world
    organization = world.made("getOrganizationById")
    assert organization["permissions"]["access"] is True
    assert organization["billing"]["canCheckout"] is False
    assert world.made("getOpenAPISpecBySlug", {"specSlug": "pets"})["lastProcessedErrorCount"] == 0
    world.made("createOpenAPISpec", body={"slug": "bad", "source": {"text": "{}"}})
    world.run_jobs()
    bad = world.made("getOpenAPISpecBySlug", {"specSlug": "bad"})
    assert bad["lastProcessedErrorCount"] == len(bad["lastProcessedErrors"]) > 0
