"""What a writer does with branches beside main: begin, show, join, pick from, rename and delete them."""

from tests.faults.twoway.git_deeds import GitDeeds
from tests.faults.twoway.pages import by_mark, tokens_of
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.world import git
from tests.faults.twoway.writer import MAIN, Writer


class BranchDeeds(GitDeeds):
    """Deeds with branches; each of them is tracked, so that it has a change request of its own."""

    def show(self, writer: Writer, branch: str) -> None:
        """Let the work tree show a branch; what is not committed is committed first."""
        if branch != writer.branch():
            writer.commit(f"before {branch}")
            writer.git("switch", "--quiet", branch)
            writer.told.append(f"git switch {branch}")

    def _choose_other(self, writer: Writer, step: Step, *, but: str = "") -> str:
        """The n-th branch that is not shown, or ""."""
        others = [branch for branch in writer.other_branches() if branch != but]
        return others[step.n % len(others)] if others else ""

    def _branch(self, writer: Writer, step: Step) -> None:
        """Begin a branch at the one that is shown."""
        writer.git("switch", "--quiet", "--create", f"t{step.id}")
        writer.told.append(f"git switch --create t{step.id}")

    def _switch(self, writer: Writer, step: Step) -> None:
        if branch := self._choose_other(writer, step):
            self.show(writer, branch)

    def _join(self, writer: Writer, step: Step) -> None:
        """Merge another branch into the one that is shown."""
        if branch := self._choose_other(writer, step):
            writer.commit(f"before merge {step.id}")
            self._merge(writer, branch)

    def _pick(self, writer: Writer, step: Step) -> None:
        """Copy the newest commit of another branch."""
        if branch := self._choose_other(writer, step):
            writer.commit(f"before cherry-pick {step.id}")
            self._cherry_pick(writer, branch)

    def _pick_from(self, writer: Writer, step: Step) -> None:
        """Copy the newest commit of another clone, as people do who fetch from each other."""
        others = [other for other in self.writers.values() if other is not writer]
        if others:
            other = others[step.n % len(others)]
            writer.commit(f"before cherry-pick {step.id}")
            writer.git("fetch", "--quiet", str(other.path), other.branch())
            writer.told.append(f"git fetch ../{other.name} {other.branch()}")
            before = by_mark(writer.view())
            self._cherry_pick(writer, "FETCH_HEAD")
            self.copied |= {mark for mark, page in by_mark(writer.view()).items() if before.get(mark) != page}

    def _cherry_pick(self, writer: Writer, commit: str) -> None:
        writer.told.append(f"git cherry-pick {commit}")
        stopped = git(writer.path, "cherry-pick", commit, check=False).returncode
        if writer.unmerged():
            self._keep_both(writer, "cherry-pick", bool(stopped))
        else:  # a merge, or nothing that the branch does not have
            self.finish(writer)

    def _rename_branch(self, writer: Writer, step: Step) -> None:
        if branch := self._choose_other(writer, step, but=MAIN):
            self._free_reviewed(writer, branch)
            writer.git("branch", "--move", branch, f"t{step.id}")
            writer.told.append(f"git branch --move {branch} t{step.id}")

    def _delete_branch(self, writer: Writer, step: Step) -> None:
        """Give up a branch: what it alone says may go, and what it alone deleted may stay."""
        if branch := self._choose_other(writer, step, but=MAIN):
            said = tokens_of(writer.view_of(f"refs/heads/{branch}"))
            self._free_reviewed(writer, branch)
            writer.git("branch", "--quiet", "--delete", "--force", branch)
            writer.told.append(f"git branch -D {branch}")
            if self.world.shape.upstream:
                gone = git(writer.path, "push", "--quiet", "origin", "--delete", branch, check=False).returncode
                writer.told.append(f"git push origin --delete {branch}   # {gone}")
            left = set[str]().union(*map(tokens_of, self.others("", requests=False)))
            self.ledger.free((said - left) | (left - said & self.ledger.named("dead")), f"{step.id} delete {branch}")

    def _free_reviewed(self, writer: Writer, branch: str) -> None:
        """The change request of a branch is archived that is gone: what reviewers did to it need not stay."""
        for space in self.world.spaces:
            for request in self.web.requests(space.id):
                if request.is_ours and (request.owner, request.branch) == (writer.name, branch):
                    self.free_reviewed(request, tokens_of(self.web.view(space.id, request.id)))
