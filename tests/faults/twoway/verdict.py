"""Brings a world to rest and says what must not be: the columns of the result."""

import re
from collections.abc import Collection, Iterable, Mapping

from tests.faults.twoway.answers import Answers
from tests.faults.twoway.clone_state import read_refs
from tests.faults.twoway.links import find_wrong_links
from tests.faults.twoway.pages import Page, View, tokens_of
from tests.faults.twoway.play import Player
from tests.faults.twoway.schedule import Step
from tests.faults.twoway.writer import ORIGIN, PLATFORM, Writer

COLUMNS = (
    "words lost",
    "deletes back",
    "doubled",
    "titles over other text",
    "locked out",
    "not converged",
    "asked again",
    "mixed line ends",
    "wrong links",
    "errors",
)
_PICTURE = re.compile(r"\]\([./]*(?=\.gitbook/)")
ROUNDS = 9
"""Runs of every clone, with everything merged in between, after which all must be at rest; they are counted anew when
somebody merges what is outdated, as is done only when all were at rest."""
GO_ON = 900
"""Number of the first edit after the rest."""


def judge(player: Player) -> None:
    """Bring everything to rest and check; of some schedules, let everybody edit once more, and check again."""
    player.story.append("# Everybody commits, syncs, settles conflicts and merges, until nothing moves.")
    check(player, settle(player))
    if player.failures or not player.schedule.goes_on:
        return
    player.story.append("# Everybody goes on with one more edit.")
    for number, name in enumerate(player.writers):
        player.step(Step(GO_ON + number, name, "edit", number, number))
    player.step(Step(GO_ON + 9, "web", "edit", 2, 0))
    check(player, settle(player))


def settle(player: Player) -> list[Writer]:
    """Let everybody commit, sync, settle conflicts and merge, until a run of each moves nothing.

    Returns the writers whose last run did not end well.

    In half of the schedules each clone's change request is merged before the next clone runs, in the others all are
    merged when all have run.
    """
    codes: dict[str, int] = {}
    at_rest: dict[str, object] = {}
    is_stuck = False
    left = ROUNDS
    there = _read_platform(player)
    answers = Answers(player)
    while left:
        left -= 1
        moved = False
        for writer in player.writers.values():
            player.tidy(writer)
            before = _read_clones(player) + there
            if at_rest.get(writer.name) == before:
                continue
            bring = player.exchange(writer) if writer.other == ORIGIN else player.sync(writer, "sync")
            codes[writer.name] = bring.code
            answers.check(writer, bring.text)
            if codes[writer.name] not in (0, 1) and writer.other == PLATFORM:
                _settle_conflicts(player, writer, answers)
            there = _read_platform(player)
            after = _read_clones(player) + there
            if before == after or not (codes[writer.name] or player.schedule.goes_on):
                at_rest[writer.name] = after
            moved |= before != after
            if player.schedule.seed % 2 and _merge(player, stale=False):
                moved, there = True, _read_platform(player)
        if _merge(player, stale=is_stuck):
            moved, left = True, ROUNDS if is_stuck else left
            there = _read_platform(player)
        if not moved and (is_stuck or not any(player.web.requests(space.id) for space in player.world.spaces)):
            break
        is_stuck = not moved
    else:
        player.fail("not converged", f"something still moves after {ROUNDS} rounds")
    for name, code in codes.items():
        if code:
            player.fail("locked out", f"{name}: syncd sync still ends with {code}")
    return [writer for name, writer in player.writers.items() if codes.get(name)]


def _settle_conflicts(player: Player, writer: Writer, answers: Answers) -> None:
    # Both sides are looked at again before each: the one before may have given words to the same page.
    settled: set[tuple[str, str, str]] = set()
    while waiting := [one for one in player.conflicts(writer) if one.key not in settled]:
        if player.settle_conflict(writer, waiting[0], player.schedule.settle):
            answers.add(writer, waiting[0])
        settled.add(waiting[0].key)


