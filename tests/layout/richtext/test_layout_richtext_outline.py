"""What search sees of a page: words, headings with the platform's anchors, sections."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.richtext.outline import Section, split_sections
from syncd.layout.richtext.reading import to_document
from tests.growing import assert_linear

PAGE = """# Title

Intro with **bo**ld and [a link](x.md).

## 1. Set *up* & go

{% tabs %}
{% tab title="Node" %}
Tab text
{% endtab %}
{% endtabs %}

| Head | Other |
| ---- | ----- |
| cell | `code` |

##### Deep <a href="#own.id" id="own.id"></a>

<table><tr><td>In &amp; HTML</td></tr></table>

## Title

```js
let x = 1;
```

<figure><img src="a.png" alt="Alt"><figcaption><p>Caption</p></figcaption></figure>
"""


def read_words(markdown: str) -> str:
    return " ".join(f"{section.title} {section.body}" for section in split_sections(markdown)).strip()


def test_words_are_said_once_and_in_order() -> None:
    assert read_words(PAGE) == (
        "Title Intro with bold and a link. 1. Set up & go Node Tab text Head Other cell code Deep In & HTML Title"
        " let x = 1; Alt Caption"
    )
    assert read_words("") == read_words(" \n\n***\n") == ""


@pytest.mark.parametrize(
    "picture",
    [
        '![A sail](a.png "A sail")',
        'Look: ![A sail](a.png "A sail")',
        '<figure><img src="a.png" alt="A sail"><figcaption><p>A sail</p></figcaption></figure>',
    ],
)
def test_a_picture_says_its_words_once(picture: str) -> None:
    assert read_words(picture).removeprefix("Look: ") == "A sail"


def test_headings_have_the_anchors_of_the_platform() -> None:
    assert [(section.title, section.id) for section in split_sections(PAGE)] == [
        ("Title", "title"),
        ("1. Set up & go", "id-1.-set-up-and-go"),
        ("Deep", "own.id"),
        ("Title", "title-1"),
    ]
    shown = [node["meta"]["id"] for node in to_document(PAGE).nodes if node["type"].startswith("heading")]
    assert shown == [section.id for section in split_sections(PAGE)]


@pytest.mark.parametrize(
    ("title", "anchor"),
    [
        ("What's new?", "whats-new"),
        ("Über uns", "uber-uns"),
        ("`snake_case` v1.2+", "snake_case-v1.2+"),
        ("2 -- Two", "id-2-two"),
        ("Import / export", "import-export"),
        ("CI/CD", "ci-cd"),
        ("日本", "section"),
        ("", "section"),
    ],
)
def test_anchors_are_made_of_titles(title: str, anchor: str) -> None:
    assert [section.id for section in split_sections(f"## {title}")] == [anchor]


def test_no_two_headings_share_an_anchor() -> None:
    anchors = [section.id for section in split_sections("# a\n\n# a\n\n# a-1\n\n# a-1\n\n# a\n")]
    assert anchors == ["a", "a-1", "a-1-1", "a-1-2", "a-2"]


def test_sections_part_a_page_at_its_headings() -> None:
    first, *others = split_sections(f"Before\n\n{PAGE}")
    assert first == Section("", "", "", ("Before",))
    assert [section.path for section in others] == ["#title", "#id-1.-set-up-and-go", "#own.id", "#title-1"]
    assert others[0] == Section("title", "Title", "#title", ("Intro with bold and a link.",))
    assert others[2].body == "In & HTML"
    assert split_sections("") == ()


def test_each_cell_of_a_table_is_a_line_of_its_own() -> None:
    [section] = split_sections("| Field | Meaning |\n| --- | --- |\n| id | Names *it* |\n")
    assert section.lines[-2:] == ("id", "Names it")


@given(st.text("a b#\n*[](){%}<>`|-", max_size=80))
@settings(max_examples=50, deadline=None)
def test_each_section_has_an_anchor_of_its_own(text: str) -> None:
    anchors = [section.id for section in split_sections(text) if section.id]
    assert len({*anchors}) == len(anchors)


def test_words_of_a_long_page_cost_no_more_than_its_size() -> None:
    def read(size: int) -> None:
        assert read_words("<" * size + "[" * size)
        assert len(split_sections("# a\n\nb\n\n" * (size // 10))) == size // 10

    assert_linear(read, 1_250)
