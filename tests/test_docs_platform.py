"""The page on the platform's API says what the platform serves: every group with its counts, every operation beyond."""

import re
from collections import defaultdict
from pathlib import Path

from syncd.platform.app import create_app
from syncd.platform.people.auth import EXTENSION_KEY, ROLE_KEY
from tests.storages import new_storage

PAGE = Path(__file__).parent.parent / "syncd" / "manual" / "reference" / "platform-api.md"


def test_the_page_on_the_platforms_api_has_every_group_and_every_operation_beyond_the_document(tmp_path: Path) -> None:
    told = PAGE.read_text(encoding="utf-8")
    with new_storage(tmp_path) as storage:
        paths = create_app(storage).openapi()["paths"]
    groups: dict[str, tuple[list[str], list[str]]] = defaultdict(lambda: ([], []))
    for operation in (operation for methods in paths.values() for operation in methods.values()):
        if ROLE_KEY in operation:
            groups[" and ".join(operation["tags"])][EXTENSION_KEY in operation].append(operation["operationId"])
    counted = {name: (len(within), len(beyond)) for name, (within, beyond) in groups.items()}
    rows = re.findall(r"^\| ([a-z -]+) \| (\d+) \| (\d+) \|$", told, re.MULTILINE)
    assert {name: (int(within), int(beyond)) for name, within, beyond in rows} == counted
    listed = dict(re.findall(r"^\| ([a-z -]+) \| (`.+`) \|$", told, re.MULTILINE))
    named = {name: sorted(re.findall(r"`(\w+)`", operations)) for name, operations in listed.items()}
    assert named == {name: sorted(beyond) for name, (_, beyond) in groups.items() if beyond}
    within, beyond = (sum(numbers) for numbers in zip(*counted.values(), strict=True))
    assert f"speaks the {within} operations of the public API document, and {beyond} beyond it" in told