def _merge(player: Player, *, stale: bool) -> bool:
    """Merge what is up to date; with `stale`, also what is outdated and stays so. Return whether anything was."""
    done = False
    for space in player.world.spaces:
        for known in player.web.requests(space.id):
            request = next(one for one in player.web.requests(space.id) if one.id == known.id)
            if request.is_ours and player.world.shape.server == "comments" and player.carry_out(request):
                player.story += player.web.told
                player.web.told.clear()
                done = True
                continue  # syncd reads it first
            if request.is_outdated and not stale:
                if player.world.shape.update == "never":
                    player.update(request)
                    done = True
                continue
            how = "outdated " if request.is_outdated else ""
            player.story.append(f"boss: merge {how}change request {request.number}")
            player.merge(request)
            done = True
    return done


def _read_clones(player: Player) -> tuple[str, ...]:
    """All that a run may move in the clones."""
    return tuple(read_refs(writer.path) + writer.status() for writer in player.writers.values())


def _read_platform(player: Player) -> tuple[str, ...]:
    """All that a run may move on the platform."""
    there = [player.web.revision(space.id) for space in player.world.spaces]
    return (*there, *(one.revision for space in player.world.spaces for one in player.web.requests(space.id)))


def check(player: Player, stopped: Iterable[Writer]) -> None:
    """Given a world at rest, and the writers who may have conflicts, record what must not be."""
    main: dict[str, Page] = {}
    live: set[str] = set()
    player.ledger.contest(player.copied, "copied from another clone")
    for space in player.world.spaces:
        main.update(player.web.view(space.id))
        for request in player.web.requests(space.id):
            live |= tokens_of(player.web.view(space.id, request.id))
    views: dict[str, View] = {name: writer.view() for name, writer in player.writers.items()}
    contested = {mark for writer in stopped for one in player.conflicts(writer) for mark in one.marks}
    sides = {"main content": main, **views}
    files = {name: writer.words_in_files() for name, writer in player.writers.items()}
    files["main content"] = {word for space in player.world.spaces for word in player.web.words_in_files(space.id)}
    _check_words(player, sides, files, live, contested)
    _check_drafts(player)
    # Who settles lines by hand, or keeps both sides as Git shows them, may mix their ends.
    by_hand = player.counts["asked"] or player.counts["kept both"]
    for name, view in sides.items():
        _check_pages(player, name, view)
        for page in view.values():
            if "\r\n" in page.text and "\n" in page.text.replace("\r\n", "") and not by_hand:
                player.fail("mixed line ends", f"{page.place} in {name}: {page.text!r}")
    if live or contested:
        return
    _check_equal(player, sides)
    _check_links(player, views)
    if player.world.shape.server == "plain":
        _check_trees(player)


def _check_words(
    player: Player, sides: Mapping[str, View], files: Mapping[str, set[str]], live: set[str], contested: set[str]
) -> None:
    """A picture's bytes are not lost while a file has them; that all pages show the same is checked with the pages."""
    ledger = player.ledger
    here = {name: tokens_of(view) | files[name] for name, view in sides.items()}
    anywhere = live.union(*here.values())
    for token in sorted(ledger.named("alive")):
        about = f"{token} (by {ledger.tokens[token].author}, {ledger.tokens[token].why})"
        missing = [name for name, tokens in here.items() if token not in tokens]
        if token in player.unsendable:  # only the clone that has it must keep it
            missing = [name for name in missing if name == ledger.tokens[token].author]
        if token not in anywhere:
            player.fail("words lost", f"{about} is nowhere")
        elif missing and token not in live and ledger.tokens[token].page not in contested:
            player.fail("words lost" if "main content" in missing else "not converged", f"{about} is not in {missing}")
    for token in sorted(player.untold.keys() - anywhere):
        player.fail(
            "words lost", f"{token} was taken by a merge on the platform, and {player.untold[token]} is not told"
        )
    if live or contested:
        return
    for token in sorted(ledger.named("dead")):
        if back := [name for name, view in sides.items() if token in tokens_of(view)]:
            player.fail("deletes back", f"{token} (gone by {ledger.tokens[token].why}) is in {back}")


def _check_drafts(player: Player) -> None:
    """A file that no table of contents lists any more is its writer's own: no run deletes it.

    Somebody who settled a conflict by hand may have taken the other side, which does not have it.
    """
    if player.counts["asked"] or player.counts["kept both"]:
        return
    for name, writer in player.writers.items():
        for draft in sorted(writer.drafts - player.ledger.dropped_drafts - writer.find_drafts()):
            player.fail("words lost", f"the draft {draft} is in no file of {name}")


