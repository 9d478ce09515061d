"""Which configuration applies, and how much of it counts."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from syncd.config import Config, ConfigFile, find_config, load_config, load_repositories, trust_document
from syncd.config.finding import read_valid
from syncd.errors import ConfigInvalid, NotTrusted

URL = "https://api.example.com"
PLATFORM = f'[platform]\nurl = "{URL}"\n'
SPACE = '[[repository]]\n[[repository.space]]\nid = "s1"\ndirectory = "a"\nname = "a"\n'
WHOLE = PLATFORM + SPACE
SYSTEM = Path("/etc/syncd/config.toml")


def written(path: Path, text: str = WHOLE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Mapping[str, str]:
    return {"HOME": str(tmp_path / "home")}


def committed(top: Path, text: str) -> ConfigFile:
    return ConfigFile(written(top / "syncd.toml", text), "work tree", top)


def kept(top: Path, text: str) -> ConfigFile:
    return ConfigFile(written(top / ".git" / "syncd.toml", text), "git directory", top)


def trusted(file: ConfigFile, environ: Mapping[str, str]) -> Config:
    trust_document(file, read_valid(file), environ, at="2025-01-02T03:04:05Z")
    return load_config(file, environ)


def test_the_first_place_that_has_a_configuration_is_taken(tmp_path: Path) -> None:
    given, named, top = tmp_path / "given.toml", tmp_path / "named.toml", tmp_path / "docs"
    own = written(top / ".git" / "syncd.toml")
    shared = written(top / "syncd.toml")
    xdg = written(tmp_path / "xdg" / "syncd" / "config.toml")
    home = written(tmp_path / "home" / ".config" / "syncd" / "config.toml")
    here: dict[str, Any] = {"git_dir": top / ".git", "top": top}
    environ = {"SYNCD_CONFIG": str(named), "XDG_CONFIG_HOME": str(tmp_path / "xdg"), "HOME": str(tmp_path / "home")}
    assert find_config(environ, given=given, **here) == ConfigFile(given)
    assert find_config(environ, **here) == ConfigFile(named)
    del environ["SYNCD_CONFIG"]
    assert find_config(environ, **here) == ConfigFile(own, "git directory", top)
    own.unlink()
    assert find_config(environ, **here) == ConfigFile(shared, "work tree", top)
    shared.unlink()
    assert find_config(environ, **here) == ConfigFile(xdg)
    del environ["XDG_CONFIG_HOME"]
    assert find_config(environ, **here) == ConfigFile(home)
    assert find_config({**environ, "SYNCD_CONFIG": "", "XDG_CONFIG_HOME": ""}) == ConfigFile(home)


def test_what_the_operator_says_of_a_repository_goes_before_what_is_committed_there(
    tmp_path: Path, home: Mapping[str, str]
) -> None:
    top = tmp_path / "docs"
    written(top / "syncd.toml")
    own = written(
        Path(home["HOME"], ".config/syncd/config.toml"),
        WHOLE.replace("[[repository]]", f'[[repository]]\npath = "{top}"'),
    )
    assert find_config(home, git_dir=top / ".git", top=top) == ConfigFile(own)
    assert find_config(home, git_dir=tmp_path / "other/.git", top=tmp_path / "other") == ConfigFile(own)
    written(tmp_path / "other" / "syncd.toml")
    found = find_config(home, git_dir=tmp_path / "other/.git", top=tmp_path / "other")
    assert found is not None
    assert found.origin == "work tree"


def test_a_configuration_of_the_platform_alone_applies_to_no_repository(
    tmp_path: Path, home: Mapping[str, str]
) -> None:
    written(Path(home["HOME"], ".config/syncd/config.toml"), PLATFORM)
    expected = ConfigFile(SYSTEM) if SYSTEM.is_file() else None
    assert find_config(home, git_dir=tmp_path / ".git", top=tmp_path) == expected


def test_a_relative_path_in_the_environment_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigInvalid, match="another file in each directory"):
        find_config({"SYNCD_CONFIG": "syncd.toml"}, git_dir=tmp_path / ".git", top=tmp_path)


def test_a_file_of_the_operators_says_everything(tmp_path: Path, home: Mapping[str, str]) -> None:
    file = ConfigFile(written(tmp_path / "c.toml", WHOLE + '[repository.upstream]\nurl = "/srv/docs.git"\n'))
    assert load_config(file, {**home, "SYNCD_URL": "https://elsewhere.example.com"}).platform.url == URL
    file = ConfigFile(written(tmp_path / "c.toml", SPACE))
    assert load_config(file, {**home, "SYNCD_URL": URL}).platform.url == URL
    with pytest.raises(ConfigInvalid, match="platform - is missing"):
        load_config(file, home)


@pytest.mark.parametrize("make", [committed, kept])
def test_a_file_of_a_repository_says_nothing_until_its_owner_trusts_it(
    make: Any, tmp_path: Path, home: Mapping[str, str]
) -> None:
    file = make(tmp_path / "docs", WHOLE)
    with pytest.raises(NotTrusted) as caught:
        load_config(file, home)
    assert caught.value.exit_code == 78
    assert "platform.url" in caught.value.what
    assert "syncd trust" in caught.value.hint
    assert trusted(file, home).platform.url == URL
    assert load_config(file, home).repository[0].path == tmp_path / "docs"
    with pytest.raises(NotTrusted):
        load_config(make(tmp_path / "elsewhere", WHOLE), home)


@pytest.mark.parametrize("make", [committed, kept])
def test_a_job_that_names_the_platform_takes_spaces_and_policies_from_the_repository(
    make: Any, tmp_path: Path, home: Mapping[str, str]
) -> None:
    policy = '[repository.change_requests]\nstatus = "draft"\n'
    for text in (SPACE + policy, WHOLE + policy):
        file = make(tmp_path / "docs", text)
        for config in (load_config(file, {**home, "SYNCD_URL": f"{URL}/v1"}), load_config(file, home, url=f"{URL}/")):
            assert config.repository[0].space[0].id == "s1"
            assert config.repository[0].change_requests.status == "draft"
            assert config.repository[0].path == tmp_path / "docs"
            assert config.platform.token_file is None
    with pytest.raises(NotTrusted, match=r"platform\.url"):
        load_config(file, {**home, "SYNCD_URL": "https://elsewhere.example.com"})


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (PLATFORM + 'token_file = "/etc/passwd"\n' + SPACE, "platform.token_file"),
        (PLATFORM + "insecure = true\n" + SPACE, "platform.insecure"),
        (SPACE.replace("[[repository]]", '[[repository]]\npath = "/srv"'), "repository.0.path"),
        (SPACE.replace("[[repository]]", '[[repository]]\nremote = "origin"'), "repository.0.remote"),
        (SPACE + "[repository.upstream]\n", "repository.0.upstream"),
        (SPACE + '[repository.upstream]\npush = "side"\n', "repository.0.upstream.push"),
        (SPACE + '[repository.upstream]\nknown_hosts_file = "x"\n', "repository.0.upstream.known_hosts_file"),
        (SPACE + SPACE.replace("[[repository]]", '[[repository]]\npath = ".."'), "repository.1.path"),
    ],
)
def test_a_job_that_names_the_platform_takes_nothing_else(
    text: str, key: str, tmp_path: Path, home: Mapping[str, str]
) -> None:
    with pytest.raises(NotTrusted) as caught:
        load_config(committed(tmp_path / "docs", text), home, url=URL)
    assert caught.value.what.endswith(f"only you may say {key}")
    assert load_repositories(committed(tmp_path / "docs", text), home)[0].path == tmp_path / "docs"
    assert load_repositories(committed(tmp_path / "docs", text), home)[0].upstream is None


def test_the_repository_itself_may_be_named_by_a_path(tmp_path: Path, home: Mapping[str, str]) -> None:
    text = SPACE.replace("[[repository]]", '[[repository]]\npath = "."')
    assert load_config(committed(tmp_path / "docs", text), home, url=URL).repository[0].path == tmp_path / "docs"


def test_a_committed_file_is_trusted_byte_for_byte(tmp_path: Path, home: Mapping[str, str]) -> None:
    assert trusted(committed(tmp_path / "docs", WHOLE), home)
    with pytest.raises(NotTrusted, match="not what you trusted on 2025-01-02"):
        load_config(committed(tmp_path / "docs", WHOLE.replace("s1", "s2")), home)
    assert load_config(committed(tmp_path / "docs", WHOLE), home)


def test_a_file_in_the_git_directory_may_change_in_what_a_repository_may_say(
    tmp_path: Path, home: Mapping[str, str]
) -> None:
    assert trusted(kept(tmp_path / "docs", WHOLE), home)
    assert load_config(kept(tmp_path / "docs", WHOLE.replace("s1", "s2") + "[repository.site]\n"), home)
    for text in (WHOLE + "[repository.upstream]\n", WHOLE.replace("api.", "evil."), SPACE):
        with pytest.raises(NotTrusted, match="not what you trusted"):
            load_config(kept(tmp_path / "docs", text), home)


def test_a_trusted_file_without_a_platform_takes_the_users(tmp_path: Path, home: Mapping[str, str]) -> None:
    file = committed(tmp_path / "docs", SPACE)
    own = Path(home["HOME"], ".config/syncd/config.toml")
    written(own, PLATFORM + 'token_file = "token"\n')
    with pytest.raises(NotTrusted):
        load_config(file, home)
    assert trusted(file, home).platform.token_file == own.parent / "token"
    own.unlink()
    with pytest.raises(ConfigInvalid, match="platform - is missing") as caught:
        load_config(file, home)
    assert "SYNCD_URL" in caught.value.hint


@pytest.mark.parametrize("url", ["/srv/x.git", "file:///srv/x.git", "http://127.0.0.1/x", "ext::sh -c x", ""])
def test_a_committed_upstream_is_no_path_even_when_it_is_trusted(
    url: str, tmp_path: Path, home: Mapping[str, str]
) -> None:
    named = f'url = "{url}"\n' if url else ""
    with pytest.raises(ConfigInvalid, match="must be an https or ssh address"):
        trusted(committed(tmp_path / "docs", WHOLE + f"[repository.upstream]\n{named}"), home)
    assert trusted(kept(tmp_path / "docs", WHOLE + f"[repository.upstream]\n{named}"), home)


@pytest.mark.parametrize("url", ["https://git.example.org/x", "ssh://git@git.example.org/x", "git@git.example.org:x"])
def test_a_committed_upstream_is_an_address_of_https_or_ssh(url: str, tmp_path: Path, home: Mapping[str, str]) -> None:
    text = WHOLE + f'[repository.upstream]\nurl = "{url}"\ntoken_file = "~/git-token"\n'
    upstream = trusted(committed(tmp_path / "docs", text), home).repository[0].upstream
    assert upstream is not None
    assert upstream.url == url


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_record_that_others_may_write_is_none(mode: int, tmp_path: Path, home: Mapping[str, str]) -> None:
    file = committed(tmp_path / "docs", WHOLE)
    assert trusted(file, home)
    [record] = Path(home["HOME"]).glob(".local/state/syncd/trust/*.json")
    assert record.stat().st_mode & 0o777 == 0o600
    record.chmod(mode)
    with pytest.raises(NotTrusted):
        load_config(file, home)


def test_the_records_are_never_looked_for_in_the_current_directory(
    tmp_path: Path, home: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = committed(tmp_path / "docs", WHOLE)
    assert trusted(file, {**home, "XDG_STATE_HOME": str(tmp_path / "state")})
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NotTrusted):
        load_config(file, {**home, "XDG_STATE_HOME": "state"})


def test_where_nothing_can_be_recorded_it_is_said(tmp_path: Path, home: Mapping[str, str]) -> None:
    written(tmp_path / "home" / ".local", "a file")
    with pytest.raises(ConfigInvalid, match="cannot be recorded") as caught:
        trusted(committed(tmp_path / "docs", WHOLE), home)
    assert "XDG_STATE_HOME" in caught.value.hint


def test_a_linked_work_tree_belongs_to_the_repository_that_the_operator_names(
    tmp_path: Path, home: Mapping[str, str]
) -> None:
    main, linked = tmp_path / "docs", tmp_path / "linked"
    named = WHOLE.replace("[[repository]]", f'[[repository]]\npath = "{main}"')
    own = written(Path(home["HOME"], ".config/syncd/config.toml"), named)
    written(linked / "syncd.toml")
    assert find_config(home, git_dir=main / ".git", top=linked) == ConfigFile(own)


def test_the_address_alone_may_come_from_the_environment(tmp_path: Path, home: Mapping[str, str]) -> None:
    file = ConfigFile(written(tmp_path / "c.toml", "[platform]\ninsecure = true\n" + SPACE))
    platform = load_config(file, {**home, "SYNCD_URL": URL}).platform
    assert (platform.url, platform.insecure) == (URL, True)
    with pytest.raises(ConfigInvalid, match=r"platform\.url - is missing"):
        load_config(file, home)
    file = ConfigFile(written(tmp_path / "c.toml", "platform = 1\n" + SPACE))
    with pytest.raises(ConfigInvalid, match="platform - must be a table"):
        load_config(file, {**home, "SYNCD_URL": URL})
