"""`syncd push --ci` as a CI job runs it: a fresh clone of one commit, variables of the service, and nothing left."""

import json
import re
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from syncd.cli.app import run
from syncd.cli.reference.example import read_example
from syncd.cli.terminal.ci_job import read_ci_job
from syncd.layout.yaml import yaml
from tests.checkouts import plant
from tests.cli.conftest import PAGES, Shell

MANUAL = Path(__file__).parents[3] / "syncd" / "manual"
MORE = "# Use\n\nLike this, and like that.\n"
GITLAB = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/docs", "CI_DEFAULT_BRANCH": "main"}
GITHUB = {"GITHUB_ACTIONS": "true", "GITHUB_REPOSITORY": "team/docs", "GITHUB_REF_NAME": "main"}


@dataclass
class Came:
    """What a job came to."""

    code: int
    out: str
    err: str
    summary: str = ""


@dataclass
class Jobs:
    """A shared repository, and jobs that clone it."""

    shell: Shell
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]
    count: int = 0
    clone: Path = Path()
    environ: Mapping[str, str] = field(default_factory=dict)

    @property
    def origin(self) -> Path:
        return self.shell.root / "origin"

    def commit(self, files: Mapping[str, str], message: str = "Say more", branch: str = "main") -> str:
        plant(self.origin, files)
        self.shell.git("checkout", "--quiet", "-B", branch, cwd=self.origin)
        self.shell.git("add", "--all", cwd=self.origin)
        self.shell.git("commit", "--quiet", "--message", message, cwd=self.origin)
        return self.shell.git("rev-parse", "HEAD", cwd=self.origin).strip()

    def job(
        self,
        *words: str,
        environ: Mapping[str, str] | None = None,
        detached: bool = True,
        depth: int = 1,
        at: str = "HEAD",
        newest: str = "",
    ) -> Came:
        """Run `push --ci` in a fresh clone of one commit, on no branch, as CI services check out.

        Shape: `newest` is where the clone is to say that the branch is, such as the commit of the job.
        """
        self.count += 1
        self.clone = self.shell.root / f"job{self.count}"
        source = f"file://{self.origin}"
        self.shell.git("clone", "--quiet", f"--depth={depth}", source, str(self.clone), cwd=self.shell.root)
        if at != "HEAD":
            self.shell.git("fetch", "--quiet", f"--depth={depth}", "origin", at, cwd=self.clone)
        if detached:
            self.shell.git("checkout", "--quiet", "--detach", at, cwd=self.clone)
        if newest:
            self.shell.git("update-ref", "refs/remotes/origin/main", newest, cwd=self.clone)
        summary = self.shell.root / f"summary{self.count}.md"
        token = self.shell.token.read_text().strip()
        given = {"SYNCD_TOKEN": token, "GITHUB_STEP_SUMMARY": str(summary), **(GITHUB if environ is None else environ)}
        with self.patch.context() as patch:
            for name, value in given.items():
                patch.setenv(name, value)
            patch.chdir(self.clone)
            code = run(["push", "--ci", *words])
        said = self.capture.readouterr()
        assert self.shell.git("status", "--porcelain", "--ignored", cwd=self.clone) == ""
        assert "platform" not in self.shell.git("for-each-ref", cwd=self.clone)
        return Came(code, said.out, said.err, summary.read_text() if summary.exists() else "")

    def named(self, *words: str, **more: Any) -> Came:
        return self.job("--url", self.shell.url, "--space", self.shell.space, *words, **more)


@pytest.fixture
def jobs(shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Jobs:
    plant(shell.root / "origin", PAGES)
    shell.git("init", "--quiet", "--initial-branch=main", cwd=shell.root / "origin")
    shell.git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=shell.root / "origin")
    for name in ("GITHUB_ACTIONS", "GITLAB_CI", "GITHUB_HEAD_REF", "GITHUB_REF_NAME", "CI"):
        monkeypatch.delenv(name, raising=False)
    made = Jobs(shell, monkeypatch, capsys)
    made.commit({}, "Begin")
    return made


