"""The operator's file: the example loads, every mistake is named by its key, and nothing is guessed."""

import threading
import tomllib
from pathlib import Path
from typing import Any

import pytest

from syncd.config import Config, load, parse, reading
from syncd.errors import ConfigInvalid

EXAMPLE = Path(__file__).parents[2] / "config.example.toml"
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
    paths = {"url", "token_file", "ssh_key_file", "known_hosts_file", "import_url", "import_token_file"}
    own: dict[str, Any] = {"name": True, "space": True, "upstream": paths, "site": {"publish"}}
    assert mine.model_dump(exclude=own) == usual.model_dump(exclude=own)


NAMES = (
    "main",
    "syncd",
    "syncd/",
    "syncd//x",
    "syncd/.x",
    "syncd/x.lock",
    "syncd/a..b",
    "syncd/-x",
    "syncd/x y",
    "syncd/*",
)
"""What cannot be the branch of the mirror: no name for a branch, or one that a clone might take for a person's."""


def in_each_others_way(branches: str, upstream: str) -> str:
    return f"{PLATFORM}[[repository]]\nbranches = {branches}\n{SPACE}[repository.upstream]\n{upstream}\n"


@pytest.mark.parametrize(
    ("branches", "upstream"),
    [
        ('["syncd/platform"]', ""),
        ('["syncd/platform/x"]', ""),
        ('["main", "syncd"]', ""),
        ('["main", "syncd/platform-changes/guides/12"]', ""),
        ('["main", "syncd/*"]', ""),
        ('["main", "syncd/p*"]', ""),
        ('["main", "syncd/*/12"]', 'mirror = "syncd/a/12"'),
        ('["platform"]', ""),
        ('["main"]', 'mirror = "syncd/main"'),
        ('["main"]', 'side = "syncd/platform/{branch}"'),
    ],
)
def test_the_branch_of_the_mirror_is_no_tracked_branch_and_no_side_branch(
    tmp_path: Path, branches: str, upstream: str
) -> None:
    text = in_each_others_way(branches, upstream)
    with pytest.raises(ConfigInvalid, match=r"upstream\.mirror"):
        load(written(tmp_path / "config.toml", text))
    for off in ('mirror = ""', 'push = "never"'):
        if not upstream:
            load(written(tmp_path / "config.toml", in_each_others_way(branches, off)))


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
        *((WHOLE + f"[repository.upstream]\nmirror = '{name}'\n", "repository.0.upstream.mirror") for name in NAMES),
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


def test_a_mark_before_the_text_is_passed_over_and_other_bytes_are_named_by_their_place(tmp_path: Path) -> None:
    file = written(tmp_path / "c.toml")
    file.write_bytes(b"\xef\xbb\xbf" + file.read_bytes())
    assert load(file).repository
    file.write_bytes(b'[platform]\nurl = "\xff"\n')
    with pytest.raises(ConfigInvalid, match=r"c\.toml:2:8: this is no UTF-8"):
        load(file)


def test_a_value_of_the_wrong_form_is_told_in_words(tmp_path: Path) -> None:
    text = PLATFORM + REPOSITORY + 'instance = "zz"\n' + second(id="a b", name="A")
    with pytest.raises(ConfigInvalid) as refused:
        load(written(tmp_path / "c.toml", text))
    assert "pattern" not in refused.value.what
    for words in ("six digits from 0 to f", "the id of a space", "small letters"):
        assert words in refused.value.what


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('interval = "2"', "interval - must be a number, without quotes"),
        ("interval = true", "interval - must be a number, without quotes"),
        ("interval = 0.5", "interval - must be 1 or more"),
        ("interval = inf", "interval - must be 86400 or less"),
        ('propose = "yes"', "propose - must be true or false, without quotes"),
        ("propose = 0", "propose - must be true or false, without quotes"),
        ("branches = []", "branches - must be a list of at least 1"),
        ("branches = {main = 1}", "branches - must be a list"),
        ("branches = [1]", "branches.0 - must be a text in quotes"),
        ("path = 3", "path - must be a path in quotes"),
        ('name = "A B"', "name - must be small letters, digits"),
        ('write = "much"', "write - must be 'auto', 'content', 'git-import' or 'comments'"),
        ('change_requests.reviewers = ["a b"]', "change_requests.reviewers.0 - must be without spaces"),
        (
            f"change_requests.reviewers = ['{'a' * 255}']",
            "change_requests.reviewers.0 - must have at most 254 characters",
        ),
        (f"change_requests.reviewers = {['a'] * 51}", "change_requests.reviewers - must be a list of at most 50"),
        ('site.apply = "false"', "site.apply - must be true or false, without quotes"),
        ('site.every = "60"', "site.every - must be a number, without quotes"),
    ],
)
def test_a_value_of_another_type_is_told_in_words(tmp_path: Path, line: str, said: str) -> None:
    with pytest.raises(ConfigInvalid) as refused:
        load(written(tmp_path / "c.toml", f"{PLATFORM}{REPOSITORY}{line}\n{SPACE}"))
    assert f"c.toml: repository.0.{said}" in refused.value.what


def test_a_number_may_be_a_whole_one_or_not(tmp_path: Path) -> None:
    for number in ("2", "2.5"):
        text = f"{PLATFORM}{REPOSITORY}interval = {number}\n{SPACE}"
        assert load(written(tmp_path / "c.toml", text)).repository[0].interval == float(number)


def test_one_space_in_two_directories_is_refused(tmp_path: Path) -> None:
    spaces = second(id="s1", directory="a", name="a") + second(id="s1", directory="b")
    with pytest.raises(ConfigInvalid, match="the space s1 is there twice"):
        load(written(tmp_path / "c.toml", PLATFORM + REPOSITORY + spaces))


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
    with pytest.raises(ConfigInvalid, match=r"binary\.toml:1:1: this is no UTF-8"):
        load(binary)
    with pytest.raises(ConfigInvalid, match=r"broken\.toml:1:5: Expected"):
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


def test_a_configuration_cannot_be_changed_once_it_is_read() -> None:
    config: Config = load(EXAMPLE)
    with pytest.raises(ValueError, match="frozen"):
        config.platform.url = "https://elsewhere.example.com"  # type: ignore[misc]


def test_a_disk_that_does_not_answer_keeps_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer, resolve = threading.Event(), Path.resolve
    (tmp_path / "real").mkdir()
    (tmp_path / "there").symlink_to("real")

    def hang(path: Path, strict: bool = False) -> Path:
        if path.name == "hanging":
            answer.wait()
        return resolve(path, strict)

    monkeypatch.setattr(Path, "resolve", hang)
    monkeypatch.setattr(reading, "_RESOLVE_SECONDS", 0.2)
    file = tmp_path / "own.toml"
    tables = "".join(
        f'[[repository]]\npath = "{name}"\n[[repository.space]]\nid = "{name}"\n' for name in ("hanging", "there")
    )
    file.write_text(f'[platform]\nurl = "https://api.example.com"\n{tables}')
    for _ in range(2):
        assert [one.path for one in load(file).repository] == [tmp_path / "hanging", tmp_path / "real"]
    answer.set()
