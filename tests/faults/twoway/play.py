"""Plays a schedule: each step by its actor, told to the ledger by what the actor saw before and after."""

from tests.faults.twoway.branch_deeds import BranchDeeds
from tests.faults.twoway.profiles import SYNCING
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.writer import MAIN, ORIGIN, Writer


class Player(BranchDeeds):
    """Everybody who acts in a world."""

    def play(self) -> None:
        """Play every step."""
        for step in self.schedule.steps:
            self.story.append(f"# {step.id}. {step.actor} {step.action} {step.fault}".rstrip())
            self.step(step)

    def step(self, step: Step) -> None:
        """Play one step."""
        if step.actor in ("web", "rev", "boss"):
            self.on_web(step)
        elif step.actor in self.writers:
            writer = self.writers[step.actor]
            special = getattr(self, f"_{step.action.replace('-', '_')}", None)
            if step.action not in SYNCING:
                self.unlock(writer)
            if writer.is_busy():
                self.finish(writer)
            has_git_alone = writer.other == ORIGIN
            if has_git_alone:  # so that it is syncd that merges, not Git, which knows less of pages
                self.exchange(writer)
            if step.action in SYNCING and has_git_alone:
                pass
            elif step.action in ("sync", "push", "pull", "serve"):
                self.sync(writer, step.action, step.fault)
            elif special is not None:
                special(writer, step)
            else:
                with self._editing(writer, step):
                    writer.write(step)
                writer.commit(f"{step.action} {step.id}")
            if has_git_alone and step.action not in SYNCING:
                self.exchange(writer)
            self.hear(writer)

    def tidy(self, writer: Writer) -> None:
        """Finish, take out what was put aside, commit everything, and show main."""
        self.unlock(writer)
        self.finish(writer)
        self._go_on_with(writer, writer.branch())
        writer.commit("tidy up")
        while writer.stashes:
            self._unstash(writer, Step(0, writer.name, "unstash"))
            writer.commit("tidy up")
        for branch in writer.other_branches() if self.world.shape.topics else ():
            self._go_on_with(writer, branch)
        self.show(writer, MAIN)

    def _go_on_with(self, writer: Writer, branch: str) -> None:
        """Edit a branch whose change request was archived, so that what it has is proposed again."""
        if (writer.name, branch) in self._stopped:
            self._stopped.remove((writer.name, branch))
            self.show(writer, branch)
            self.step(Step(800 + len(self.story), writer.name, "edit"))