@pytest.mark.long
def test_a_job_proposes_tells_github_and_repeats_for_free(jobs: Jobs) -> None:
    tip = jobs.commit(
        {"use.md": MORE, "SUMMARY.md": PAGES["SUMMARY.md"] + "\n## New group\n\n* [X](x.md)\n", "x.md": "# X\n\ny\n"}
    )
    came = jobs.named()
    assert came.code == 0, came.err
    assert "change request #1 http" in came.out
    assert "## syncd: `main`" in came.summary
    assert "| ~ update | page `use.md` |" in came.summary
    assert re.search(r"\[#1\]\(http://[^)]+\) `Say more \[main#[0-9a-f]{6}\]`", came.summary)
    again = jobs.named("--json")
    assert again.code == 0
    document = json.loads(again.out)
    assert document["requests"].keys() == {"GET"}
    assert [request["number"] for request in document["change_requests"]] == [1]
    described = jobs.shell.syncd(
        *("api", "GET", f"/spaces/{jobs.shell.space}/change-requests/1", "--url", jobs.shell.url),
        *("--token-file", jobs.shell.token),
    )
    assert tip in described.stdout


@pytest.mark.long
def test_a_dry_run_shows_the_plan_and_returns_2_when_changes_wait(jobs: Jobs) -> None:
    assert jobs.named("--dry-run").code == 0
    jobs.commit({"use.md": MORE})
    came = jobs.named("--dry-run")
    assert came.code == 2
    assert "update page use.md" in came.out
    assert "Nothing was written" in came.out
    assert "| Would change |" in came.summary
    assert json.loads(jobs.named("--dry-run", "--json").out)["exit_code"] == 2


@pytest.mark.long
def test_a_committed_configuration_is_found(jobs: Jobs) -> None:
    url = {"SYNCD_URL": jobs.shell.url}
    text = f'[[repository]]\n[[repository.space]]\nid = "{jobs.shell.space}"\n'
    jobs.commit({"syncd.toml": text + 'directory = "docs"\n', **{f"docs/{path}": body for path, body in PAGES.items()}})
    assert jobs.job(environ={**GITHUB, **url}).code == 0
    jobs.commit({"docs/use.md": MORE})
    came = jobs.job(environ=url)
    assert came.code == 78, "no branch is known on a detached HEAD outside of a CI service"
    assert jobs.job("--url", jobs.shell.url, environ={}, detached=False).code == 0
    assert "update page use.md" in jobs.job("other", "--dry-run", environ=url).out


@pytest.mark.long
def test_a_branch_has_the_name_that_the_service_gives_it(jobs: Jobs) -> None:
    jobs.commit({"use.md": MORE}, branch="try")
    github = {**GITHUB, "GITHUB_HEAD_REF": "try", "GITHUB_BASE_REF": "main", "GITHUB_REF_NAME": "7/merge"}
    assert "[try#" in jobs.named(environ=github).out
    jobs.commit({"use.md": MORE + "\nMore.\n"}, branch="try")
    gitlab = {"GITLAB_CI": "true", "CI_PROJECT_PATH": "team/docs", "CI_COMMIT_REF_NAME": "try"}
    came = jobs.named("--quality", str(jobs.shell.root / "quality.json"), environ=gitlab)
    assert came.code == 0, came.err
    assert "section_start:" in came.out
    assert "#1" in came.out, "the project and the branch are the same, so the change request is"
    assert isinstance(json.loads((jobs.shell.root / "quality.json").read_text()), list)


