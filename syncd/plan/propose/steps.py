"""The steps of a proposal: what content write can do to one page or file, as data."""

from dataclasses import dataclass

from syncd.plan.change import Change

ROOT = ""
"""Stands for the space's root where a step names a parent."""


@dataclass(frozen=True)
class AddFile:
    """Upload the file at `path`."""

    path: str
    oid: str


@dataclass(frozen=True)
class FormerPage:
    """A page of main content that a change request has deleted: as `revision` has it, with its parent's id or ROOT."""

    id: str
    slug: str
    parent: str
    revision: str


@dataclass(frozen=True)
class InsertStep:
    """Insert the page of file `path` under `into` (a page id, the path of a page inserted earlier, or ROOT).

    Shape: with `former`, that page comes back, and gets what the step says; `at` is not None then.
    """

    path: str
    oid: str
    title: str
    slug: str
    into: str
    at: int | None
    former: FormerPage | None = None


@dataclass(frozen=True)
class UpdateStep:
    """Edit, retitle, re-slug or move page `id`; None leaves a property as it is.

    Shape: `id` may be the path of a page inserted earlier; `unchanged` is the text that goes with a title although it
    stays, since a platform may put the title into the text otherwise; `later` completes an earlier step.
    """

    id: str
    path: str
    oid: str | None = None
    title: str | None = None
    slug: str | None = None
    into: str | None = None
    at: int | None = None
    unchanged: str | None = None
    later: bool = False

    def __bool__(self) -> bool:
        return any(value is not None for value in (self.oid, self.title, self.slug, self.into, self.at))


@dataclass(frozen=True)
class DeleteStep:
    """Delete page `id`, which was file `path`, and with it the files `below`."""

    id: str
    path: str
    below: tuple[str, ...] = ()


Step = AddFile | InsertStep | UpdateStep | DeleteStep


def build_change(step: Step) -> Change:
    """Return a step as a change, for people."""
    match step:
        case AddFile():
            return Change("create", "file", step.path, after=step.oid)
        case InsertStep():
            return Change("create", "page", step.path, f"as {step.title!r}", after=[step.oid, step.into, step.at])
        case UpdateStep():
            what = {"oid": "text", "title": "title", "slug": "slug", "into": "parent", "at": "position"}
            parts = [word for name, word in what.items() if getattr(step, name) is not None]
            after = [step.oid, step.title, step.slug, step.into, step.at]
            return Change("update", "page", step.path, ", ".join(parts), after=after)
        case DeleteStep():
            note = f"with {len(step.below)} below it" if step.below else ""
            return Change("delete", "page", step.path, note)
