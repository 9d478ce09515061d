"""The order of siblings, with the fewest moves (W10); who moved them, the file or somebody on the platform.

The lock has the order in which syncd left a list, with what holds it.
Source: docs/decisions/0005-sites-have-a-lock-file.md.
"""

from collections.abc import Mapping, Sequence

from syncd.model.ref import ROOT, SITE, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.differ import MISSING
from syncd.plan.site.lines import CHOOSE, CONFLICT, describe_obstacle, explain_report
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.part import Draft, PlanPart, draft_step, join_parts
from syncd.plan.site.sides import Sides
from syncd.plan.site.steps import Cause, FieldChange, Line, Wave
from syncd.plan.site.structure.decisions import Structure
from syncd.plan.site.structure.moves import Move, plan_moves

ORDER = "order"
"""The field of the lock that has the ids of an item's children; those of the root are with the site."""
STRUCTURE = Ref.of("group")
"""What a line is about that speaks of the site's root."""
_DRAG = "drag it in the site's structure"


def plan_order(sides: Sides, structure: Structure, lists: Mapping[Ref, list[Ref]]) -> PlanPart:
    """Return the moves that put each list into its declared order (W10); `lists` has their items by the parent's
    ref.
    """
    parts: list[PlanPart] = []
    for parent, wanted in sides.desired.orders.items():
        current = lists.get(parent, [])
        present = set(current)
        desired = [ref for ref in wanted if ref in present and sides.is_covered(ref)]
        if len(desired) < 2:
            continue
        if not sides.existing.abilities.sort:
            # The document moves only what is of one kind, and only beside its like.
            groups = [ref for ref in desired if ref.kind == "group"]
            parts.append(PlanPart(lines=tuple(_describe_group_moves(sides, structure, current, groups))))
            desired = [ref for ref in desired if ref.kind != "group"]
            declared = set(desired)
            current = [ref for ref in current if ref in declared]
        parts.append(_plan_list(sides, parent, current, desired))
    return join_parts(parts)


def _plan_list(sides: Sides, parent: Ref, current: Sequence[Ref], desired: list[Ref]) -> PlanPart:
    holder = parent or SITE
    former = _find_base_order(sides, holder)
    made = plan_moves(current, desired)
    of = _classify(sides, former, current, desired) if made else None
    wins = {"drift": sides.desired.policy.drift("structure") == "revert", "conflict": sides.options.prefer == "file"}
    lines: list[Line] = []
    drafts: list[Draft] = []
    is_kept = of is not None and not wins.get(of, True)
    if of is not None and is_kept:
        lines.append(_describe_order(sides, parent, current, desired, of))
        made = plan_moves(current, _merge_newcomers(sides, former or (), current, desired))
    if made and not is_kept and former is not None:
        # A run that dies between two moves leaves an order that is nobody's: the next run has to finish it.
        drafts.append(draft_step(sides, Wave.ORDER, Call.ADOPT, holder, {}, {ORDER: MISSING}))
    drafts += [_draft_move(sides, move) for move in made]
    lines += [Line("move", one.name, (), f"{one.side} {one.anchor.words}", sides.locate(one.name)) for one in made]
    ids = [sides.find_id(ref) for ref in desired]
    is_known = former is not None and ids == [id for id in former if id in sides.existing.items]
    if not is_kept and (made or not is_known):
        body = {"after": [IdOf(move.name) for move in made]} if made else {}
        drafts.append(draft_step(sides, Wave.ORDER, Call.ADOPT, holder, body, {ORDER: ids}))
    return PlanPart(drafts=tuple(drafts), lines=tuple(lines))


def _find_base_order(sides: Sides, holder: Ref) -> Sequence[str] | None:
    """The ids in the order in which syncd left them."""
    former = sides.find_base(holder).get(ORDER)
    return former if isinstance(former, list) else None


def _classify(sides: Sides, former: Sequence[str] | None, current: Sequence[Ref], desired: Sequence[Ref]) -> Cause:
    """Whose doing it is that a list is out of order, by those that stood in it when syncd left it."""
    if former is None:
        return "change"
    left = [sides.matches.refs[id] for id in former if id in sides.matches.refs]
    common = set(left) & set(desired)
    base = [ref for ref in left if ref in common]
    existing, file = ([ref for ref in side if ref in common] for side in (current, desired))
    if existing in (base, file):
        return "change"
    return "drift" if file == base else "conflict"


def _merge_newcomers(sides: Sides, former: Sequence[str], current: Sequence[Ref], desired: Sequence[Ref]) -> list[Ref]:
    """The order that somebody made on the platform, with what came since in its declared place."""
    known = {sides.matches.refs[id] for id in former if id in sides.matches.refs}
    declared = set(desired)
    followers: dict[Ref, list[Ref]] = {}
    left = ROOT
    for ref in desired:
        if ref in known:
            left = ref
        else:
            followers.setdefault(left, []).append(ref)
    merged = list(followers.get(ROOT, ()))
    for ref in current:
        if ref in declared and ref in known:
            merged += [ref, *followers.get(ref, ())]
    return merged


def _describe_order(sides: Sides, parent: Ref, current: Sequence[Ref], desired: Sequence[Ref], of: Cause) -> Line:
    """The line that says that a list keeps the order that it has on the platform."""
    ref, where = parent or STRUCTURE, sides.locate(desired[0])
    before = [IdOf(name) for name in current if name in set(desired)]
    fields = (FieldChange(ORDER, before, [IdOf(name) for name in desired], of, where),)
    if of == "conflict" and not sides.options.prefer:
        return Line("blocked", ref, fields, CONFLICT, where, CHOOSE)
    return Line("report", ref, fields, explain_report(sides, of, "structure"), where)


def _draft_move(sides: Sides, move: Move[Ref]) -> Draft:
    call = Call.SECTION_MOVE if move.name.kind == "section" else Call.VARIANT_MOVE
    if sides.existing.abilities.sort:
        call = Call.STRUCTURE_SORT
    return Draft(Wave.ORDER, call, move.name, sides.find_id(move.name), {move.side: IdOf(move.anchor)})


def _describe_group_moves(
    sides: Sides, structure: Structure, current: Sequence[Ref], desired: Sequence[Ref]
) -> list[Line]:
    """The lines that leave it to a person to put groups into order."""
    declared, note = set(desired), "the position of a group cannot be changed by this API"
    return [
        describe_obstacle(
            sides,
            move.name,
            note,
            manual=f"{_DRAG}: {move.side} {move.anchor.words}",
            gone=structure.remote.classify(move.name),
        )
        for move in plan_moves([ref for ref in current if ref in declared], desired)
    ]
