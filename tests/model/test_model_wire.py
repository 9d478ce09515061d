"""Shapes give back what they were given: unknown members and values survive, and a patch has three states."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from pydantic.alias_generators import to_camel

from syncd.model.base import Observed
from syncd.model.change_request import ChangeRequest, ChangeRequestCreate, ChangeRequestUpdate
from syncd.model.content_write import FILES_MAX, OPERATIONS_MAX, ContentWrite, DeletePage, InsertFiles, NewFile
from syncd.model.file import File
from syncd.model.listing import Listing
from syncd.model.organization import Organization
from syncd.model.redirect import SiteRedirect
from syncd.model.revision import Revision
from syncd.model.site import Site, SiteSection, SiteSpace
from syncd.model.space import Space, SpaceUpdate
from syncd.model.user import User

GIT = {"oid": "a" * 40, "path": "guide/README.md"}
PAGE: dict[str, Any] = {"id": "p", "title": "T", "type": "document", "slug": "t", "git": GIT, "pages": []}
SAMPLES: dict[type[Observed], dict[str, Any]] = {
    Space: {
        "object": "space",
        "id": "s",
        "title": "T",
        "visibility": "public",
        "editMode": "live",
        "gitSync": {"url": "u"},
    },
    Organization: {
        "object": "organization",
        "id": "o",
        "title": "T",
        "emailDomains": ["a.example"],
        "defaultRole": None,
    },
    User: {"object": "user", "id": "u", "displayName": "N", "photoURL": "https://p.example"},
    Revision: {
        "object": "revision",
        "id": "r",
        "parents": ["q"],
        "pages": [{**PAGE, "pages": [{**PAGE, "type": "link", "target": {"kind": "url", "url": "u"}}]}],
        "files": [
            {"id": "f", "name": "a.png", "downloadURL": "https://d.example", "dimensions": {"width": 1, "height": 2}}
        ],
        "reusableContents": [{"id": "b", "title": "T", "git": GIT}],
        "variables": {"text": "1", "yes": True, "one": 1, "half": 0.5},
        "tags": [{"slug": "t", "label": "T"}],
        "git": {"oid": "b" * 40, "message": "m", "createdByService": True},
        "type": "edits",
    },
    File: {"id": "f", "name": "a.png", "contentType": "image/png", "size": 3},
    ChangeRequest: {"object": "change-request", "id": "c", "number": 7, "status": "open", "outdated": True},
    Site: {"object": "site", "id": "x", "title": "T", "visibility": "public", "siteSpaces": 2},
    SiteSection: {
        "object": "site-section",
        "id": "n",
        "title": "T",
        "path": "t",
        "siteSpaces": [{"object": "site-space", "id": "v", "path": "p"}],
    },
    SiteSpace: {"object": "site-space", "id": "v", "path": "p", "space": {"object": "space", "id": "s"}},
    SiteRedirect: {"object": "site-redirect", "id": "d", "source": "/a", "destination": {"kind": "tomorrow", "x": [1]}},
}
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
extra_names = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=10).map(lambda name: f"x{name}")
extras = st.dictionaries(extra_names, json_values, max_size=4)


@given(st.sampled_from(list(SAMPLES)), extras)
@settings(deadline=None, max_examples=100)
def test_what_came_in_goes_out_again(shape: type[Observed], more: dict[str, Any]) -> None:
    received = {**SAMPLES[shape], **more}
    assert shape.model_validate(received).wire() == received


@given(extras, extras)
@settings(deadline=None, max_examples=50)
def test_unknown_members_survive_at_any_depth(page: dict[str, Any], git: dict[str, Any]) -> None:
    received = {
        "object": "revision",
        "id": "r",
        "pages": [{**PAGE, "pages": [{**PAGE, **page, "git": {**GIT, **git}}]}],
    }
    assert Revision.model_validate(received).wire() == received


@pytest.mark.parametrize(
    ("shape", "member"),
    [
        (Space, "visibility"),
        (Space, "editMode"),
        (Space, "defaultLevel"),
        (Organization, "type"),
        (Organization, "plan"),
        (ChangeRequest, "status"),
        (Site, "type"),
        (Site, "visibility"),
        (Revision, "type"),
    ],
)
def test_a_value_of_tomorrow_is_kept(shape: type[Observed], member: str) -> None:
    received = {**SAMPLES[shape], member: "tomorrow"}
    assert shape.model_validate(received).wire()[member] == "tomorrow"


def test_a_page_type_of_tomorrow_is_kept() -> None:
    received = {"object": "revision", "id": "r", "pages": [{**PAGE, "type": "tomorrow"}]}
    assert Revision.model_validate(received).pages[0].type == "tomorrow"


def test_a_change_request_of_an_unknown_status_takes_no_content() -> None:
    states = {"draft": True, "open": True, "merged": False, "archived": False, "tomorrow": False}
    for status, live in states.items():
        assert ChangeRequest(id="c", number=1, status=status).is_live is live


def test_a_patch_tells_unset_from_null_from_value() -> None:
    assert SpaceUpdate().wire() == {}
    assert SpaceUpdate(emoji=None).wire() == {"emoji": None}
    assert SpaceUpdate(emoji="1f600", default_level="read").wire() == {"emoji": "1f600", "defaultLevel": "read"}
    assert ChangeRequestUpdate(description=None).wire() == {"description": None}


_PATCH = {"edit_mode": "locked", "title": "T", "default_level": None, "language": "fr", "emoji": None, "icon": None}


@given(st.sets(st.sampled_from(sorted(_PATCH))))
@settings(deadline=None, max_examples=50)
def test_a_patch_holds_exactly_what_was_set(names: set[str]) -> None:
    sent = SpaceUpdate.model_validate({name: _PATCH[name] for name in names}).wire()
    assert sent == {to_camel(name): _PATCH[name] for name in names}


def test_what_is_sent_knows_its_members() -> None:
    with pytest.raises(ValidationError):
        SpaceUpdate.model_validate({"titel": "T"})


def test_a_subject_is_at_most_a_hundred_characters() -> None:
    assert ChangeRequestCreate(subject="x" * 100)
    with pytest.raises(ValidationError):
        ChangeRequestCreate(subject="x" * 101)


def test_a_content_write_keeps_to_the_limits_of_the_platform() -> None:
    change, upload = DeletePage(page="p"), NewFile(name="a", base64="", content_type="text/plain")
    assert ContentWrite(changes=(change,) * OPERATIONS_MAX)
    assert InsertFiles(files=(upload,) * FILES_MAX)
    for too_many in (0, OPERATIONS_MAX + 1):
        with pytest.raises(ValidationError):
            ContentWrite(changes=(change,) * too_many)
    for too_many in (0, FILES_MAX + 1):
        with pytest.raises(ValidationError):
            InsertFiles(files=(upload,) * too_many)


def test_amending_sets_a_field_and_keeps_the_rest() -> None:
    space = Space.model_validate({"object": "space", "id": "s", "tomorrow": 1})
    assert space.amend(title="T").wire() == {"object": "space", "id": "s", "tomorrow": 1, "title": "T"}
    assert "title" not in space.wire()


def test_shapes_do_not_change() -> None:
    space = Space(id="s")
    with pytest.raises(ValidationError):
        space.title = "T"  # type: ignore[misc]


def test_a_list_says_where_its_next_page_starts() -> None:
    listing = Listing[Space].model_validate_json(b'{"items": [{"id": "s"}], "next": {"page": "2"}, "count": 9}')
    assert listing.next is not None
    assert (listing.items[0].id, listing.next.page, listing.count) == ("s", "2", 9)


def test_the_last_page_of_a_list_has_no_next() -> None:
    listing = Listing[Space].model_validate({"items": [], "previous": {"page": "0"}})
    assert (listing.items, listing.next, listing.count) == ((), None, None)
    assert listing.wire() == {"items": [], "previous": {"page": "0"}}


def test_an_envelope_without_items_is_no_list() -> None:
    with pytest.raises(ValidationError):
        Listing[Space].model_validate({"next": {"page": "2"}})