@pytest.mark.parametrize("branch", ["syncd/platform", "syncd/platform-changes/docs/2", "syncd/main"])
def test_a_branch_that_syncd_made_is_not_proposed(jobs: Jobs, branch: str) -> None:
    jobs.commit({"use.md": MORE})
    came = jobs.named(environ={**GITHUB, "GITHUB_REF_NAME": branch})
    assert came.code == 0
    assert f"{branch} is one of syncd's own branches; nothing is proposed from it" in came.out
    assert "says what the branch says" not in came.summary
    assert "use.md" not in came.out


def test_a_directory_that_is_not_there_is_refused(jobs: Jobs) -> None:
    jobs.commit({"docs/use.md": MORE})
    space = jobs.shell.space
    came = jobs.job("--url", jobs.shell.url, "--space", f"{space}=doc")
    assert came.code == 78
    assert came.err.startswith(f"error: --space {space}=doc: main has no directory doc\n")
    assert f"did you mean --space {space}=docs?" in came.err
    assert f"main has no directory doc (did you mean --space {space}=docs?; if it deletes" in came.out
    assert "leave =DIR out" in jobs.job("--url", jobs.shell.url, "--space", f"{space}=use.md").err


def test_a_directory_that_the_branch_deleted_is_for_the_guard(jobs: Jobs) -> None:
    space = f"{jobs.shell.space}=docs"
    for words in (["--force", "propose.docs=1"], []):
        came = jobs.job("--url", jobs.shell.url, "--space", space, *words)
        assert came.code == (5 if words else 78)
    jobs.commit({"docs/use.md": MORE})
    jobs.shell.git("rm", "--quiet", "-r", "docs", cwd=jobs.origin)
    jobs.commit({}, "Delete all")
    came = jobs.job("--url", jobs.shell.url, "--space", space, depth=2)
    assert came.code == 5
    assert "would be deleted; main has no directory docs" in came.out
    assert "look whether the space is bound to the right directory" in came.out


def test_what_has_no_place_is_put_into_the_table_of_contents_of_the_space(jobs: Jobs) -> None:
    for path, text in PAGES.items():
        plant(jobs.origin / "docs", {path: text})
    jobs.commit({"docs/use.md": MORE}, "Move")
    report = jobs.shell.root / "quality.json"
    space = f"{jobs.shell.space}=docs"
    came = jobs.job("--url", jobs.shell.url, "--space", space, "--quality", str(report))
    assert came.code == 0
    places = {entry["location"]["path"] for entry in json.loads(report.read_text())}
    assert places == {"docs/SUMMARY.md"}


def test_a_report_that_cannot_be_written_hides_nothing_of_the_push(jobs: Jobs) -> None:
    jobs.commit({"use.md": MORE})
    came = jobs.named("--quality", str(jobs.shell.root), environ=GITLAB | {"CI_COMMIT_REF_NAME": "main"})
    assert came.code == 78
    assert "change request #1 http" in came.out
    assert "cannot be written: Is a directory" in came.err
    refused = jobs.job("--url", "nowhere", "--space", "x", "--quality", str(jobs.shell.root))
    assert "'nowhere' is not an address" in refused.err


def test_an_address_without_a_scheme_is_named(jobs: Jobs) -> None:
    came = jobs.job("--url", "127.0.0.1:8470", "--space", jobs.shell.space)
    assert came.code == 78
    assert "'127.0.0.1:8470' is not an address" in came.err
    assert "secret" not in jobs.job("--url", "http://me:secret@127.0.0.1", "--space", jobs.shell.space).err


def test_a_fork_without_a_token_is_told_why(jobs: Jobs) -> None:
    environ = {**GITHUB, "SYNCD_TOKEN": "", "GITHUB_EVENT_NAME": "pull_request", "GITHUB_HEAD_REF": "patch"}
    came = jobs.named(environ=environ)
    assert came.code == 78
    assert "comes from a fork" in came.err
    assert came.out.startswith("::error::there is no token")
    assert "### Failed" in came.summary