def _check_pages(player: Player, name: str, view: View) -> None:
    ledger = player.ledger
    for mark, places in _places(view.values()).items():
        known = ledger.tokens.get(mark)
        if len(places) > 1 and mark not in ledger.deleted_pages.keys() | player.mixed:
            player.fail("doubled", f"{mark} is {len(places)} pages in {name}: {', '.join(places)}")
        if known is None:
            player.fail("doubled", f"{mark} in {name} was never written")
    player.check_titles(name, view)


def _check_links(player: Player, views: Mapping[str, View]) -> None:
    """Each link leads to the page that its author has seen, wherever that is now.

    A person who settled the lines around it, or moved the page and forgot its links, may have left it behind; so may
    one who copies a text out of a comment.
    """
    forgotten = {word for writer in player.writers.values() for word in writer.forgotten}
    doubtful = player.ledger.deleted_pages.keys() | player.mixed
    is_copied = player.world.shape.server == "comments"
    if is_copied or player.counts["asked"] or player.counts["kept both"]:
        return
    main = [("main content", player.web.view_by_path(space.id)) for space in player.world.spaces]
    for name, view in (*main, *views.items()):
        trusted = {place: page for place, page in view.items() if page.mark not in doubtful}
        for word, place in find_wrong_links(trusted).items():
            if word not in forgotten:
                player.fail("wrong links", f"{word} leads astray in {name}: {place}: {view[place].text!r}")


def _places(pages: Iterable[Page]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for page in pages:
        if page.mark:
            found.setdefault(page.mark, []).append(page.place)
    return found


def _check_trees(player: Player) -> None:
    """Each branch says what its own clone has of the platform.

    Where a file lies may differ: a page is the same as a file and as a folder, and a file need not lie below the file
    of the page above it; and so may line ends, which no platform has.
    """
    for name, writer in player.writers.items():
        ours, theirs = (writer.view_of(ref) for ref in ("HEAD", writer.other))
        _check_pages(player, f"{writer.other} of {name}", theirs)
        texts = [
            sorted(_PICTURE.sub("](", page.text).replace("\r\n", "\n") for page in view.values())
            for view in (ours, theirs)
        ]
        if texts[0] != texts[1]:
            shown = writer.git("diff", "-M", "HEAD", writer.other)
            player.fail("not converged", f"{name}: main is not {writer.other}: {shown}")


def _check_equal(player: Player, sides: Mapping[str, View]) -> None:
    """All sides have the same pages below the same pages.

    A group that somebody deleted stays where another had put a page into it, and the API cannot create it again: until
    a person has done what syncd asks for in each run, the page is in the group on one side alone.
    """
    ignored = player.unsendable | player.ledger.named("free")
    doubtful = player.ledger.deleted_pages.keys() | player.mixed
    shapes = {name: _outline(view, ignored, doubtful) for name, view in sides.items()}
    first, *rest = shapes.items()
    for name, outline in rest:
        for mark in sorted((first[1].keys() | outline.keys()) - doubtful):
            if first[1].get(mark) != outline.get(mark):
                text = f"{mark} is {first[1].get(mark)} in {first[0]} and {outline.get(mark)} in {name}"
                player.fail("not converged", text)


def _outline(
    view: View, ignored: set[str], doubtful: Collection[str]
) -> dict[str, tuple[str, str | None, tuple[str, ...]]]:
    """Of each page, by its mark: the mark above it, its title and its tokens, but for words in pictures to ignore, and
    for groups that may be gone."""
    found = {}
    for page in view.values():
        above = view.get(page.above)
        while above is not None and above.is_group and above.mark in doubtful:
            above = view.get(above.above)
        tokens = page.tokens - (page.shown & ignored)
        found[page.mark] = (above.mark if above else "", _strip_markup(page.title), tuple(sorted(tokens)))
    return found


def _strip_markup(title: str | None) -> str | None:
    """The words of a title: a table of contents has it as Markdown, the platform as text and an emoji."""
    return None if title is None else " ".join(re.findall(r"\w+", title))
