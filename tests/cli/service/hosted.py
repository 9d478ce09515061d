"""A team around a Git host: a service on a bare clone, and somebody who has Git only."""

import shutil
import sys

from tests.cli.sync.two_way import Team, Web, Writer
from tests.stopping import run_until_stopped

MIRROR = "syncd/platform"


class Hosted:
    """A space, a hosted repository with its content, the service's bare clone, and a clone of a person with Git only.

    Shape: `git` is that person; `host` and `clone` are the hosted repository and the service's, to look into.
    """

    def __init__(self, team: Team, *, upstream: str = "", spaces: int = 1) -> None:
        self.team, self.root = team, team.root
        self.webs = [team.space(f"docs{number}") for number in range(spaces)]
        self.web: Web = self.webs[0]
        words = [self.web.space] if spaces == 1 else [f"{web.space}=docs{n}" for n, web in enumerate(self.webs)]
        team.clone(*words, name="seed")
        everybody = Writer(self.root)
        everybody.git("clone", "--quiet", "--bare", "seed", "hosted.git")
        everybody.git("clone", "--quiet", "--bare", "hosted.git", "service.git")
        everybody.git("clone", "--quiet", "hosted.git", "person")
        self.host, self.clone = Writer(self.root / "hosted.git"), Writer(self.root / "service.git")
        self.git, self.service = Writer(self.root / "person"), everybody
        self.config = self.root / "config.toml"
        self.configure(upstream)

    def configure(self, upstream: str = "", repository: str = "") -> None:
        """Write the service's configuration, with more keys of the upstream and of the repository."""
        spaces = "".join(
            f'[[repository.space]]\nid = "{web.space}"\nname = "{self._name(number)}"\ndirectory = "{directory}"\n'
            for number, web in enumerate(self.webs)
            for directory in (".",) * (len(self.webs) == 1) or (self._name(number),)
        )
        self.config.write_text(
            f'[platform]\nurl = "{self.team.url}"\ntoken_file = "{self.team.token}"\n'
            f'[[repository]]\npath = "{self.clone.path}"\nname = "docs"\ninstance = "00000a"\n{repository}\n'
            f'{spaces}[repository.upstream]\nurl = "{self.host.path}"\n{upstream}\n'
        )

    def _name(self, number: int) -> str:
        return "docs" if len(self.webs) == 1 else f"docs{number}"

    def sync(self, code: int = 0) -> str:
        """Let the service run once, and return what it says."""
        return self.service.run("sync", "--config", self.config, code=code)

    def replace_clone(self) -> None:
        """Let the service work in a new clone, which knows what the Git host has, and nothing else."""
        shutil.rmtree(self.clone.path)
        self.service.git("clone", "--quiet", "--bare", "hosted.git", "service.git")

    def killed(self, point: str) -> None:
        """Let the service run, and kill it at a fault point."""
        with run_until_stopped(
            point, [sys.executable, "-m", "syncd", "sync", "--config", str(self.config)], cwd=self.root
        ):
            pass

    def publish(self, name: str, old: str, new: str) -> None:
        """The person with Git takes in what the host has, changes words of a page, and pushes."""
        self.git.git("pull", "--quiet", "--no-rebase", "--no-edit")
        self.git.edit(name, old, new)
        self.git.git("push", "--quiet")

    def merge(self, branch: str, *conflicts: str) -> None:
        """The person with Git fetches and merges a branch of the host, and meets just these conflicts."""
        self.git.git("fetch", "--quiet", "--prune")
        self.git.git("merge", "--quiet", "--ff-only", "origin/main")
        self.git.git("merge", "--quiet", "--no-edit", f"origin/{branch}", code=1 if conflicts else 0)
        assert self.git.git("diff", "--name-only", "--diff-filter=U").split() == list(conflicts)

    def settle(self, name: str, text: str) -> None:
        """The person with Git says how a page is to be, commits the merge, and pushes."""
        self.git.write(name, text)
        self.git.commit("Settle it")
        self.git.git("push", "--quiet")

    def branches(self) -> list[str]:
        """Return the branches that the host has."""
        return self.host.git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()

    def refs(self) -> str:
        """Return all refs of the host and of the service's clone, and what they name."""
        return self.host.git("show-ref") + self.clone.git("show-ref")
