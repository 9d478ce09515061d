"""What people do on the platform, told to the ledger by what they saw."""

from dataclasses import replace

from tests.faults.twoway.carrying import read_orders
from tests.faults.twoway.editor import Request
from tests.faults.twoway.pages import tokens_of
from tests.faults.twoway.participants import Participants
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.world import Space
from tests.faults.twoway.writer import Writer

_CARRIED = 3
"""Times that the comments of a change request are looked through."""


class WebDeeds(Participants):
    """Deeds of editors, reviewers and whoever merges."""

    def on_web(self, step: Step) -> None:
        with self._acting:
            space = self.world.spaces[step.m % len(self.world.spaces)]
            past = self._past.setdefault(space.id, [])
            if (revision := self.web.revision(space.id)) not in past and self.web.view(space.id):
                past.append(revision)
            if step.actor == "web" and step.action == "draft-merge":
                self._merge_draft(step)
            elif step.actor == "web" and step.action == "restore":
                self._restore(step, space, past[step.n % len(past)])
            elif step.actor == "web":
                self._write(step, space, None)
            else:
                requests = [one for one in self.web.requests(space.id) if one.is_ours]
                if requests:
                    request = requests[step.n % len(requests)]
                    act = self._write if step.actor == "rev" else self._decide
                    act(step, space, request)
            self.story += self.web.told
            self.web.told.clear()

    def _write(self, step: Step, space: Space, request: Request | None) -> None:
        id = request.id if request else ""
        before = self.web.view(space.id, id)
        writes = self.web.operations(step, space.id, before, id)
        if not writes:
            return
        if step.action in ("draft-edit", "draft-link"):
            self._drafts.append(self.web.draft(space.id, writes))
            id = self._drafts[-1].id
        elif request is None:
            self.web.publish(space.id, writes)
        else:
            self.web.write(space.id, id, writes)
            self.unread.add(id)
        after = self.web.view(space.id, id)
        self.ledger.edit(
            step.actor, before, after, f"{step.id} {step.actor} {step.action}", lambda: self.others(request or "main")
        )

    def _restore(self, step: Step, space: Space, revision: str) -> None:
        """An editor makes main content what an older revision was."""
        before, then = self.web.view(space.id), self.web.view_of(space.id, revision)
        writes = self.web.restoring(space.id, before, then, revision)
        if not writes:
            return
        is_quiet = self._is_quiet()
        self.web.told.append(f"web: restore revision {revision}: {writes}")
        self.web.publish(space.id, writes)
        after = self.web.view(space.id)
        self.ledger.edit("web", before, after, f"{step.id} web restore", lambda: self.others("main"))
        if is_quiet:
            self.ledger.revive(tokens_of(after) - tokens_of(before), f"{step.id} web restore")

    def _is_quiet(self) -> bool:
        """Whether no change request is live and no clone has anything to send: all have seen what others say."""
        requests = (request for space in self.world.spaces for request in self.web.requests(space.id))
        return next(requests, None) is None and all(map(self._has_nothing_unsent, self.writers.values()))

    def _has_nothing_unsent(self, writer: Writer) -> bool:
        """Whether a clone says nothing that its own copy of the platform does not say."""
        return writer.is_clean() and tokens_of(writer.view()) == tokens_of(writer.view_of(writer.other))

    def _merge_draft(self, step: Step) -> None:
        """An editor finishes what they began earlier."""
        if self._drafts:
            request = self._drafts.pop(step.n % len(self._drafts))
            self.web.told.append(f"web: merge their change request {request.number}")
            self.merge(request)

    def _decide(self, step: Step, space: Space, request: Request) -> None:
        """Merge, update or archive a change request of syncd's."""
        self.web.told.append(f"boss: {step.action} change request {request.number}, outdated: {request.is_outdated}")
        if step.action == "archive":
            self.archive(request)
        elif step.action == "carry-out":
            self.carry_out(request)
        elif step.action == "update" and request.is_outdated:
            self.update(request)
        elif step.action == "contest-merge":
            # Somebody edits main content in the moment before.
            for action in ("contest", "retitle")[: 1 + step.m % 2]:
                self._write(replace(step, actor="web", action=action, n=step.n % 2, m=0), space, None)
            self.merge(request)
        elif step.action == "merge" and (not request.is_outdated or step.m % 4 == 0):
            self.merge(request)

    def carry_out(self, request: Request) -> bool:
        """Do in the editor what syncd's comments on a change request ask for; return whether that changed anything."""
        began = before = self.web.view(request.space, request.id)
        for _ in range(_CARRIED):  # what is to lie below a page that is asked for too comes in a later turn
            comments, tree = self.web.comments(request), self.web.tree(request.space, request.id)
            writes = read_orders(comments, tree, self._met.setdefault(request.id, {}))
            if writes:
                self.web.told.append(f"boss: carry out comments of change request {request.number}: {writes}")
                self.web.write(request.space, request.id, writes)
            after = self.web.view(request.space, request.id)
            self.ledger.edit("boss", before, after, "boss carry-out", lambda: self.others(request))
            if after == before:
                break
            before = after
        return before != began

    def merge(self, request: Request) -> None:
        """Merge a change request; where the platform finds a conflict, it takes the request's version."""
        main = tokens_of(self.web.view(request.space))
        before = main | tokens_of(self.web.view(request.space, request.id))
        if not self.web.merge(request):
            after = tokens_of(self.web.view(request.space))
            is_known = request.is_ours and request.id not in self.unread
            if is_known and self.world.shape.server == "plain" and self.world.shape.flow != "ci":
                self.untold |= dict.fromkeys((main - after) & self.ledger.named("alive"), request.owner)
            self.counts["platform conflicts"] += 1
            back = after & self.ledger.named("dead")
            self.ledger.free((before - after) | back, f"merge of change request {request.number} with conflicts")

    def update(self, request: Request) -> None:
        """Take main content into a change request; where that conflicts, the request's version stays."""
        main = tokens_of(self.web.view(request.space))
        self.unread.add(request.id)
        if not self.web.update(request):
            after = tokens_of(self.web.view(request.space, request.id))
            back = after & self.ledger.named("dead")
            self.ledger.free((main - after) | back, f"update of change request {request.number} with conflicts")

    def archive(self, request: Request) -> None:
        """Archive a change request: what reviewers did to it need not stay."""
        said = tokens_of(self.web.view(request.space, request.id))
        self.web.archive(request)
        self.note_archived(request, said)

    def note_archived(self, request: Request, said: set[str]) -> None:
        """Given what a change request said that was archived, let it stay or go."""
        self._stopped.add((request.owner, request.branch))
        self.free_reviewed(request, said)

    def free_reviewed(self, request: Request, said: set[str]) -> None:
        """Given what a change request said that is archived, let what reviewers did to it stay or go."""
        why = f"change request {request.number} was archived"
        mine = {name for name in said if name in self.ledger.tokens and self.ledger.tokens[name].author == "rev"}
        gone = {name for name, token in self.ledger.tokens.items() if " rev " in token.why and token.state == "dead"}
        self.ledger.free(mine | gone, why)
