"""The operator's file: the example loads, every mistake is named by its key, and nothing is guessed."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from syncd.config import Config, PlatformConfig, find, inside, load, parse, token
from syncd.errors import ConfigInvalid

EXAMPLE = Path(__file__).parent.parent / "config.example.toml"
PLATFORM = '[platform]\nurl = "https://api.example.com"\n'
REPOSITORY = "[[repository]]\n"
SPACE = '[[repository.space]]\nid = "s1"\ndirectory = "a"\nname = "a"\n'
WHOLE = PLATFORM + REPOSITORY + SPACE


def written(path: Path, text: str = WHOLE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def second(**keys: str) -> str:
    """A second space, with these keys."""
    lines = {"id": "s2", "directory": "b", "name": "b"} | keys
    return "[[repository.space]]\n" + "".join(f'{key} = "{value}"\n' for key, value in lines.items())


def test_the_example_loads_and_names_two_spaces() -> None:
    config = load(EXAMPLE)
    assert config.platform.url == "https://api.gitbook.com"
    assert [space.directory for space in config.repository[0].space] == ["guides", "reference"]


def test_the_example_shows_the_defaults() -> None:
    shown = parse(tomllib.loads(EXAMPLE.read_text(encoding="utf-8")), at=EXAMPLE)
    plain = parse(tomllib.loads(WHOLE + "[repository.site]\n[repository.upstream]\n"), at=Path("x"))
    mine, usual = shown.repository[0], plain.repository[0]
    assert shown.platform.insecure == plain.platform.insecure
    own: dict[str, Any] = {"space": True, "upstream": {"url", "token_file", "ssh_key_file", "known_hosts_file"}}
    assert mine.model_dump(exclude=own) == usual.model_dump(exclude=own)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("", "platform"),
        (PLATFORM, "repository"),
        (REPOSITORY + SPACE, "platform"),
        (PLATFORM + REPOSITORY, "repository.0"),
        (PLATFORM + "repository = []\n", "repository"),
        ("[platform]\n" + REPOSITORY + SPACE, "platform.url"),
        (PLATFORM + "url2 = 1\n" + REPOSITORY + SPACE, "platform.url2"),
        (PLATFORM + 'insecure = "perhaps"\n' + REPOSITORY + SPACE, "platform.insecure"),
        (PLATFORM + "token_file = 1\n" + REPOSITORY + SPACE, "platform.token_file"),
        (PLATFORM + REPOSITORY + 'brnaches = ["main"]\n' + SPACE, "repository.0.brnaches"),
        (PLATFORM + REPOSITORY + "branches = []\n" + SPACE, "repository.0.branches"),
        (PLATFORM + REPOSITORY + 'branches = "main"\n' + SPACE, "repository.0.branches"),
        (PLATFORM + REPOSITORY + 'remote = "Up/stream"\n' + SPACE, "repository.0.remote"),
        (PLATFORM + REPOSITORY + 'instance = "abc"\n' + SPACE, "repository.0.instance"),
        (PLATFORM + REPOSITORY + 'instance = "ABCDEF"\n' + SPACE, "repository.0.instance"),
        (PLATFORM + REPOSITORY + "interval = 0\n" + SPACE, "repository.0.interval"),
        (PLATFORM + REPOSITORY + "interval = 86401\n" + SPACE, "repository.0.interval"),
        (PLATFORM + REPOSITORY + "propose = 7\n" + SPACE, "repository.0.propose"),
        (PLATFORM + REPOSITORY + "space = []\n", "repository.0"),
        (WHOLE + second(id=""), "repository.0.space.1.id"),
        (WHOLE + second(id="a/b"), "repository.0.space.1.id"),
        (WHOLE + second(id="x" * 129), "repository.0.space.1.id"),
        (WHOLE + second(name=""), "repository.0.space.1.name"),
        (WHOLE + second(name="A b"), "repository.0.space.1.name"),
        (WHOLE + second(name="../up"), "repository.0.space.1.name"),
        (WHOLE + second(directory="/etc"), "repository.0.space.1.directory"),
        (WHOLE + second(directory="../b"), "repository.0.space.1.directory"),
        (WHOLE + second(directory="b/../../c"), "repository.0.space.1.directory"),
        (WHOLE + second(directory=".git/hooks"), "repository.0.space.1.directory"),
        (WHOLE + second(directory="b/.GIT"), "repository.0.space.1.directory"),
        (WHOLE + second(colour="red"), "repository.0.space.1.colour"),
        (WHOLE + "[repository.site]\nfil = 'x'\n", "repository.0.site.fil"),
        (WHOLE + "[repository.upstream]\npush = 'force'\n", "repository.0.upstream.push"),
        (WHOLE + "[repository.upstream]\nside = 'syncd'\n", "repository.0.upstream.side"),
        (WHOLE + "[repository.upstream]\nside = '{branch}'\n", "repository.0.upstream.side"),
        (WHOLE + "[repository.upstream]\nside = '-{branch}'\n", "repository.0.upstream.side"),
        (WHOLE + "[repository.upstream]\nside = '{branch}/{x}'\n", "repository.0.upstream.side"),
        (WHOLE + "[repository.upstream]\nremote = 'platform'\n", "repository.0"),
        (WHOLE + "[repository.upstream]\ntoken = 'hunter2'\n", "repository.0.upstream.token"),
        (WHOLE + "[repository.site]\nfile = 1\n", "repository.0.site.file"),
        (WHOLE + "[repository.site]\napply = 'later'\n", "repository.0.site.apply"),
    ],
)
def test_each_mistake_is_named_by_its_key(tmp_path: Path, text: str, key: str) -> None:
    path = written(tmp_path / "config.toml", text)
    with pytest.raises(ConfigInvalid) as caught:
        load(path)
    assert f"{key} - " in caught.value.what
    assert str(path) in caught.value.what
    assert caught.value.exit_code == 78


def test_all_mistakes_are_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(written(tmp_path / "c.toml", "[platform]\n" + REPOSITORY + "interval = 0\n" + second(id="?")))
    for key in ("platform.url - ", "repository.0.interval - ", "repository.0.space.0.id - "):
        assert key in caught.value.what


def test_an_unknown_key_is_answered_with_the_one_that_was_meant_and_with_nothing_that_follows_from_it(
    tmp_path: Path,
) -> None:
    with pytest.raises(ConfigInvalid) as caught:
        load(written(tmp_path / "c.toml", WHOLE + "[repository.site]\nfiel = 'x'\n"))
    assert caught.value.what.endswith("c.toml: repository.0.site.fiel - there is no such key; did you mean file?")
    assert caught.value.hint.endswith("syncd schema config")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a", "a"),
        ("a", "a/b"),
        ("a/b", "a"),
        ("a", "./a/"),
        ("a", "a//b"),
        (".", "a"),
        ("a", "."),
        ("", "a"),
        (".", "."),
    ],
)
def test_directories_that_lie_in_each_other_are_refused(tmp_path: Path, one: str, other: str) -> None:
    spaces = second(id="s1", directory=one, name="a") + second(directory=other)
    with pytest.raises(ConfigInvalid, match="the directories of a and b lie in each other"):
        load(written(tmp_path / "c.toml", PLATFORM + REPOSITORY + spaces))


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("a", "ab"), ("a/b", "a/c"), ("a-b", "a")])
def test_directories_beside_each_other_are_accepted(tmp_path: Path, one: str, other: str) -> None:
    spaces = second(id="s1", directory=one, name="a") + second(directory=other)
    config = load(written(tmp_path / "c.toml", PLATFORM + REPOSITORY + spaces))
    assert [space.directory for space in config.repository[0].space] == [one, other]


def test_two_spaces_of_one_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="two spaces are named a"):
        load(written(tmp_path / "c.toml", WHOLE + second(name="a")))


@pytest.mark.parametrize(("given", "meant"), [(".", ""), ("./docs/", "docs"), ("a//b", "a/b"), ("", "")])
def test_a_directory_has_one_spelling(tmp_path: Path, given: str, meant: str) -> None:
    text = PLATFORM + REPOSITORY + second(directory=given)
    assert load(written(tmp_path / "c.toml", text)).repository[0].space[0].directory == meant


def test_what_is_no_file_no_text_and_no_toml_is_told_apart(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="there is no configuration at"):
        load(tmp_path / "absent.toml")
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        load(tmp_path)
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigInvalid, match="cannot be read"):
        load(binary)
    with pytest.raises(ConfigInvalid, match="line 1"):
        load(written(tmp_path / "broken.toml", "oops\n"))


def test_relative_paths_start_at_the_file(tmp_path: Path) -> None:
    keys = 'token_file = "secrets/token"\n'
    text = PLATFORM + keys + REPOSITORY + 'path = "docs"\n' + SPACE
    config = load(written(tmp_path / "etc" / "config.toml", text))
    assert config.platform.token_file == tmp_path / "etc" / "secrets" / "token"
    assert config.repository[0].path == tmp_path / "etc" / "docs"


def test_relative_paths_in_a_repository_start_at_its_root(tmp_path: Path) -> None:
    text = PLATFORM + 'token_file = "token"\n' + REPOSITORY + SPACE
    config = load(written(tmp_path / "docs" / ".git" / "syncd.toml", text))
    assert config.platform.token_file == tmp_path / "docs" / "token"
    assert config.repository[0].path == tmp_path / "docs"


def test_absolute_paths_stay_and_a_tilde_is_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    elsewhere = tmp_path / "elsewhere"
    text = PLATFORM + 'token_file = "~/token"\n' + REPOSITORY + f'path = "{elsewhere}"\n' + SPACE
    config = load(written(tmp_path / "c.toml", text))
    assert config.platform.token_file == tmp_path / "home" / "token"
    assert config.repository[0].path == elsewhere


def test_the_first_place_that_has_a_configuration_is_taken(tmp_path: Path) -> None:
    given, named = tmp_path / "given.toml", tmp_path / "named.toml"
    start = tmp_path / "docs" / "deep" / "deeper"
    start.mkdir(parents=True)
    own = written(tmp_path / "docs" / ".git" / "syncd.toml")
    xdg = written(tmp_path / "xdg" / "syncd" / "config.toml")
    home = written(tmp_path / "home" / ".config" / "syncd" / "config.toml")
    everything = {"SYNCD_CONFIG": str(named), "XDG_CONFIG_HOME": str(tmp_path / "xdg"), "HOME": str(tmp_path / "home")}
    assert find(everything, given=given, start=start) == given
    assert find(everything, given=None, start=start) == named
    del everything["SYNCD_CONFIG"]
    assert find(everything, given=None, start=start) == own
    own.unlink()
    shared = written(tmp_path / "docs" / "syncd.toml")
    assert find(everything, given=None, start=start) == shared
    shared.unlink()
    assert find(everything, given=None, start=start) == xdg
    del everything["XDG_CONFIG_HOME"]
    assert find(everything, given=None, start=start) == home
    assert find({**everything, "SYNCD_CONFIG": "", "XDG_CONFIG_HOME": ""}, given=None, start=start) == home


def test_without_any_other_configuration_the_system_s_is_meant(tmp_path: Path) -> None:
    system = Path("/etc/syncd/config.toml")
    if system.is_file():
        assert find({"HOME": str(tmp_path)}, given=None, start=tmp_path) == system
        return
    with pytest.raises(ConfigInvalid, match="there is no configuration here") as caught:
        find({"HOME": str(tmp_path)}, given=None, start=tmp_path)
    assert "syncd clone" in caught.value.hint
    assert "--config" in caught.value.hint


def test_a_linked_work_tree_has_the_configuration_of_its_repository(tmp_path: Path) -> None:
    main = tmp_path / "docs" / ".git"
    (main / "worktrees" / "side").mkdir(parents=True)
    linked = written(tmp_path / "side" / ".git", f"gitdir: {main / 'worktrees' / 'side'}\n").parent
    assert inside(linked) == main / "syncd.toml"
    written(tmp_path / "side" / ".git", "gitdir: ../docs/.git/worktrees/side\n")
    found = inside(linked)
    assert found is not None
    assert found.resolve() == main / "syncd.toml"


def test_a_repository_with_its_git_directory_elsewhere_has_its_configuration_there(tmp_path: Path) -> None:
    apart = tmp_path / "apart.git"
    apart.mkdir()
    tree = written(tmp_path / "tree" / ".git", f"gitdir: {apart}\n").parent
    assert inside(tree / "below") == apart / "syncd.toml"
    assert inside(tmp_path / "nowhere") is None


def secret(path: Path, text: str = "gb_token\n", mode: int = 0o600) -> Path:
    written(path, text).chmod(mode)
    return path


def platform(token_file: Path | None = None) -> PlatformConfig:
    return PlatformConfig(url="https://api.example.com", token_file=token_file)


def test_the_token_comes_from_the_file_then_the_variable_then_the_credential(tmp_path: Path) -> None:
    own = secret(tmp_path / "own", "from-file\n")
    secret(tmp_path / "credentials" / "token", "from-credential\n", 0o440)
    credentials = {"CREDENTIALS_DIRECTORY": str(tmp_path / "credentials")}
    everything = {"SYNCD_TOKEN": "from-variable\n", **credentials}
    assert token(platform(own), everything).get_secret_value() == "from-file"
    assert token(platform(), everything).get_secret_value() == "from-variable"
    assert token(platform(), {**credentials, "SYNCD_TOKEN": ""}).get_secret_value() == "from-credential"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o601, 0o666, 0o644])
def test_a_token_file_that_others_can_open_is_refused(tmp_path: Path, mode: int) -> None:
    with pytest.raises(ConfigInvalid, match="others may read") as caught:
        token(platform(secret(tmp_path / "token", mode=mode)), {})
    assert "chmod 600" in caught.value.hint


@pytest.mark.parametrize("mode", [0o600, 0o400])
def test_a_token_file_of_its_owner_is_accepted(tmp_path: Path, mode: int) -> None:
    assert token(platform(secret(tmp_path / "token", mode=mode)), {}).get_secret_value() == "gb_token"


@pytest.mark.parametrize("text", ["", "\n", "two words", "two\nlines", "é", "tab\there"])
def test_a_file_that_does_not_hold_one_token_is_refused_and_never_quoted(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigInvalid, match="does not hold one token") as caught:
        token(platform(secret(tmp_path / "file", text)), {})
    assert "words" not in caught.value.what


@pytest.mark.parametrize("environ", [{}, {"SYNCD_TOKEN": ""}])
def test_without_a_token_the_hint_names_the_ways_to_give_one(environ: Mapping[str, str]) -> None:
    with pytest.raises(ConfigInvalid, match="there is no token") as caught:
        token(platform(), environ)
    assert "token_file" in caught.value.hint
    assert "SYNCD_TOKEN" in caught.value.hint


def test_a_token_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="absent cannot be read"):
        token(platform(tmp_path / "absent"), {})


def test_a_token_is_never_shown(tmp_path: Path) -> None:
    assert "gb_token" not in repr(token(platform(secret(tmp_path / "token")), {}))


def test_a_configuration_cannot_be_changed_once_it_is_read() -> None:
    config: Config = load(EXAMPLE)
    with pytest.raises(ValueError, match="frozen"):
        config.platform.url = "https://elsewhere.example.com"  # type: ignore[misc]
