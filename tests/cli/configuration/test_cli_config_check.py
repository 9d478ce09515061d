"""`syncd config check`: all problems at once, each with its place; exit code 78."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.command_runner import CommandRunner, make_runner

WRONG = """[platform]
url = "http://api.example.com"
token_file = "absent"
colour = "red"

[[repository]]
path = "docs"
intervall = 3

[[repository.space]]
directory = "../up"

[repository.site]

[repository.upstream]
url = "https://me:hunter2@git.example.org/x"
ssh_key_file = "open"
"""
SITE = "version: 1\nsite: {org: ORG, id: SITE}\nredirects:\n  - from: /a\n    to: /b\n    colour: red\n"
RIGHT = '[platform]\nurl = "https://api.example.com"\n[[repository]]\n[[repository.space]]\nid = "a"\n'


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> CommandRunner:
    (tmp_path / "open").touch(mode=0o644)
    subprocess.run(["git", "init", "--quiet", "docs"], cwd=tmp_path, check=True)
    return make_runner("config check", tmp_path, monkeypatch, capsys)


PUBLISHING = """[platform]
url = "https://api.example.com"
[[repository]]
path = "docs"
branches = ["main", "pages/*"]
[repository.site]
apply = false
[repository.site.publish]
{publish}
[repository.upstream]
url = "https://git.example.org/x"
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_all_problems_are_named_at_once_with_their_places(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", WRONG)
    write(tmp_path / "docs" / "site.yaml", SITE)
    said = check("--config", str(file))
    assert said.code == 78
    for place, words in {
        f"{file}:2:1": "platform.url - 'http://api.example.com' would send the token unencrypted",
        f"{file}:3:1": "platform.token_file - the token_file",
        f"{file}:4:1": "platform.colour - there is no such key",
        f"{file}:8:1": "repository.0.intervall - there is no such key; did you mean interval?",
        f"{file}:10:1": "repository.0.space.0.id - is missing",
        f"{file}:11:1": "repository.0.space.0.directory - must stay inside the repository",
        f"{file}:16:1": "repository.0.upstream.url - the address of the Git remote at git.example.org",
        f"{file}:17:1": "repository.0.upstream.ssh_key_file - others may read",
        f"{tmp_path}/docs/site.yaml:6:5": "SY",
    }.items():
        assert f"{place}: error: {words}" in said.out
    assert "chmod 600" in said.out
    assert "hunter2" not in said.out
    assert said.err == ""


SERVICES = """[platform]
url = "https://api.example.com"
[[repository]]
path = "docs"
[[repository.space]]
id = "s1"
[repository.upstream]
url = "https://git.example.org/x"
import_token_file = "no-token"
[webhooks]
listen = "127.0.0.1:99999"
[[webhooks.source]]
name = "github"
kind = "github"
[[webhooks.source]]
name = "gitlab"
kind = "gitlab"
secret_file = "no-secret"
[[notifications.target]]
name = "team"
url = "https://hooks.example.com:99999/x"
[[notifications.target]]
name = "mail"
url_file = "no-address"
"""


def test_what_keeps_the_service_from_webhooks_and_notifications_is_named(
    tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path / "own.toml", SERVICES)
    said = check("--config", str(file))
    assert said.code == 78
    for place, words in {
        f"{file}:9:1: error": "repository.0.upstream.import_token_file - the import_token_file",
        f"{file}:11:1: error": "webhooks.listen - nothing can listen at '127.0.0.1:99999'",
        f"{file}:12:1: warning": "webhooks.source.0 - webhooks.source github has no secret",
        f"{file}:15:1: error": "webhooks.source.1 - the secret_file of webhooks.source gitlab",
        f"{file}:19:1: error": "notifications.target.0 - the address of notifications.target team cannot be used",
        f"{file}:22:1: error": "notifications.target.1 - the url_file of notifications.target mail",
    }.items():
        assert f"{place}: {words}" in said.out
    monkeypatch.setenv("SYNCD_WEBHOOK_SECRET_GITHUB", "short")
    said = check("--config", str(file))
    assert f"{file}:12:1: error: webhooks.source.0 - webhooks.source github has a secret of fewer" in said.out


def test_what_the_service_needs_is_right(tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no-token", "no-secret", "no-address"):
        write(tmp_path / name, "https://hooks.example.com/a-secret-of-many-letters\n").chmod(0o600)
    file = write(tmp_path / "own.toml", SERVICES.replace(":99999", ":9473"))
    monkeypatch.setenv("SYNCD_WEBHOOK_SECRET_GITHUB", "a-secret-of-many-letters")
    said = check("--config", str(file))
    assert "webhooks" not in said.out + said.err
    assert "notifications" not in said.out + said.err


def test_a_text_in_the_place_of_a_number_has_its_place(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", RIGHT.replace("[[repository]]", '[[repository]]\n  interval = "2"'))
    said = check("--config", str(file))
    assert said.code == 78
    assert f"{file}:4:3: error: repository.0.interval - must be a number, without quotes\n" in said.out


def test_a_receiver_that_names_an_unknown_repository_is_wrong(tmp_path: Path, check: CommandRunner) -> None:
    receiver = '[[notifications.target]]\nname = "team"\nurl = "https://hooks.example.com/x"\nrepositories = ["{}"]\n'
    text = RIGHT.replace("[[repository]]", '[[repository]]\npath = "docs"')
    file = write(tmp_path / "config.toml", text + receiver.format('dosc", "docs", "elsewhere'))
    said = check("--config", str(file))
    place = f"{file}:10:1: error: notifications.target.0.repositories - no repository is named "
    assert (said.code, said.out.count("error: ")) == (78, 2)
    assert f"{place}'dosc'; did you mean docs?\n" in said.out
    assert f"{place}'elsewhere'; there are docs\n" in said.out
    subprocess.run(["git", "init", "--quiet", "conf.d/elsewhere"], cwd=tmp_path, check=True)
    write(tmp_path / "conf.d" / "a.toml", '[[repository]]\npath = "elsewhere"\n[[repository.space]]\nid = "b"\n')
    write(file, text + receiver.format("elsewhere"))
    assert "no repository is named" not in check("--config", str(file)).out, "one of conf.d is known, too"


def test_programs_get_the_same(tmp_path: Path, check: CommandRunner) -> None:
    said = check("--config", str(write(tmp_path / "own.toml", WRONG)), "--json")
    document = json.loads(said.out)
    assert said.code == document["exit_code"] == 78
    first = next(one for one in document["problems"] if one["key"] == "platform.colour")
    assert (first["line"], first["column"], first["severity"]) == (4, 1, "error")


def test_what_is_no_toml_has_its_place(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", "[platform]\nurl = = 3\n")
    said = check("--config", str(file))
    assert said.code == 78
    assert f"{file}:2:7: error: Invalid value" in said.out


def test_a_key_that_is_there_twice_is_named_with_both_places(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", RIGHT.replace("[[repository]]", "[[repository]]\ninterval = 5\ninterval = 6"))
    said = check("--config", str(file))
    assert said.code == 78
    message = "repository.0.interval - is there twice, in line 4, too"
    assert said.out.startswith(f"{file}:5:1: error: {message}\n    leave one of the two\n")


def test_what_ends_too_early_has_the_place_of_its_end(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", '[platform]\nurl = "https://api.example.com\n\n')
    said = check("--config", str(file))
    assert said.code == 78
    assert f"{file}:2:31: error: " in said.out
    file.write_text("[platform]\nurl = [\n\n")
    assert f"{file}:2:8: error: Invalid value (at end of document)" in check("--config", str(file)).out


def test_variables_are_checked_too(tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / "own.toml", RIGHT)
    monkeypatch.setenv("SYNCD_TOKN", "secret-1")
    said = check("--config", str(file))
    assert said.code == 0
    assert "SYNCD_TOKN: warning: syncd reads no such variable; did you mean SYNCD_TOKEN?" in said.out
    monkeypatch.setenv("SYNCD_URL", "ftp://x")
    monkeypatch.setenv("SYNCD_TOKEN", "secret 2")
    said = check("--config", str(file))
    assert said.code == 78
    assert "SYNCD_URL: error: 'ftp://x' is not an address" in said.out
    assert "SYNCD_TOKEN: error: the token has characters that no token has" in said.out
    assert "secret" not in said.out + said.err


def test_of_a_strangers_file_nothing_that_it_names_is_opened(
    tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "docs")
    write(
        tmp_path / "docs" / "syncd.toml", RIGHT.replace("[[repository]]", 'token_file = "/etc/hosts"\n[[repository]]')
    )
    said = check()
    assert said.code == 78
    assert "you have not trusted it" in said.out
    assert "syncd trust" in said.out
    assert "others may read" not in said.out


def test_the_operators_own_platform_is_checked_where_it_counts(
    tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "home" / "syncd" / "config.toml"
    own.parent.mkdir(parents=True)
    own.write_text('[platform]\nurl = "https://api.example.com"\ntoken_fil = "x"\n')
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    said = check("--config", str(write(tmp_path / "part.toml", RIGHT.partition("\n")[2].partition("\n")[2])))
    assert said.code == 78
    assert f"{own}:3:1: error: platform.token_fil - there is no such key; did you mean token_file?" in said.out


def test_every_mistake_in_every_drop_in_is_named_once(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "config.toml", '[platform]\nurl = "https://api.example.com"\ncolour = 1\n')
    (tmp_path / "conf.d").mkdir()
    wrong = '[platform]\nurl = "x"\n[[repository]]\npath = "../docs"\nintervall = 1\n[[repository.space]]\nid = "a"\n'
    first = write(tmp_path / "conf.d" / "1.toml", wrong)
    second = write(tmp_path / "conf.d" / "2.toml", "[[repository]\n")
    said = check("--config", str(file))
    assert said.code == 78
    lines = [line for line in said.out.splitlines() if ": error: " in line]
    assert [line.partition(": error: ")[0] for line in lines] == [
        *(f"{first}:1:1", f"{first}:5:1", f"{second}:1:13", f"{file}:3:1")
    ]
    write(file, '[platform]\nurl = "https://api.example.com"\n')
    assert check("--config", str(file)).out.count(": error: ") == 3
    repository = f'[[repository]]\npath = "{tmp_path}/docs"\n[[repository.space]]\nid = "a"\n'
    write(first, repository)
    write(second, repository)
    assert f"{second}: error: {tmp_path}/docs is configured in {first}, too" in check("--config", str(file)).out


def test_a_configuration_that_is_right_is_valid(tmp_path: Path, check: CommandRunner) -> None:
    file = write(tmp_path / "own.toml", RIGHT + "[repository.site]\nfile = 'none.yaml'\n")
    assert check("--config", str(file)).out.startswith(f"{file} is valid")
    assert check("--config", str(tmp_path / "absent.toml")).code == 78


@pytest.mark.parametrize(
    ("publish", "words"),
    [
        ('directory = "www"\nbranch = "gh-pages"', "takes a directory or a branch: one of both"),
        ("index = false", "takes a directory or a branch: one of both"),
        ('branch = "-x"', "'-x' is no branch"),
        ('branch = "gh*"', "'gh*' is no branch"),
        ('branch = "main"', "site.publish.branch = main and the branch main are in each other's way"),
        ('branch = "syncd/platform"', "site.publish.branch = syncd/platform and the branch syncd/platform are in each"),
        ('branch = "pages/docs"', "the pattern pages/* would track pages/docs"),
        ('directory = "docs"', "is there, and syncd did not make it"),
        ('directory = "www"\nbase_url = "docs.example"', "'docs.example' is no address of a site"),
    ],
)
def test_where_a_site_cannot_go_is_said(tmp_path: Path, check: CommandRunner, publish: str, words: str) -> None:
    said = check("--config", str(write(tmp_path / "own.toml", PUBLISHING.format(publish=publish))))
    assert said.code == 78
    assert words in said.out


@pytest.mark.parametrize("publish", ['directory = "www"', 'branch = "gh-pages"\nbase_url = "https://x.example/y"'])
def test_where_a_site_can_go_is_right(tmp_path: Path, check: CommandRunner, publish: str) -> None:
    said = check("--config", str(write(tmp_path / "own.toml", PUBLISHING.format(publish=publish))))
    assert (said.code, said.err) == (0, "")


def test_a_file_of_ones_own_may_name_the_platform_alone(
    tmp_path: Path, check: CommandRunner, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home" / "syncd").mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    alone = RIGHT.partition("[[repository]]")[0]
    own = write(tmp_path / "home" / "syncd" / "config.toml", alone)
    for words in ((), ("--config", str(own))):
        done = check(*words)
        assert (done.code, done.out.startswith(f"{own} is valid. It names the platform for ")) == (0, True)
    assert check("--config", str(write(tmp_path / "other.toml", alone))).code == 78, "a file for repositories"
    own.write_text(alone.replace("https", "http") + "colour = 1\n")
    done = check()
    assert (done.code, done.out.count(f"{own}:")) == (78, 2)
    own.write_text(alone)
    done = make_runner("sync", tmp_path, monkeypatch, capsys)("--config", str(own))
    assert (done.code, "names a platform, and no repository" in done.err) == (78, True)


def make_hosted(tmp_path: Path) -> Path:
    """A hosted repository with the branches master and topic, beside an empty bare one for the service."""
    subprocess.run(["git", "init", "--quiet", "--initial-branch=master", "work"], cwd=tmp_path, check=True)
    commit = ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "-m", "x"]
    for words in (commit, ["branch", "topic"]):
        subprocess.run(["git", *words], cwd=tmp_path / "work", check=True)
    subprocess.run(["git", "clone", "--quiet", "--bare", "work", "hosted.git"], cwd=tmp_path, check=True)
    subprocess.run(["git", "init", "--quiet", "--bare", "service.git"], cwd=tmp_path, check=True)
    return tmp_path / "hosted.git"


def name_branches(tmp_path: Path, branches: str, *, path: str = "service.git", url: Path | None = None) -> Path:
    upstream = f'[repository.upstream]\nurl = "{url}"\n' if url else ""
    text = RIGHT.replace("[[repository]]\n", f'[[repository]]\npath = "{path}"\nbranches = {branches}\n')
    return write(tmp_path / "own.toml", text + upstream)


def test_branches_that_exist_nowhere_are_an_error_as_a_run_holds_them(tmp_path: Path, check: CommandRunner) -> None:
    file = name_branches(tmp_path, '["mian"]', url=make_hosted(tmp_path))
    said = check("--config", str(file))
    assert said.code == 78
    assert f"{file}:5:1: error: repository.0.branches - there is no branch mian, here or at origin" in said.out
    assert 'name yours, as in branches = ["master"]' in said.out
    document = json.loads(check("--config", str(file), "--json").out)
    assert [(one["line"], one["severity"]) for one in document["problems"]] == [(5, "error")]
    file = name_branches(tmp_path, '["mian"]', path="work")
    said = check("--config", str(file))
    assert (said.code, f"{file}:5:1: error: repository.0.branches - there is no branch mian here" in said.out) == (
        78,
        True,
    )


def test_a_branch_that_is_nowhere_beside_others_is_a_warning(tmp_path: Path, check: CommandRunner) -> None:
    hosted = make_hosted(tmp_path)
    file = name_branches(tmp_path, '["master", "later"]', url=hosted)
    said = check("--config", str(file))
    assert said.code == 0
    assert f"{file}:5:1: warning: repository.0.branches - there is no branch later, here or at origin" in said.out
    assert "valid, with 1 warning" in said.out
    for branches in ('["master"]', '["mast*"]', '["nothing/*", "topic"]'):
        said = check("--config", str(name_branches(tmp_path, branches, url=hosted)))
        assert (said.code, "warning" in said.out) == (0, False), said.out


@pytest.mark.parametrize("branch", ["master", "nowhere"])
def test_a_remote_that_git_does_not_know_is_an_error_as_a_run_ends_by_it(
    tmp_path: Path, check: CommandRunner, branch: str
) -> None:
    make_hosted(tmp_path)
    file = name_branches(tmp_path, f'["{branch}"]', path="work")
    file.write_text(file.read_text() + '[repository.upstream]\nremote = "origin"\n')
    said = check("--config", str(file))
    assert said.code == 78
    assert "error: repository.0.upstream - Git knows no remote origin\n    git remote add origin URL" in said.out


def test_an_upstream_that_does_not_answer_is_a_warning_where_it_decides(tmp_path: Path, check: CommandRunner) -> None:
    make_hosted(tmp_path)
    file = name_branches(tmp_path, '["main"]', url=tmp_path / "gone.git")
    said = check("--config", str(file))
    assert said.code == 0
    assert (
        f"{file}:5:1: warning: repository.0.branches - not here: main; whether origin has it is not known" in said.out
    )
    file = name_branches(tmp_path, '["master"]', path="work", url=tmp_path / "gone.git")
    assert "warning" not in check("--config", str(file)).out


def test_branches_of_a_repository_without_commits_are_yet_to_come(tmp_path: Path, check: CommandRunner) -> None:
    make_hosted(tmp_path)
    said = check("--config", str(name_branches(tmp_path, '["main", "later"]')))
    assert (said.code, "warning" in said.out) == (0, False)
