"""Two repositories that a service keeps in step."""

import pytest

from tests.cli.conftest import Shell
from tests.cli.service.service import Two


@pytest.fixture
def two(shell: Shell) -> Two:
    return Two(shell)
