"""Frontmatter that cannot be read closes a page where it speaks of who may read it."""

import pytest

from syncd.platform.revisions.metadata import NOBODY, apply_frontmatter

CLOSED = {
    "no YAML": "---\nif: visitor.claims.a\nx: [a\n---\n\n# Page\n",
    "a key twice": "---\nif: visitor.claims.a\nif: 'true'\n---\n\n# Page\n",
    "another kind": "---\nif: [a, b]\n---\n\n# Page\n",
    "not closed": "---\ntitle: Page\nhidden: true\n\n# Page\n",
    "not closed, with other line ends": "---\r\nnoIndex: true\r\n\r\n# Page\r\n",
    "not first": "\ufeff\n\n---\nif: visitor.claims.a\n---\n\n# Page\n",
}
OPEN = {
    "nothing said": "---\nx: [a\n---\n\n# Page\n",
    "not closed": "---\ntitle: Page\n\nif: only words\n",
    "a rule": "---\n\n# Page\n\nif: only words\n",
    "no condition": "---\nif:\n---\n\n# Page\n",
    "words": "# Page\n\nif: only words\n",
}


@pytest.mark.parametrize("text", CLOSED.values(), ids=CLOSED)
def test_a_page_whose_readers_cannot_be_read_is_for_nobody(text: str) -> None:
    assert apply_frontmatter({"title": "Page"}, text) == {"title": "Page", "condition": NOBODY}


@pytest.mark.parametrize("text", OPEN.values(), ids=OPEN)
def test_a_page_that_says_nothing_of_its_readers_stays_open(text: str) -> None:
    assert "condition" not in apply_frontmatter({"title": "Page"}, text)
