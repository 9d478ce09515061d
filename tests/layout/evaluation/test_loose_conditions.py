"""A condition that is no block hides what stands behind it from every reader."""

import pytest

from syncd.layout.evaluation import Variables, evaluate_nodes
from syncd.layout.evaluation.visible import list_hidden_parts
from syncd.layout.richtext.reading import to_document
from syncd.layout.richtext.writing import to_markdown

IF = "{% if visitor.claims.isStaff %}"
READER = Variables({}, {"isStaff": True})
LOOSE = {
    "no end": f"Open.\n\n{IF}\nSECRET\n\n* SECRET\n",
    "no end of the outer one": f"Open.\n\n{IF}\n{IF}\nSECRET\n{{% endif %}}\n\nSECRET\n",
    "an end behind the block": f'Open.\n\n{{% hint style="info" %}}\n{IF}\nSECRET\n{{% endhint %}}\n{{% endif %}}\n',
    "in a line": f"Open. {IF}SECRET *SECRET* ![SECRET](SECRET.png){{% endif %}} Open.\n",
    "in a line, without an end": f"Open. {IF}SECRET **SECRET**\n\nOpen.\n",
    "at the start of a line": "Open.\n\n{%- if visitor.claims.isStaff -%}\nSECRET\n\nSECRET\n",
    "in a heading": f"Open.\n\n## {IF}SECRET{{% endif %}}\n",
    "in a cell": f"Open.\n\n| a |\n|---|\n| {IF}SECRET{{% endif %}} |\n",
    "in a cell of HTML": f"Open.\n\n<table><thead><tr><th>a</th></tr></thead><tbody><tr><td>{IF}SECRET{{% endif %}}"
    "</td></tr></tbody></table>\n",
    "in HTML": f"Open.\n\n<div>{IF}SECRET{{% endif %}}</div>\n\nOpen.\n",
    "in HTML, without an end": f"Open.\n\n<div>{IF}SECRET</div>\n\nSECRET\n",
    "in an item": f"Open.\n\n* Open.\n* {IF} SECRET\n  SECRET\n* SECRET\n",
}

ELSE = {
    "a block": f"{IF}\nOpen.\n\n{{% else %}}\nSECRET\n\n* SECRET\n{{% endif %}}\n\nOpen.\n",
    "another condition": f"{IF}\nOpen.\n{{% elif visitor.claims.isBeta %}}\nSECRET\n{{% else %}}\nSECRET\n"
    "{% endif %}\nOpen.\n",
    "in an item": f"{IF}\n\n* Open.\n  {{% else %}}\n* SECRET\n\nSECRET\n\n{{% endif %}}\n\nOpen.\n",
    "in a line": f"{IF}\nOpen. {{% else %}} SECRET\n\nSECRET\n\n{{% endif %}}\n\nOpen.\n",
    "at the start of a line": f"{IF}\nOpen.\n\n{{%- else -%}} SECRET\n\nSECRET\n\n{{% endif %}}\n\nOpen.\n",
    "in HTML": f"{IF}\nOpen.\n\n<div>{{% else %}}SECRET</div>\n\nSECRET\n\n{{% endif %}}\n\nOpen.\n",
    "in a condition of a line": f"Open. {IF}SECRET{{% else %}}SECRET{{% endif %}} Open.\n",
    "in a block within": f'{IF}\n{{% hint style="info" %}}\nOpen.\n\n{{% else %}}\nSECRET\n'
    "{% endhint %}\n\nSECRET\n{% endif %}\n\nOpen.\n",
}


def show_text(text: str, variables: Variables) -> str:
    """Given Markdown, return what a reader sees of it."""
    document = to_document(text)
    shown = tuple(evaluate_nodes(list(document.nodes), variables))
    return to_markdown(document.model_copy(update={"nodes": shown}))


@pytest.mark.parametrize("text", LOOSE.values(), ids=LOOSE)
def test_nobody_sees_what_stands_behind_it(text: str) -> None:
    for claims in ({}, {"isStaff": True}):
        seen = show_text(text, Variables({}, claims))
        assert "SECRET" not in seen
        assert seen.count("Open.") == text.count("Open.")
    assert "visitor.claims.isStaff" in list_hidden_parts(list(to_document(text).nodes), READER)


@pytest.mark.parametrize("text", ELSE.values(), ids=ELSE)
def test_nobody_sees_what_stands_behind_else(text: str) -> None:
    seen = show_text(text, READER)
    assert "SECRET" not in seen
    assert seen.count("Open.") == text.count("Open.")
    assert "SECRET" not in show_text(text, Variables({}, {}))
    assert "SECRET" in show_text(text, Variables({}))


def test_a_lone_else_hides_nothing() -> None:
    for text in ("Open.\n\n{% else %}\n\nOpen.\n", "Open. {% else %} Open.\n", "<div>{% else %}Open.</div>\n"):
        assert show_text(text, READER) == text


@pytest.mark.parametrize(
    "text",
    [
        f"Use `{IF}` and `{{% endif %}}`.\n",
        f"```\n{IF}\n```\n\nOpen.\n",
        f"    {IF}\n\nOpen.\n",
        "The tag {% hint %} is another one.\n",
    ],
)
def test_code_and_other_tags_hide_nothing(text: str) -> None:
    assert show_text(text, READER) == show_text(text, Variables({}))


def test_whoever_writes_sees_all() -> None:
    text = LOOSE["in a line"]
    assert "SECRET" in show_text(text, Variables({}))
