"""Files in `conf.d/`: each adds repositories, and a mistake in one spoils no other."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from syncd.config import (
    ConfigFile,
    find_config,
    load_config,
    load_repositories,
    load_with_drop_ins,
    read_drop_in_stamp,
)
from syncd.errors import ConfigInvalid
from tests.config.test_config_finding import PLATFORM, written


def table(path: str, space: str = "s1") -> str:
    return f'[[repository]]\npath = "{path}"\n[[repository.space]]\nid = "{space}"\n'


@pytest.fixture
def environ(tmp_path: Path) -> Mapping[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration of `/srv/main`, with room for drop-ins."""
    (tmp_path / "conf.d").mkdir()
    return written(tmp_path / "config.toml", PLATFORM + table("/srv/main"))


def load_names(config: Path, environ: Mapping[str, str]) -> list[str]:
    return [repository.path.name for repository in load_config(ConfigFile(config), environ).repository]


def test_each_file_adds_repositories_in_the_order_of_names(config: Path, environ: Mapping[str, str]) -> None:
    written(config.parent / "conf.d" / "20-b.toml", table("/srv/b"))
    written(config.parent / "conf.d" / "10-a.toml", table("a") + table("/srv/c"))
    for name in (".10-a.toml.swp", ".hidden.toml", "10-a.toml~", "notes.txt"):
        written(config.parent / "conf.d" / name, "no configuration")
    assert load_names(config, environ) == ["main", "a", "c", "b"]
    repositories = load_repositories(ConfigFile(config), environ)
    assert repositories[1].path == config.parent / "conf.d" / "a"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[[repository]\n", "bad.toml:1:"),
        (table("/srv/b") + 'pth = "x"\n', "pth"),
        ("", "repository - is missing"),
        (PLATFORM + table("/srv/b"), "platform - belongs into"),
        (table("/srv/main"), "/srv/main is configured in"),
        (table("/srv/good"), "/srv/good is configured in"),
        (table("/srv/b") + table("/srv/./b", "s2"), "/srv/b is configured twice"),
        (table("/srv/b\\u0000"), "leads nowhere"),
        (table("../loop"), "leads nowhere"),
    ],
)
def test_a_mistake_spoils_its_own_file_alone(config: Path, environ: Mapping[str, str], text: str, what: str) -> None:
    written(config.parent / "conf.d" / "a-good.toml", table("/srv/good"))
    (config.parent / "loop").symlink_to("loop")
    bad = written(config.parent / "conf.d" / "bad.toml", text)
    whole, (broken,) = load_with_drop_ins(ConfigFile(config), environ)
    assert [repository.path.name for repository in whole.repository] == ["main", "good"]
    assert broken.path == bad
    assert str(bad) in str(broken.error)
    assert what in str(broken.error)


def test_the_main_file_needs_no_repository_where_drop_ins_have_some(config: Path, environ: Mapping[str, str]) -> None:
    config.write_text(PLATFORM)
    with pytest.raises(ConfigInvalid, match="repository - is missing"):
        load_config(ConfigFile(config), environ)
    bad = written(config.parent / "conf.d" / "bad.toml", "[")
    with pytest.raises(ConfigInvalid, match=str(bad)):
        load_config(ConfigFile(config), environ)
    written(config.parent / "conf.d" / "a.toml", table("/srv/a"))
    assert load_names(config, environ) == ["a"]


def test_the_user_s_own_file_is_found_by_what_its_drop_ins_name(tmp_path: Path, environ: Mapping[str, str]) -> None:
    own = written(tmp_path / "home" / ".config" / "syncd" / "config.toml", PLATFORM)
    written(own.parent / "conf.d" / "docs.toml", table(str(tmp_path / "docs")))
    (tmp_path / "docs").mkdir()
    assert find_config(environ) == ConfigFile(own)
    assert find_config(environ, git_dir=tmp_path / "docs" / ".git", top=tmp_path / "docs") == ConfigFile(own)


def test_no_other_file_has_drop_ins(config: Path, environ: Mapping[str, str]) -> None:
    written(config.parent / "conf.d" / "a.toml", table("/srv/a"))
    assert load_names(config.rename(config.with_name("other.toml")), environ) == ["main"]


def test_the_stamp_changes_with_every_file(config: Path) -> None:
    seen = {read_drop_in_stamp(config)}
    file = written(config.parent / "conf.d" / "a.toml", table("/srv/a"))
    seen.add(read_drop_in_stamp(config))
    file.write_text(table("/srv/other"))
    seen.add(read_drop_in_stamp(config))
    assert len(seen) == 3
    file.unlink()
    assert read_drop_in_stamp(config) in seen
