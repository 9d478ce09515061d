"""Comments carry a proposal that cannot be written, whatever its texts hold."""

from hypothesis import given, settings
from hypothesis import strategies as st

from syncd.layout.compare.lost_words import LostLine
from syncd.model.anchor import Anchor
from syncd.model.page import Page
from syncd.model.revision import Revision
from syncd.plan.change import Change, Plan
from syncd.plan.propose.alignment import ExistingSide
from syncd.plan.propose.comments import (
    COMMENT_CHARACTERS_MAX,
    NO_CONTENT,
    PAGE_COMMENTS_MAX,
    build_comments,
    build_loss_mark,
    format_code,
    name_pages,
    read_mark,
    render_loss_comment,
)
from syncd.plan.propose.proposal import ContentPlan
from syncd.plan.propose.steps import ROOT, AddFile, DeleteStep, InsertStep, Step, UpdateStep

INSTANCE = "0a1b2c"


def wanted(*steps: Step, text: str = "", reports: tuple[Change, ...] = ()) -> list[tuple[str | None, str]]:
    proposal = ContentPlan(steps, Plan.of(reports))
    found = build_comments(
        proposal,
        read=lambda _: text,
        paths={"p1": "guide/setup.md"},
        instance=INSTANCE,
        source="abc:docs/",
        why=NO_CONTENT,
    )
    for one in found:
        mark = read_mark(one.text, INSTANCE)
        assert mark is not None
        assert (mark.key, mark.part, mark.digest) == (one.key, one.part, one.digest)
        assert read_mark(one.text, "ffffff") is None
        assert len(one.text) < 50_000
    return [(one.page, one.text) for one in found]


@given(st.text(alphabet=st.sampled_from("`~ab\n \t"), max_size=80))
@settings(max_examples=50, deadline=None)
def test_a_text_comes_out_of_its_comment_as_it_went_in(text: str) -> None:
    ((page, said),) = wanted(UpdateStep("p1", "guide/setup.md", oid="o"), text=text or "a")
    assert page == "p1"
    fence = said.splitlines()[2].removesuffix("markdown")
    inner = said.partition("markdown\n")[2].rpartition(f"\n{fence}\n\nsyncd proposal")[0]
    assert inner == (text or "a").removesuffix("\n")
    assert f"\n{fence}\n" not in f"\n{inner}\n"


def test_a_long_text_is_parted_at_line_ends_and_a_longer_one_is_named() -> None:
    step = UpdateStep("p1", "guide/setup.md", oid="o")
    line = "many words here\n"
    assert len(wanted(step, text=line * (COMMENT_CHARACTERS_MAX // len(line) + 1))) == 2
    ((_, said),) = wanted(step, text="x" * COMMENT_CHARACTERS_MAX * (PAGE_COMMENTS_MAX + 1))
    assert "`git show abc:docs/guide/setup.md`" in said


def test_all_that_is_no_text_of_a_page_is_one_list() -> None:
    reports = (Change("report", "group", "G", "group 'G' has to be created on the platform by hand"),)
    steps = (
        AddFile("a.png", "o"),
        InsertStep("new.md", "o", "New `one`", "new", "p1", 0),
        UpdateStep("p1", "guide/setup.md", title="Install", slug="new", into=ROOT, at=2),
        DeleteStep("p2", "old.md", ("old/one.md",)),
    )
    (orders, text) = wanted(*steps, text="# New\n", reports=reports)
    assert orders[0] is None
    assert text[0] is None
    assert orders[1].splitlines()[2:7] == [
        "1. Upload the file `a.png`.",
        "2. Add the page `` New `one` `` below `guide/setup.md`, as number 1; "
        "its text is in the comment about `new.md`.",
        "3. Page `guide/setup.md`: call it `Install`, give it the slug `new`, move it at the top level, as number 3.",
        "4. Delete the page `old.md`, with 1 pages below it.",
        "5. group 'G' has to be created on the platform by hand",
    ]


def test_a_page_is_called_by_what_a_person_finds_on_the_platform() -> None:
    pages = (
        Page(id="home", title="Home", path="home"),
        Page(id="group", title="A group", type="group"),
        Page(id="guide", title="Guide", path="guide", pages=(Page(id="setup", title="Setup", path="guide/setup"),)),
        Page(id="moved", title="Moved in Git", path="moved"),
    )
    files = {"home": "README.md", "guide": "guide/README.md", "setup": "guide/setup.md", "moved": "guide/moved.md"}
    anchors = {id: Anchor(id, "page", path, path, "git:0", "0") for id, path in files.items()}
    assert name_pages(ExistingSide(Revision(id="r", pages=pages), anchors)) == {
        "home": "README.md",
        "group": "A group",
        "guide": "guide/README.md",
        "setup": "guide/setup.md",
        "moved": "moved",
    }
    home = (Page(id="home", title="Home", path=""),)
    anchors = {"home": Anchor("home", "page", "content/README.md", "README.md", "git:0", "0")}
    assert name_pages(ExistingSide(Revision(id="r", pages=home), anchors)) == {"home": "README.md"}, "below a root"


def test_pages_that_exchange_slugs_are_said_to_get_those_that_they_have_in_the_end() -> None:
    ((_, text),) = wanted(
        UpdateStep("1", "one.md", slug="two-moving"),
        UpdateStep("2", "two.md", slug="one"),
        UpdateStep("1", "one.md", slug="two", later=True),
    )
    assert "Page `one.md`: give it the slug `two`." in text
    assert "Page `two.md`: give it the slug `one`." in text
    assert "moving" not in text


def test_the_same_losses_have_the_same_mark_wherever_they_stand() -> None:
    one, other = (LostLine(3, ("<a>", "b")),), (LostLine(7, ("<a>",)), LostLine(8, ("b",)))
    assert build_loss_mark("p1", one) == build_loss_mark("p1", other) != build_loss_mark("p2", one)
    assert render_loss_comment("p1", "a.md", one).endswith(build_loss_mark("p1", one))
    assert "* line 3: `<a> b`" in render_loss_comment("p1", "a.md", one)


def test_code_holds_any_text() -> None:
    assert [format_code(text) for text in ("a", "`", "a``b", " a")] == ["`a`", "`` ` ``", "```a``b```", "`  a `"]
