"""The order of siblings, with the fewest moves (W10); who moved them, the file or somebody on the platform.

The lock has the order in which syncd left a list, with what holds it. Source: site-file notes, §4.1 and §4.3.
"""

from collections.abc import Sequence

from syncd.model.ref import ROOT, SITE, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.context import Case, Draft
from syncd.plan.site.differ import MISSING
from syncd.plan.site.lines import CONFLICT, left_alone
from syncd.plan.site.live_state import IdOf
from syncd.plan.site.steps import Class, FieldChange, Line, Wave
from syncd.plan.site.structure.moves import Move, moves
from syncd.plan.site.structure.placing import standing
from syncd.plan.site.structure.remote_deletions import CHOOSE

ORDER = "order"
"""The field of the lock that has the ids of a thing's children; those of the root are with the site."""
STRUCTURE = Ref.of("group")
"""What a line is about that speaks of the site's root."""
_DRAG = "drag it in the site's structure"


def order(case: Case) -> None:
    """Given a case, take down the moves that put every list whose order is declared into it."""
    lists = standing(case)
    for parent, wanted in case.file.orders.items():
        there = lists.get(parent, [])
        present = set(there)
        mine = [ref for ref in wanted if ref in present and case.covers(ref)]
        if len(mine) < 2:
            continue
        if not case.live.abilities.sort:
            # The document moves only what is of one kind, and only beside its like.
            _require_groups(case, there, [ref for ref in mine if ref.kind == "group"])
            mine = [ref for ref in mine if ref.kind != "group"]
            there = [ref for ref in there if ref in set(mine)]
        _arrange(case, parent, there, mine)


def _arrange(case: Case, parent: Ref, there: Sequence[Ref], mine: list[Ref]) -> None:
    holder = parent or SITE
    former = _former(case, holder)
    made = moves(there, mine)
    of = _class(case, former, there, mine) if made else None
    wins = {"drift": case.file.policy.drift("structure") == "revert", "conflict": case.options.prefer == "file"}
    is_theirs = of is not None and not wins.get(of, True)
    if of is not None and is_theirs:
        _tell(case, parent, (there, mine), of)
        made = moves(there, _with_newcomers(case, former or (), there, mine))
    if made and not is_theirs and former is not None:
        # A run that dies between two moves leaves an order that is nobody's: the next run has to finish it.
        case.step(Wave.ORDER, Call.ADOPT, holder, {}, {ORDER: MISSING})
    for move in made:
        case.drafts.append(_move(case, move))
        case.lines.append(Line("move", move.name, (), f"{move.side} {move.anchor.words}", case.where(move.name)))
    if not is_theirs:
        _note(case, holder, mine, made)


def _former(case: Case, holder: Ref) -> Sequence[str] | None:
    """The ids in the order in which syncd left them."""
    former = case.base(holder).get(ORDER)
    return former if isinstance(former, list) else None


def _class(case: Case, former: Sequence[str] | None, there: Sequence[Ref], mine: Sequence[Ref]) -> Class:
    """Whose doing it is that a list is out of order, by those that stood in it when syncd left it."""
    if former is None:
        return "change"
    left = [case.matches.refs[id] for id in former if id in case.matches.refs]
    common = set(left) & set(mine)
    base = [ref for ref in left if ref in common]
    live, file = ([ref for ref in side if ref in common] for side in (there, mine))
    if live in (base, file):
        return "change"
    return "drift" if file == base else "conflict"


def _with_newcomers(case: Case, former: Sequence[str], there: Sequence[Ref], mine: Sequence[Ref]) -> list[Ref]:
    """The order that somebody made on the platform, with what came since in its declared place."""
    known = {case.matches.refs[id] for id in former if id in case.matches.refs}
    declared = set(mine)
    after: dict[Ref, list[Ref]] = {}
    left = ROOT
    for ref in mine:
        if ref in known:
            left = ref
        else:
            after.setdefault(left, []).append(ref)
    wanted = list(after.get(ROOT, ()))
    for ref in there:
        if ref in declared and ref in known:
            wanted += [ref, *after.get(ref, ())]
    return wanted


def _note(case: Case, holder: Ref, mine: Sequence[Ref], made: Sequence[Move[Ref]]) -> None:
    ids = [case.id(ref) for ref in mine]
    former = _former(case, holder)
    is_known = former is not None and ids == [id for id in former if id in case.live.things]
    if made or not is_known:
        body = {"after": [IdOf(move.name) for move in made]} if made else {}
        case.step(Wave.ORDER, Call.ADOPT, holder, body, {ORDER: ids})


def _tell(case: Case, parent: Ref, sides: tuple[Sequence[Ref], Sequence[Ref]], of: Class) -> None:
    there, mine = sides
    ref, where = parent or STRUCTURE, case.where(mine[0])
    shown = [name for name in there if name in set(mine)]
    fields = (FieldChange(ORDER, [IdOf(name) for name in shown], [IdOf(name) for name in mine], of, where),)
    if of == "conflict" and not case.options.prefer:
        case.lines.append(Line("blocked", ref, fields, CONFLICT, where, CHOOSE))
    else:
        case.lines.append(Line("report", ref, fields, left_alone(case, of, "structure"), where))


def _move(case: Case, move: Move[Ref]) -> Draft:
    call = Call.SECTION_MOVE if move.name.kind == "section" else Call.VARIANT_MOVE
    if case.live.abilities.sort:
        call = Call.STRUCTURE_SORT
    return Draft(Wave.ORDER, call, move.name, case.id(move.name), {move.side: IdOf(move.anchor)})


def _require_groups(case: Case, there: Sequence[Ref], wanted: Sequence[Ref]) -> None:
    declared = set(wanted)
    for move in moves([ref for ref in there if ref in declared], wanted):
        note = "the position of a group cannot be changed by this API"
        case.block(move.name, note, manual=f"{_DRAG}: {move.side} {move.anchor.words}")
