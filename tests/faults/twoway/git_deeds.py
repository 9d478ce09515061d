"""What a writer does with Git beyond a commit: amend, reset, squash, rebase, merge, stash."""

from collections import Counter

from tests.faults.twoway.pages import TITLE, by_mark, tokens_of
from tests.faults.twoway.program import Ran
from tests.faults.twoway.runs import Runs
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.world import git
from tests.faults.twoway.writer import Writer

_CONTINUES = 12
"""Commits of a rebase that are settled, at most."""
_LEAST_COMMITS = 2
"""Commits that `git rebase -i` is worth while for."""
_REVERTED = 5
"""The newest commits of a branch, of which one is taken back."""
_REBASE_EDITS = ("1s/^pick/drop/", "1s/^pick/reword/", "2s/^pick/squash/", "1{h;d};2G", "2s/^pick/drop/")
"""What is done to the list of commits, as commands of sed."""


class GitDeeds(Runs):
    """Deeds in a clone that Git alone carries out."""

    def unlock(self, writer: Writer) -> None:
        """What a person does whom Git tells that its lock is there: run syncd once more, or remove it as Git says."""
        lock = writer.path / ".git" / "index.lock"
        if lock.exists() and self.schedule.seed % 2:
            self.run(writer, "status")
            if lock.exists():
                self.fail("locked out", f"{writer.name}: {lock} is still there after syncd status")
        if lock.exists():
            lock.unlink()
            writer.told.append("rm .git/index.lock")

    def _dirty(self, writer: Writer, step: Step) -> None:
        with self._editing(writer, step):
            writer.write(Step(step.id, step.actor, "edit", step.n, step.m))

    def _asset_replace(self, writer: Writer, step: Step) -> None:
        """A picture gets other bytes where it is: syncd says that a person has to do this on the platform, too."""
        before = tokens_of(writer.view())
        with self._editing(writer, step):
            writer.write(step)
        after = tokens_of(writer.view())
        self.unsendable |= after - before
        self.ledger.free(before - after, f"{step.id} {writer.name} {step.action}")
        writer.commit(f"{step.action} {step.id}")

    def _transfer(self, writer: Writer, step: Step) -> None:
        """A page moves to another space: who edits or deletes it meanwhile has not seen that, so both spaces may have
        it.
        """
        before = by_mark(writer.view())
        with self._editing(writer, step):
            writer.write(step)
        after = by_mark(writer.view())
        moved = {mark for mark in before.keys() & after.keys() if before[mark].place != after[mark].place}
        self.mixed |= moved
        self.copied |= moved
        writer.commit(f"{step.action} {step.id}")

    def _amend(self, writer: Writer, step: Step) -> None:
        can = writer.owns_tip()
        former = writer.git("rev-parse", "HEAD").strip()
        with self._editing(writer, step):
            writer.write(Step(step.id, step.actor, ["edit", "replace", "drop"][step.m % 3], step.n, step.m))
        if can:
            writer.git("commit", "--quiet", "--all", "--amend", "--allow-empty", "--no-edit")
            writer.told.append("git commit --all --amend --allow-empty")
            self._free_left_out(writer, former, f"{step.id} {writer.name} {step.action}")
        else:
            writer.commit(f"amend {step.id}")

    def _free_left_out(self, writer: Writer, former: str, why: str) -> None:
        """A page that an amendment leaves as the commit before has it is one that the branch leaves out: of what of it
        was published, this takes nothing back. Source: docs/decisions/0002-one-recorded-base.md."""
        amended = writer.git("diff", "--name-only", former, "HEAD").split("\n")
        changed = writer.git("diff", "--name-only", "HEAD~1", "HEAD").split("\n")
        if set(amended) - set(changed):
            self.ledger.free([name for name in self.ledger.named("dead") if self.ledger.tokens[name].why == why], why)

    def _revert(self, writer: Writer, step: Step) -> None:
        """Take back a commit of the branch, of whomever it is, with another one; nothing where Git finds a conflict."""
        commits = writer.git("rev-list", "--first-parent", "HEAD").split()[:-1][:_REVERTED]
        if not commits or not writer.is_clean():
            return
        commit = commits[step.n % len(commits)]
        is_merge = bool(writer.git("rev-list", "--no-walk", "--merges", commit).strip())
        words = ["revert", "--no-edit", *(["--mainline=1"] if is_merge else []), commit]
        before, is_quiet = tokens_of(writer.view()), self._is_quiet()
        with self._editing(writer, step):
            stopped = git(writer.path, *words, check=False).returncode
            if stopped:
                git(writer.path, "revert", "--abort", check=False)
        writer.told.append(f"git {' '.join(words)}{' && git revert --abort' if stopped else ''}")
        if is_quiet:
            self.ledger.revive(tokens_of(writer.view()) - before, f"{step.id} {writer.name} revert")

    def _reset(self, writer: Writer, step: Step) -> None:
        many = len(writer.git("rev-list", "--first-parent", "HEAD").split())
        back = min(1 + step.n % 3, many - 2)
        if back > 0:
            with self._rewriting(writer, step):
                writer.git("reset", "--quiet", "--hard", f"HEAD~{back}")
            writer.told.append(f"git reset --hard HEAD~{back}")
            self._free_unknown_deletions(writer, f"{step.id} reset")

    def _free_unknown_deletions(self, writer: Writer, why: str) -> None:
        """A reset that takes away both a word and its deletion says nothing of what was proposed before."""
        known = self.ledger.tokens
        own = (
            name for name in self.ledger.named("dead") if writer.name in (known[name].author, *known[name].why.split())
        )
        self.ledger.free([name for name in own if not writer.git("log", "--format=%H", f"-S{name}", "HEAD")], why)

    def _undo(self, writer: Writer, step: Step) -> None:
        """Take back what was done last: a push, with its commits or without, or what was merged."""
        is_reset = step.m % 3 == 0
        own = [one for space in self.world.spaces for one in self.web.requests(space.id) if one.owner == writer.name]
        said = {one.id: tokens_of(self.web.view(one.space, one.id)) for one in own if one.is_ours}
        with self._rewriting(writer, step) if is_reset else self._editing(writer, step):
            self.run(writer, "undo", "--yes", *(["--reset"] if is_reset else []))
        if is_reset:
            self._free_unknown_deletions(writer, f"{step.id} undo")
        live = {one.id for space in self.world.spaces for one in self.web.requests(space.id)}
        merged = {one.id for space in self.world.spaces for one in self.web.requests(space.id, "merged")}
        for request in own:
            if request.is_ours and request.id not in live | merged:
                self.note_archived(request, said[request.id])

    def _squash(self, writer: Writer, step: Step) -> None:
        base = writer.git("merge-base", "HEAD", writer.other).strip()
        if len(writer.git("rev-list", f"{base}..HEAD").split()) > 1:
            writer.git("reset", "--quiet", "--soft", base)
            writer.git("commit", "--quiet", "--allow-empty", "--message", f"squash {step.id}")
            writer.told.append(f"git reset --soft $(git merge-base HEAD {writer.other}) && git commit")

    def _rebase_commits(self, writer: Writer, step: Step) -> None:
        """Drop, reword, squash or exchange commits that the platform has not merged (`git rebase -i`)."""
        many = writer.count_own_commits()
        if many < _LEAST_COMMITS or not writer.is_clean():
            return
        edit = _REBASE_EDITS[step.m % len(_REBASE_EDITS)]
        with self._rewriting(writer, step):
            words = ["-c", f"sequence.editor=sed -i {edit}", "-c", "core.editor=true", "rebase", "--interactive"]
            writer.told.append(f"git -c 'sequence.editor=sed -i {edit}' -c core.editor=true rebase -i HEAD~{many}")
            stopped = git(writer.path, *words, f"HEAD~{many}", check=False).returncode
            self._keep_both(writer, "rebase", bool(stopped))
        self._free_unknown_deletions(writer, f"{step.id} rebase -i")

    def _rebase(self, writer: Writer, step: Step) -> None:
        if not writer.is_clean():
            writer.commit(f"before rebase {step.id}")
        with self._rewriting(writer, step):
            writer.told.append(f"git rebase {writer.other}")
            stopped = git(writer.path, "rebase", writer.other, check=False).returncode
            self._keep_both(writer, "rebase", bool(stopped))

    def _git_merge(self, writer: Writer, step: Step) -> None:
        if not writer.is_clean():
            writer.commit(f"before merge {step.id}")
        self._merge(writer, writer.other)

    def _merge(self, writer: Writer, ref: str) -> None:
        writer.told.append(f"git merge {ref}")
        stopped = git(writer.path, "merge", "--no-edit", ref, check=False).returncode
        self._keep_both(writer, "merge", bool(stopped))

    def exchange(self, writer: Writer) -> Ran:
        """Bring the branch that a clone shows what its Git remote has, and push it, and others that go with it."""
        if not writer.is_clean():
            writer.commit("before git pull")
        writer.git("fetch", "--quiet", "origin")
        branch = writer.branch()
        if git(writer.path, "rev-parse", "--verify", f"origin/{branch}", check=False).returncode == 0:
            self._merge(writer, f"origin/{branch}")
        done = git(writer.path, "push", "--quiet", "origin", f"HEAD:{branch}", check=False)
        writer.told.append(f"git push   # {done.returncode}")
        for other in writer.other_branches() if self.world.shape.topics else ():
            git(writer.path, "push", "--quiet", "origin", other, check=False)
        self.hear(writer)
        return Ran(("git", "push"), 6 if done.returncode else 0, done.stderr)

    def _keep_both(self, writer: Writer, command: str, stopped: bool) -> None:
        """Settle the conflicts of a merge or rebase, commit by commit, or give it up."""
        for _ in range(_CONTINUES):
            if not stopped or not writer.is_busy():
                break
            base = git(writer.path, "merge-base", "HEAD", "MERGE_HEAD", check=False).stdout.strip()
            sides = [
                writer.view_of(ref) for ref in ("HEAD", "MERGE_HEAD", "REBASE_HEAD", "CHERRY_PICK_HEAD", base) if ref
            ]
            kept = writer.keep_both()
            if kept is None:
                break
            self.counts["kept both"] += 1
            paths, given_up = kept
            # Git takes files that exchanged names for two edits: a file in conflict may have the texts of two pages.
            marks = {side[path].mark for side in (*sides, writer.view()) for path in paths if path in side}
            # What a person has kept of both sides is back by their word; nothing else of the page may come back.
            self.ledger.contest(marks, f"git {command} in {writer.name}", kept=tokens_of(writer.view()))
            if any(path.endswith("SUMMARY.md") for path in paths):
                self._accept_titles(writer)
            listed = Counter(page.mark for page in writer.view().values())
            self.mixed |= {mark for mark in marks if listed[mark] > 1}
            self.ledger.free({token for line in given_up for token in TITLE.findall(line)}, f"git {command}")
            more = "commit --no-edit" if command == "merge" else f"{command} --continue"
            stopped = bool(git(writer.path, *more.split(), check=False).returncode)
            if stopped and command != "merge" and not writer.unmerged():
                stopped = bool(git(writer.path, command, "--skip", check=False).returncode)
        self.finish(writer)

    def _accept_titles(self, writer: Writer) -> None:
        """Let titles be where a person has put them who settled a table of contents line by line.

        Git shows the lines of both sides, and pages that have exchanged names stand in them under both titles.
        """
        known, gone = self.ledger.tokens, self.ledger.named("dead")
        for page in writer.view().values():
            foreign = {title for title in page.titles & known.keys() if known[title].page != page.mark}
            self.mixed |= {page.mark} if foreign else set()
            self.ledger.free(foreign | (page.titles & gone), f"table of contents of {writer.name}")

    def finish(self, writer: Writer) -> None:
        """Give up what is not finished."""
        if writer.is_busy():
            heads = {"merge": "MERGE_HEAD", "cherry-pick": "CHERRY_PICK_HEAD"}
            busy = (command for command, head in heads.items() if (writer.path / ".git" / head).exists())
            command = next(busy, "rebase")
            git(writer.path, command, "--abort", check=False)
            git(writer.path, "reset", "--quiet", "--hard", check=False)
            writer.told.append(f"git {command} --abort")

    def _stash(self, writer: Writer, step: Step) -> None:
        if not writer.is_clean():
            writer.git("stash", "--include-untracked")
            writer.stashes += 1
            writer.told.append("git stash -u")

    def _unstash(self, writer: Writer, step: Step) -> None:
        if writer.stashes and writer.is_clean():
            done = git(writer.path, "stash", "pop", check=False)
            writer.told.append("git stash pop")
            if done.returncode and (kept := writer.keep_both()) is None:
                writer.git("checkout", "--quiet", "--theirs", ".", check=False)
                writer.git("add", "--all")
            elif done.returncode and kept is not None:
                self.ledger.contest({p.mark for p in writer.view().values()}, "stash pop")
                self.ledger.free({token for line in kept[1] for token in TITLE.findall(line)}, "stash pop")
            writer.git("reset", "--quiet")
            git(writer.path, "stash", "drop", check=False) if done.returncode else None
            writer.stashes -= 1