def read_use(jobs: Jobs, number: int) -> str:
    request = jobs.shell.syncd(
        *("api", "GET", f"/spaces/{jobs.shell.space}/change-requests/{number}/content/path/use"),
        *("--url", jobs.shell.url, "-F", "format=markdown", "--token-file", jobs.shell.token),
    )
    return str(json.loads(request.stdout)["markdown"])


def test_a_job_of_an_older_commit_takes_nothing_out_that_newer_ones_added(jobs: Jobs) -> None:
    older = jobs.commit({"use.md": MORE})
    newer = jobs.commit({"use.md": f"{MORE}\nAnd more.\n"}, "Say still more")
    assert jobs.named(depth=9).code == 0
    for repeated in ({"newest": ""}, {"newest": older, "environ": {**GITHUB, "GITHUB_RUN_ATTEMPT": "2"}}):
        came = jobs.named(depth=9, at=older, **repeated)
        assert came.code == 0
        assert f"#1 holds {newer[:10]}, which came after {older[:10]}; nothing was sent" in came.out
        assert "in step" not in came.out
        assert "And more." in read_use(jobs, 1)


def test_a_job_that_runs_again_takes_nothing_out_that_a_rewritten_branch_has(jobs: Jobs) -> None:
    older = jobs.commit({"use.md": MORE})
    assert jobs.named(depth=9).code == 0
    jobs.shell.git("reset", "--quiet", "--hard", "HEAD~1", cwd=jobs.origin)
    newer = jobs.commit({"use.md": f"{MORE}\nSaid anew.\n"}, "Say it anew")
    assert jobs.named(depth=9).code == 0
    environ = {**GITHUB, "GITHUB_RUN_ATTEMPT": "2"}
    came = jobs.named(depth=9, at=older, newest=older, environ=environ)
    assert came.code == 0
    assert f"#1 holds {newer[:10]}, which came after {older[:10]}; nothing was sent" in came.out
    assert "Said anew." in read_use(jobs, 1)


def test_a_branch_that_was_taken_back_is_proposed_as_it_is(jobs: Jobs) -> None:
    older = jobs.commit({"use.md": MORE})
    jobs.commit({"use.md": f"{MORE}\nAnd more.\n"}, "Say still more")
    assert jobs.named(depth=9).code == 0
    jobs.shell.git("reset", "--quiet", "--hard", older, cwd=jobs.origin)
    assert jobs.named(depth=9).code == 0
    assert "And more." not in read_use(jobs, 1)


def test_a_page_that_is_sent_nowhere_is_named_at_its_file(jobs: Jobs) -> None:
    jobs.commit({"draft.md": "# A draft of long ago\n", "install.md": "# Install\n\nOnce.\n"})
    assert jobs.named(depth=9).code == 0
    merge = ("api", "POST", f"/spaces/{jobs.shell.space}/change-requests/1/merge", "--url", jobs.shell.url)
    jobs.shell.fine(*merge, "--token-file", jobs.shell.token)
    summary = PAGES["SUMMARY.md"] + "* [Lost](lost.md)\n"
    jobs.commit({"new.md": "# New\n", "use.md": MORE, "SUMMARY.md": summary})
    came = jobs.named(depth=9)
    assert came.code == 0
    unlisted = "not listed in SUMMARY.md; list what is to be a page, and commit"
    missing = "listed in SUMMARY.md, but not committed; add it, or take the entry out, and commit"
    assert f"! not sent: new.md is {unlisted}" in came.out
    assert f"::warning file=new.md,line=1::not sent: it is {unlisted}" in came.out
    assert f"! not sent: lost.md is {missing}" in came.out
    assert f"`new.md:1`: not sent: it is {unlisted}" in came.summary.replace("\\", "")
    again = jobs.named("--dry-run", depth=9)
    assert f"! not sent: new.md is {unlisted}" in again.out
    assert "in step" not in again.out
    assert "The platform says what the branch says." not in again.summary
    document = json.loads(jobs.named("--json", depth=9).out)
    assert (document["unlisted"], document["missing"]) == (["new.md"], ["lost.md"])


