"""Files of a revision: as which media type they are sent."""

import pytest

from syncd.platform.revisions.files import choose_served_type


@pytest.mark.parametrize(
    "given",
    [
        *("text/javascript", "application/javascript", "Text/JavaScript; charset=utf-8", "application/x-javascript"),
        *("text/javascript1.5", "application/ecmascript", "text/x-ecmascript", "text/jscript", "text/livescript"),
        "text/css",
    ],
)
def test_no_file_is_sent_as_what_a_page_runs(given: str) -> None:
    assert choose_served_type(given) == "text/plain"


@pytest.mark.parametrize("given", ["image/svg+xml", "text/html", "application/json", "text/plain", "font/woff2"])
def test_other_types_stay(given: str) -> None:
    assert choose_served_type(given) == given
