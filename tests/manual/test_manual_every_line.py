"""Every line of every shell block of the manual is typed by a test, or a table says why not."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.manual.not_typed import NOT_TYPED, TYPED_ELSEWHERE
from tests.manual.place import list_lines, list_played, read_page, read_part
from tests.service.manual import MANUAL

HERE = Path(__file__).parent
PAGES = sorted(path.relative_to(MANUAL).as_posix() for path in MANUAL.rglob("*.md"))
FENCE = re.compile(r"^ *(?:```|~~~)(?:sh|shell|bash|console|zsh|fish)\b", re.MULTILINE)


def list_typed() -> Iterator[tuple[str, str]]:
    """The lines that the tests of this directory say they type; a fixture holds each to its word."""
    for path in sorted(HERE.glob("test_*.py")):
        spec = importlib.util.spec_from_file_location(f"played_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        if path != Path(__file__):
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
            for name, test in vars(module).items():
                if name.startswith("test_"):
                    yield from list_played(test)


@pytest.fixture(scope="module")
def typed() -> set[tuple[str, str]]:
    """Each line that a test types, with its page."""
    return {*list_typed()} | {
        (page, line) for page, title in TYPED_ELSEWHERE for line in list_lines(read_part(page, title))
    }


@pytest.mark.parametrize("page", PAGES)
def test_every_line_is_typed_or_its_reason_is_told(page: str, typed: set[tuple[str, str]]) -> None:
    reasons = NOT_TYPED.get(page, {})
    lines = list_lines(read_page(page))
    assert not [line for line in lines if (page, line) not in typed and line not in reasons]
    assert set(reasons) <= set(lines), "a reason for a line that the page has no more"


@pytest.mark.parametrize("page", PAGES)
def test_every_shell_block_is_read(page: str) -> None:
    text = read_page(page)
    assert len(FENCE.findall(text)) == len(re.findall(r"^ *```(?:sh|console)\n", text, re.MULTILINE))


@pytest.mark.parametrize(("page", "title"), TYPED_ELSEWHERE)
def test_the_test_that_types_a_section_reads_it_from_the_manual(page: str, title: str) -> None:
    text = (HERE.parent / TYPED_ELSEWHERE[page, title]).read_text(encoding="utf-8")
    assert re.search(rf'(?:find_commands|find_blocks|type_section)\((?:\w+, |"{page}", )?"{re.escape(title)}"', text)