def test_a_blank_token_is_none(jobs: Jobs) -> None:
    came = jobs.named(environ={**GITHUB, "SYNCD_TOKEN": "  "})
    assert came.code == 78, "as every command without a token"
    assert "store it as a secret of the CI service" in came.err


def test_a_job_takes_the_token_that_a_command_of_its_operator_prints(jobs: Jobs) -> None:
    command = json.dumps(["cat", str(jobs.shell.token)])
    file = jobs.shell.root / "job.toml"
    platform = f'[platform]\nurl = "{jobs.shell.url}"\ntoken_command = {command}\n'
    file.write_text(f'{platform}[[repository]]\npath = "."\n[[repository.space]]\nid = "{jobs.shell.space}"\n')
    came = jobs.job("--config", str(file), "--dry-run", environ={**GITHUB, "SYNCD_TOKEN": ""})
    assert came.code == 0, came.err


def test_a_summary_does_not_call_both_sides_one_while_a_manual_step_is_left(jobs: Jobs) -> None:
    assert "The platform says what the branch says." in jobs.named().summary
    jobs.commit({".gitbook/includes/x.md": "# X\n\nThis.\n"})
    came = jobs.named()
    assert came.code == 0
    assert "The platform says what the branch says." not in came.summary
    assert "syncd has nothing more to send." in came.summary
    assert "Create the reusable content" in came.summary


@pytest.mark.long
def test_a_conflict_is_an_annotation_at_its_page(jobs: Jobs) -> None:
    space, url = jobs.shell.space, jobs.shell.url
    first = jobs.named()
    assert first.code == 0
    jobs.commit({"use.md": "# Use\n\nLike mine.\n"})
    assert jobs.named().code == 0
    request = jobs.shell.syncd(
        *("api", "GET", f"/spaces/{space}/change-requests/1/content/path/use", "--url", url, "-F", "format=markdown"),
        *("--token-file", jobs.shell.token),
    )
    page = json.loads(request.stdout)["id"]
    edit = {
        "changes": [{"operation": "update_page", "page": page, "document": {"markdown": "# Use\n\nLike theirs.\n"}}]
    }
    body = jobs.shell.root / "edit.json"
    body.write_text(json.dumps(edit))
    jobs.shell.fine(
        *("api", "POST", f"/spaces/{space}/change-requests/1/content", "--url", url, "--input", body),
        *("--token-file", jobs.shell.token),
    )
    jobs.commit({"use.md": "# Use\n\nLike mine again.\n"})
    came = jobs.named()
    assert came.code == 6
    assert re.search(r"^::error file=use\.md,line=1::", came.out, re.MULTILINE)
    assert "`use.md:1`" in came.summary


