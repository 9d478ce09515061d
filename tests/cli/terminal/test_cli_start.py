"""`syncd` without a command: how things stand here, or how to begin."""

from typing import Any


def test_in_a_clone_it_is_the_status(shell: Any) -> None:
    docs = shell.clone()
    assert shell.fine(cwd=docs) == shell.fine("status", cwd=docs)


def test_its_exit_code_is_that_of_the_status(shell: Any) -> None:
    docs = shell.clone()
    shell.token.write_text("refused")
    assert shell.syncd("pull", cwd=docs).returncode == 77
    done = shell.syncd(cwd=docs)
    assert done.returncode == 77
    assert done.stdout.endswith("Next: syncd doctor\n")


def test_where_nothing_is_set_up_it_says_how_to_begin(shell: Any) -> None:
    outside = shell.fine()
    assert outside.startswith("No configuration applies here, and this is no Git repository.\n")
    assert "syncd demo" in outside
    assert "syncd init" not in outside
    shell.git("init", "--quiet", cwd=shell.root)
    inside = shell.fine()
    assert inside.startswith("No configuration applies in this repository.\n  syncd init   ")
    assert max(map(len, inside.splitlines())) <= 80


def test_a_wrong_option_is_still_a_mistake(shell: Any) -> None:
    done = shell.syncd("--nothing")
    assert (done.returncode, done.stdout) == (64, "")
    assert "syncd --help" in done.stderr
