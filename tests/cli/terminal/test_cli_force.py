"""`--force`: the number of a scope is read, and what is no number is a mistake in one sentence."""

import pytest
import typer

from syncd.cli.sites.session import parse_gate_force
from syncd.cli.terminal.context import parse_force
from syncd.plan.site.steps import SitePlan

NO_NUMBERS = ["", "x", "-1", "1.5", "²", "1" * 5000]


def test_a_number_is_read_by_its_scope() -> None:
    assert parse_force(["delete.docs=12", "open.docs=3"]) == {"delete.docs": 12, "open.docs": 3}


@pytest.mark.parametrize("number", NO_NUMBERS)
def test_what_is_no_number_is_refused(number: str) -> None:
    with pytest.raises(typer.BadParameter, match="write SCOPE=NUMBER"):
        parse_force([f"delete.docs={number}"])
    with pytest.raises(typer.BadParameter, match="write CLASS or CLASS=NUMBER"):
        parse_gate_force([f"structure.delete={number}"], SitePlan("site"))


def test_a_scope_without_a_number_is_refused() -> None:
    with pytest.raises(typer.BadParameter, match="write SCOPE=NUMBER"):
        parse_force(["delete.docs"])
