"""What a search of a published site finds, and its answers quote: words that a page shows, wherever they come from."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from syncd.platform.schema.search import pages
from syncd.platform.services.directory.read import import_directory
from tests.platform.visitors.published_site import CLAIM, PublishedSiteMaker, open_published_site, page

INCLUDE = '{%% include ".gitbook/includes/%s.md" %%}'
PLAN_SCHEMA = {
    "type": "object",
    "properties": {
        "plan": {"type": "string", "description": "What they bought"},
        "isStaff": {"type": "boolean", "description": "Works here"},
    },
    "additionalProperties": False,
}
TEXTS = {
    "README.md": f"# Home\n\nWords.\n\n{INCLUDE % 'open'}\n",
    "mixed.md": f"# Mixed\n\n{INCLUDE % 'mixed'}\n",
    "values.md": "---\nvars:\n  edition: Gooseberry\n---\n\n# Values\n\n"
    'It is {{ space.vars.release }}, <code class="expression">page.vars.edition</code>.\n',
    "plan.md": '# Plan\n\nYours is <code class="expression">visitor.claims.plan</code>, and\n'
    f'<code class="expression">{CLAIM.replace("== true", "")} ? "Mulberry" : "Cranberry"</code>.\n',
    "much.md": "# Much\n\n" + f"{INCLUDE % 'much'}\n\n" * 6 + "Elderberry.\n",
    "plain.md": "# Plain\n\nAlone.\n",
    ".gitbook/vars.yaml": "release: Blackcurrant\n",
    ".gitbook/includes/open.md": f"The persimmon.\n\n{INCLUDE.replace('.gitbook/includes/', '') % 'inner'}\n",
    ".gitbook/includes/inner.md": "## Inner part\n\nThe kumquat.\n",
    ".gitbook/includes/mixed.md": f"The quince.\n\n{{% if {CLAIM} %}}\n\nThe rambutan.\n\n{{% endif %}}\n",
    ".gitbook/includes/much.md": "Tamarillo. " + "much " * 12_000 + "\n",
}


@pytest.fixture
def made(tmp_path: Path) -> Iterator[PublishedSiteMaker]:
    with open_published_site(tmp_path / "platform") as made:
        yield made


def add_space(made: PublishedSiteMaker, directory: Path) -> str:
    space = made.import_space(directory, TEXTS)
    made.world.made("updateSiteAdaptiveSchema", made.path, body={"jsonSchema": PLAN_SCHEMA})
    return space


def search(made: PublishedSiteMaker, words: str, token: str = "") -> list[str]:
    client = made.world.target.client
    client.cookies.clear()
    headers = {"Cookie": f"syncd-visitor={token}"} if token else {}
    answer = client.get(f"{made.base}/~syncd/search.json", params={"q": words}, headers=headers)
    assert answer.status_code == 200, answer.text
    return [row[0] for row in answer.json()]


def test_words_of_what_a_page_includes_are_found(made: PublishedSiteMaker, tmp_path: Path) -> None:
    space = add_space(made, tmp_path / "docs")
    assert search(made, "persimmon") == search(made, "kumquat") == search(made, "words persimmon kumquat") == ["Home"]
    [row] = made.world.target.client.get(f"{made.base}/~syncd/search.json?q=kumquat").json()
    assert row[1].endswith("#inner-part")
    assert row[4] == "kumquat"
    # One that includes more than anybody could read is found by its own words, and keeps no other from being found.
    assert search(made, "elderberry") == ["Much"]
    answer = made.world.made("searchSpaceContent", {"spaceId": space}, query={"query": "persimmon"})
    assert [one["title"] for one in answer["items"]] == ["Home"]


def test_included_words_for_others_are_not_found(made: PublishedSiteMaker, tmp_path: Path) -> None:
    add_space(made, tmp_path / "docs")
    staff = made.sign(isStaff=True)
    assert search(made, "quince") == search(made, "quince rambutan", staff) == ["Mixed"]
    assert search(made, "rambutan") == search(made, "quince rambutan") == search(made, "rambutan", made.sign()) == []


def test_values_of_variables_and_expressions_are_found(made: PublishedSiteMaker, tmp_path: Path) -> None:
    add_space(made, tmp_path / "docs")
    assert search(made, "blackcurrant") == search(made, "gooseberry") == search(made, "it blackc") == ["Values"]
    assert search(made, "release") == search(made, "edition") == []


def test_a_claim_that_stands_on_a_page_is_found_by_who_has_it(made: PublishedSiteMaker, tmp_path: Path) -> None:
    add_space(made, tmp_path / "docs")
    orchard = made.sign(plan="Orchard deluxe")
    assert search(made, "orchard", orchard) == search(made, "yours delu", orchard) == ["Plan"]
    assert search(made, "words orchard", orchard) == search(made, "orchard") == []
    assert search(made, "orchard", made.sign(plan="Other")) == []
    assert search(made, "mulberry", made.sign(isStaff=True)) == search(made, "cranberry") == ["Plan"]
    assert search(made, "mulberry") == search(made, "cranberry", made.sign(isStaff=True)) == []


def test_a_change_of_what_is_included_is_found_and_only_its_pages_are_indexed(
    made: PublishedSiteMaker, tmp_path: Path
) -> None:
    space = add_space(made, tmp_path / "docs")

    def list_rows() -> dict[str, int]:
        with made.world.storage.read() as connection:
            return {row.page: row.id for row in connection.execute(pages.select().where(pages.c.space == space))}

    assert search(made, "persimmon") == ["Home"]
    before = list_rows()
    (tmp_path / "docs/.gitbook/includes/open.md").write_text("The loquat.\n")
    import_directory(made.world.storage, tmp_path / "docs", space=space)
    assert search(made, "persimmon") == []
    assert search(made, "loquat") == ["Home"]
    after = list_rows()
    kept = {id for id in after if after[id] == before[id]}
    assert after.keys() == before.keys()
    assert kept == {made.world.made("getPageByPath", {"spaceId": space, "pagePath": "plain"})["id"]}


@pytest.mark.long
def test_words_far_behind_in_a_page_are_found(made: PublishedSiteMaker) -> None:
    text = "\n\n".join(["Many words stand here."] * 12_000 + ["## Far end", "More of them. " * 400 + "The pomelo."])
    assert len(text) > 250_000
    made.world.write(made.guides, [page("Long", text)])
    assert search(made, "pomelo") == search(made, "many pomelo") == ["Long"]
    [row] = made.world.target.client.get(f"{made.base}/~syncd/search.json?q=pomelo").json()
    assert (row[1], row[4]) == (f"{made.base}/long#far-end", "pomelo")


def test_an_answer_quotes_what_a_page_includes_and_the_values_that_it_shows(
    made: PublishedSiteMaker, tmp_path: Path
) -> None:
    space = add_space(made, tmp_path / "docs")
    settings = made.world.made("getSiteCustomizationById", made.path)
    made.world.made("updateSiteCustomizationById", made.path, body=settings | {"ai": {"mode": "search"}})

    def answer(question: str, token: str = "") -> str:
        client = made.world.target.client
        client.cookies.clear()
        headers = {"Cookie": f"syncd-visitor={token}"} if token else {}
        return client.get(f"{made.base}/~syncd/ask", params={"q": question}, headers=headers).text

    assert "The kumquat." in answer("Where is the kumquat?")
    assert "It is Blackcurrant, Gooseberry." in answer("What is the gooseberry?")
    assert "Elderberry." in answer("What is an elderberry?")
    for token in ("", made.sign(isStaff=True)):
        assert "The quince." in answer("Where is the quince?", token)
        assert "rambutan" not in answer("Where is the quince?", token)
        assert "The rambutan." not in answer("Where is the rambutan?", token)
    (tmp_path / "docs/.gitbook/includes/inner.md").write_text("## Inner part\n\nThe kumquat is ripe.\n")
    import_directory(made.world.storage, tmp_path / "docs", space=space)
    assert "The kumquat is ripe." in answer("Where is the kumquat?")
