"""Whatever httpcore raises leaves an exchange as an error of this program."""

import httpcore
import pytest

from syncd.net.connection import translate_failures
from syncd.net.failures import NetworkError

ERRORS = [kind for kind in vars(httpcore).values() if isinstance(kind, type) and issubclass(kind, Exception)]


@pytest.mark.parametrize("kind", ERRORS, ids=lambda kind: kind.__name__)
def test_each_error_of_the_library_is_translated(kind: type[Exception]) -> None:
    with pytest.raises(NetworkError) as caught, translate_failures():
        raise kind("it names https://host.example/secret")
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_the_errors_are_found() -> None:
    assert {httpcore.ReadTimeout, httpcore.ConnectionNotAvailable, httpcore.RemoteProtocolError} <= set(ERRORS)
