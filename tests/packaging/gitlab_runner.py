"""Carries out a pipeline of GitLab CI from its own file, as far as the recipes of syncd need it."""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from syncd.layout.yaml import yaml
from tests.packaging.github_runner import JobEnd, git, make_python

_STAGES = ("build", "test", "deploy")


@dataclass(frozen=True)
class Pipeline:
    """What a pipeline is for: a branch, or a merge request of it; `is_fork` is one that runs in a fork."""

    branch: str
    target: str = ""
    is_fork: bool = False


@dataclass
class GitLabRunner:
    """A repository on the host, with the variables of its project, and a directory for the jobs."""

    origin: Path
    directory: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, pipeline: Pipeline, *, only: str = "") -> dict[str, JobEnd]:
        """Given a pipeline, carry out its jobs stage by stage, and return their ends.

        Shape: what follows a stage that failed is left out. `only` names the one job that is wanted.
        """
        jobs = self._read_jobs(pipeline.branch)
        ends: dict[str, JobEnd] = {}
        for stage in _STAGES:
            if any(end.code for end in ends.values()):
                break
            for name, job in jobs.items():
                if job.get("stage", "test") == stage and only in ("", name) and self._has_rule(job, pipeline):
                    ends[name] = self._run_job(job, pipeline)
        return ends

    def _read_jobs(self, branch: str) -> dict[str, dict[str, Any]]:
        """The jobs of .gitlab-ci.yml and of what it includes, with what they extend."""
        top = yaml.load(git(self.origin, "show", f"{branch}:.gitlab-ci.yml"), at=".gitlab-ci.yml")
        parts = dict(top)
        for included in parts.pop("include", ()):
            path = included["local"].lstrip("/")
            parts |= yaml.load(git(self.origin, "show", f"{branch}:{path}"), at=path)
        jobs = {name: part for name, part in parts.items() if not name.startswith(".")}
        return {name: {**parts.get(job.get("extends", ""), {}), **job} for name, job in jobs.items()}

    def _has_rule(self, job: Mapping[str, Any], pipeline: Pipeline) -> bool:
        known = self._describe(pipeline)
        for rule in job["rules"]:
            found = re.fullmatch(r"\$(\w+) == (?:\"([^\"]*)\"|\$(\w+))", rule["if"])
            assert found, f"{rule['if']}: this runner cannot tell"
            right = known.get(found[3], "") if found[3] else found[2]
            if known.get(found[1]) == right:
                return True
        return False

    def _describe(self, pipeline: Pipeline) -> dict[str, str]:
        """The predefined variables, and those of the project, which a fork does not have."""
        known = {
            "GITLAB_CI": "true", "CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_REF_NAME": pipeline.branch,
            "CI_COMMIT_REF_SLUG": pipeline.branch, "CI_PROJECT_PATH": "evil/docs" if pipeline.is_fork else "team/docs",
        }  # fmt: skip
        if pipeline.target:
            known |= {
                "CI_PIPELINE_SOURCE": "merge_request_event",
                "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": pipeline.branch,
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": pipeline.target,
                "CI_MERGE_REQUEST_SOURCE_PROJECT_PATH": known["CI_PROJECT_PATH"],
            }
        else:
            known |= {"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": pipeline.branch}
        return known if pipeline.is_fork else {**known, **self.variables}

    def _run_job(self, job: Mapping[str, Any], pipeline: Pipeline) -> JobEnd:
        home = Path(tempfile.mkdtemp(prefix="job-", dir=self.directory))
        work = home / "work"
        for folder in (work, home / "home", home / "temp"):
            folder.mkdir(parents=True)
        environ = {**self._describe(pipeline), **job.get("variables", {}), **self._describe(pipeline)}
        self._check_out(work, pipeline, environ.get("GIT_DEPTH", "20"))
        path = os.pathsep.join([str(make_python(home / "python")), "/usr/local/bin", "/usr/bin", "/bin"])
        places = {"HOME": str(home / "home"), "TMPDIR": str(home / "temp"), "CI_PROJECT_DIR": str(work), "PATH": path}
        script = "\n".join([*job.get("before_script", ()), *job["script"]])
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", script],
            cwd=work, env={"LANG": "C.UTF-8", **environ, **places}, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
        )  # fmt: skip
        reports = [work / path for path in job.get("artifacts", {}).get("reports", {}).values()]
        assert all(report.is_file() for report in reports), done.stdout
        end = JobEnd(done.returncode, done.stdout, "".join(report.read_text() for report in reports))
        shutil.rmtree(home)
        return end

    def _check_out(self, work: Path, pipeline: Pipeline, depth: str) -> None:
        """As the runner of GitLab does: one ref, with so many commits, on no branch; all refs with depth 0."""
        git(work, "init", "--quiet")
        git(work, "remote", "add", "origin", f"file://{self.origin}")
        here = f"refs/remotes/origin/{pipeline.branch}"
        refs = "+refs/heads/*:refs/remotes/origin/*" if depth == "0" else f"+refs/heads/{pipeline.branch}:{here}"
        git(work, "fetch", "--quiet", *(() if depth == "0" else (f"--depth={depth}",)), "origin", refs)
        git(work, "checkout", "--quiet", "--force", "--detach", here)