@pytest.mark.parametrize(
    ("environ", "branch", "target", "is_fork"),
    [
        ({}, "", "", False),
        ({**GITHUB, "GITHUB_REF_TYPE": "branch"}, "main", "", False),
        ({**GITHUB, "GITHUB_REF_TYPE": "tag"}, "", "", False),
        (
            {**GITHUB, "GITHUB_HEAD_REF": "try", "GITHUB_BASE_REF": "main", "GITHUB_REF_NAME": "7/merge"},
            "try",
            "main",
            False,
        ),
        ({**GITHUB, "GITHUB_EVENT_NAME": "pull_request", "GITHUB_HEAD_REF": "try"}, "try", "", True),
        ({**GITLAB, "CI_COMMIT_REF_NAME": "try"}, "try", "main", False),
        ({**GITLAB, "CI_COMMIT_REF_NAME": "v1", "CI_COMMIT_TAG": "v1"}, "", "main", False),
        ({**GITLAB, "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "try", "CI_COMMIT_REF_NAME": "x"}, "try", "main", False),
        ({**GITLAB, "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": "other/docs"}, "", "main", True),
    ],
)
def test_a_service_says_which_branch_a_job_is_about(
    environ: Mapping[str, str], branch: str, target: str, is_fork: bool
) -> None:
    told = read_ci_job(environ)
    assert (told.branch, told.target, told.is_fork) == (branch, target, is_fork)


@pytest.mark.parametrize(
    ("name", "event", "is_fork"),
    [
        ("pull_request", '{"pull_request": {"head": {"repo": {"full_name": "team/docs"}}}}', False),
        ("pull_request", '{"pull_request": {"head": {"repo": {"full_name": "evil/docs"}}}}', True),
        ("pull_request_target", '{"pull_request": {"head": {"repo": {"full_name": "evil/docs"}}}}', True),
        ("pull_request_target", '{"pull_request": {"head": {"repo": null}}}', True),
        ("pull_request_review", "{}", True),
        ("push", "{}", False),
    ],
)
def test_a_pull_request_is_a_strangers_unless_the_event_says_it_is_ours(
    name: str, event: str, is_fork: bool, tmp_path: Path
) -> None:
    (tmp_path / "event.json").write_text(event)
    environ = {**GITHUB, "GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}
    assert read_ci_job(environ).is_fork is is_fork


@pytest.mark.parametrize(
    ("event", "target"),
    [('{"repository": {"default_branch": "trunk"}}', "trunk"), ("[]", ""), ("not JSON", ""), (None, "")],
)
def test_the_default_branch_is_read_from_the_event(tmp_path: Path, event: str | None, target: str) -> None:
    if event is not None:
        (tmp_path / "event.json").write_text(event)
    assert read_ci_job({**GITHUB, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")}).target == target


@pytest.mark.parametrize(
    ("event", "pushed", "former"),
    [
        ('{"before": "1234", "after": "5678", "forced": false}', "5678", "1234"),
        ('{"before": "1234", "after": "5678", "forced": true}', "5678", ""),
        ("{}", "", ""),
    ],
)
def test_what_a_branch_was_is_read_from_the_event_of_a_push(
    tmp_path: Path, event: str, pushed: str, former: str
) -> None:
    (tmp_path / "event.json").write_text(event)
    told = read_ci_job({**GITHUB, "GITHUB_EVENT_PATH": str(tmp_path / "event.json")})
    assert (told.pushed, told.former) == (pushed, former)


@pytest.mark.parametrize(
    "words",
    [
        ("--url", "http://127.0.0.1:1"),
        ("--space", "abc"),
        ("--url", "http://127.0.0.1:1", "--space", "a", "--config", "x"),
    ],
)
def test_flags_name_platform_and_space_together(
    words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    monkeypatch.chdir(tmp_path)
    assert run(["push", "--ci", *words]) == 64


def test_the_options_of_ci_need_ci() -> None:
    assert run(["push", "--dry-run"]) == 64


def recipes() -> list[tuple[str, str]]:
    """Every YAML that people are told to copy into a CI job: files, and blocks of the pages."""
    found = [(name, read_example(name)) for name in ("github-action", "github-workflow", "gitlab")]
    for page in sorted((MANUAL / "how-to" / "ci").glob("git*.md")):
        found += [(page.name, block) for block in re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.M | re.S)]
    return found


@pytest.mark.parametrize(("page", "text"), recipes())
def test_every_recipe_is_yaml_and_its_commands_can_be_typed(page: str, text: str) -> None:
    import shlex

    from tests.test_docs import COMMANDS, options

    parsed = yaml.load(text, at=page)
    assert isinstance(parsed, dict)
    lines = re.findall(r"(?:run: |- |^\s+|&& |\|\| )(syncd [^\n&|]*)", text, re.MULTILINE)
    assert lines or page == "github-action"
    for line in lines:
        words = shlex.split(line.split(" > ")[0])[1:]
        used = {word.partition("=")[0] for word in words if word.startswith("--")}
        assert words[0] in COMMANDS
        assert used <= set(options(COMMANDS[words[0]])), line
