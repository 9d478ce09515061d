"""The oracle itself: it is silent where nobody is to blame, and sees each kind of damage that is done on purpose."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.__main__ import KNOWN, main
from tests.faults.twoway.answers import Answers
from tests.faults.twoway.campaign import Played, keep, known, play
from tests.faults.twoway.generate import generate
from tests.faults.twoway.ledger import Ledger
from tests.faults.twoway.pages import Page, View
from tests.faults.twoway.participants import Failure
from tests.faults.twoway.play import Player
from tests.faults.twoway.profiles import PROFILES
from tests.faults.twoway.schedule import THEN, Schedule, Shape, Step, load
from tests.faults.twoway.shrink import shrink
from tests.faults.twoway.story import tell
from tests.faults.twoway.world import Workshop, workshop


@pytest.fixture(scope="module")
def place() -> Iterator[Workshop]:
    with workshop() as made:
        yield made


@pytest.fixture(autouse=True)
def home(place: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    """The home of the worlds, with what their person trusts, in place of one for each test."""
    monkeypatch.setenv("HOME", str(place.root / "world" / "home"))


def steps(*deeds: tuple[str, str]) -> Schedule:
    """A schedule of one clone, without targets of interest."""
    made = tuple(Step(number, actor, action, 1, 1) for number, (actor, action) in enumerate(deeds, start=1))
    return Schedule(1, Shape(clones=1), made)


def test_peaceful_work_of_all_sides_is_fine(place: Workshop) -> None:
    deeds = (
        ("a", "edit"),
        ("web", "new-page"),
        ("a", "sync"),
        ("rev", "edit"),
        ("boss", "merge"),
        ("a", "delete-page"),
    )
    played = play(place, steps(*deeds))
    assert not played.failures, tell(played, "plain")
    assert played.counts["edits"] == 4
    assert any("git commit" in line for line in played.story)


@pytest.mark.story
def test_pictures_are_added_replaced_renamed_and_deleted_on_both_sides(place: Workshop) -> None:
    deeds = [("a", "asset"), ("web", "asset"), ("a", "sync"), ("a", "asset-replace"), ("web", "asset-replace")]
    more = [("a", "sync"), ("a", "asset-rename"), ("web", "asset-drop"), ("a", "sync"), ("a", "asset-delete")]
    played = play(place, steps(*deeds, *more))
    assert not played.failures, tell(played, "assets")
    story = "\n".join(played.story)
    assert all(
        words in story
        for words in ("# other bytes, w4p", "web: asset-replace", " r7.png", "web: asset-drop", "a$ rm .gitbook")
    )


@pytest.mark.story
def test_links_are_added_and_followed_on_both_sides(place: Workshop) -> None:
    deeds = [("a", "link"), ("web", "link"), ("a", "sync"), ("a", "rename"), ("web", "slug"), ("a", "sync")]
    made = tuple(Step(number, actor, action, 1, 2) for number, (actor, action) in enumerate(deeds, start=1))
    played = play(place, replace(steps(), steps=made))
    assert not played.failures, tell(played, "links")
    assert sum("[k0ab]" in line for line in played.story) > 1


@pytest.mark.story
def test_branches_are_begun_joined_picked_from_renamed_and_given_up(place: Workshop) -> None:
    actions = (
        "new-page branch new-page sync branch edit switch pick join sync rename-branch sync delete-branch edit sync"
    )
    deeds = steps(*(("a", action) for action in actions.split()))
    played = play(place, replace(deeds, shape=Shape(clones=1, topics=True)))
    assert not played.failures, tell(played, "topics")
    told = "\n".join(played.story)
    for command in ("switch --create t2", "cherry-pick t5", "merge t5", "branch --move t5 t11", "branch -D t11"):
        assert f"a$ git {command}" in told


def give_up_a_branch(player: Player) -> None:
    """Nobody is told that what a branch alone says may go."""
    writer = player.writers["a"]
    writer.git("switch", "--quiet", "main")
    writer.git("branch", "--quiet", "--delete", "--force", "t1")


def test_a_branch_that_goes_by_itself_is_seen(place: Workshop) -> None:
    schedule = replace(steps(("a", "branch"), ("a", "edit")), shape=Shape(clones=1, topics=True))
    assert play(place, schedule, give_up_a_branch).columns == ["words lost"]


def test_a_run_that_was_killed_is_killed_again_when_it_is_run_again(place: Workshop) -> None:
    killed = THEN.join(["kill:before-request:1", "kill:after-request:2", "kill:after-request:1"])
    schedule = replace(steps(("a", "edit")), steps=(Step(1, "a", "edit"), Step(2, "a", "sync", fault=killed)))
    played = play(place, schedule)
    assert not played.failures, tell(played, "kill")
    assert played.counts["kills"] == 3


def remove_a_word(player: Player) -> None:
    page = _page(player, "m0aa")
    _publish(
        player, {"operation": "update_page", "page": page.place, "document": {"markdown": "# T\n\nm0aa w0ad w0af\n"}}
    )


def double_a_page(player: Player) -> None:
    page = _page(player, "m0ac")
    _publish(player, {"operation": "insert_page", "slug": "again", "document": {"markdown": page.text}})


def bring_a_word_back(player: Player) -> None:
    player.step(Step(7, "web", "drop", 1, 0))
    (word,) = player.ledger.named("dead")
    page = _page(player, player.ledger.tokens[word].page)
    text = {"markdown": f"{page.text}\n{word} again\n"}
    _publish(player, {"operation": "update_page", "page": page.place, "document": text})


def break_a_link(player: Player) -> None:
    """A link leads to another page than the one that its author has seen."""
    player.step(Step(7, "web", "link", 1, 2))
    (page,) = [one for one in player.web.view(player.world.spaces[0].id).values() if "[k" in one.text]
    text = re.sub(r"(\[k\w+\])\(.*?\)", r"\1(nowhere.md)", page.text)
    _publish(player, {"operation": "update_page", "page": page.place, "document": {"markdown": text}})


def exchange_a_title(player: Player) -> None:
    _publish(player, {"operation": "update_page", "page": _page(player, "m0aa").place, "title": "Title t0ac"})


def spoil_a_picture(player: Player) -> None:
    player.step(Step(7, "a", "asset", 1, 0))
    player.step(Step(8, "a", "sync", 1, 0))
    top = player.writers["a"].path
    (top / ".gitbook/assets/a7.png").write_bytes(b"\x89PNG\r\n\x1a\n nothing")


def say_nothing_of_a_word(player: Player) -> None:
    """A merge on the platform takes a line of main content, and no run says so."""
    for number, (actor, action) in enumerate((("a", "contest"), ("a", "sync"), ("boss", "contest-merge")), 7):
        player.step(Step(number, actor, action))
    untold = dict(player.untold)
    player.sync(player.writers["a"], "sync")
    assert untold
    assert not player.untold, "the run says it"
    player.untold |= untold


def lock_out(player: Player) -> None:
    config = player.writers["a"].path / ".git" / "syncd.toml"
    config.write_text(config.read_text().replace("[platform]", "[nothing]"))


@pytest.mark.parametrize(
    ("spoil", "column"),
    [
        (remove_a_word, "words lost"),
        (say_nothing_of_a_word, "words lost"),
        (double_a_page, "doubled"),
        (bring_a_word_back, "deletes back"),
        (exchange_a_title, "titles over other text"),
        (break_a_link, "wrong links"),
        (spoil_a_picture, "not converged"),
        (lock_out, "locked out"),
    ],
)
def test_damage_done_on_purpose_is_seen(place: Workshop, spoil: Callable[[Player], None], column: str) -> None:
    played = play(place, steps(), spoil)
    assert column in played.columns, played.failures


def ask_twice(player: Player) -> None:
    """A run asks again what was settled; after one more edit in main content, it has a reason to."""
    writer = player.writers["a"]
    said = player.sync(writer, "sync").text
    (conflict,) = player.conflicts(writer)
    answers = Answers(player)
    answers.add(writer, conflict)
    answers.check(writer, said)
    assert [failure.column for failure in player.failures] == ["asked again"]
    player.step(Step(7, "web", "contest", 1, 1))
    answers.check(writer, said)
    assert len(player.failures) == 1


def test_a_question_that_was_answered_before_is_seen(place: Workshop) -> None:
    played = play(place, steps(("a", "contest"), ("web", "contest")), ask_twice)
    assert played.columns == ["asked again"], played.failures


def _page(player: Player, mark: str) -> Page:
    view = player.web.view(player.world.spaces[0].id)
    return next(page for page in view.values() if page.mark == mark)


def _publish(player: Player, operation: dict[str, object]) -> None:
    player.web.publish(player.world.spaces[0].id, [operation])


def side(*words: str, mark: str = "m1", title: str = "Title t1") -> View:
    return {mark: Page(mark, title, f"{mark}\n\n" + "\n\n".join(words))}


@pytest.fixture
def ledger() -> Ledger:
    made = Ledger()
    made.begin(side("w1a", "w1b"))
    return made


def test_who_saw_a_word_may_delete_it(ledger: Ledger) -> None:
    ledger.edit("a", side("w1a", "w1b"), side("w1b", "w2a"), "edit", list)
    assert ledger.named("dead") == {"w1a"}
    assert ledger.named("alive") == {"w1b", "w2a", "m1", "t1"}


def test_a_page_that_was_deleted_unseen_edits_may_stay(ledger: Ledger) -> None:
    ledger.edit("b", side("w1a", "w1b"), side("w1a", "w1b", "w3a"), "edit", list)
    ledger.edit("a", side("w1a", "w1b"), {}, "delete", lambda: [side("w1a", "w1b", "w3a")])
    assert ledger.named("free") == {"w1a", "w1b", "m1", "t1"}
    assert ledger.named("alive") == {"w3a"}


def test_a_page_that_stays_for_unseen_words_has_those_that_were_deleted_before_it(ledger: Ledger) -> None:
    ledger.edit("b", side("w1a", "w1b"), side("w1a", "w1b", "w3a"), "edit", list)
    ledger.edit("a", side("w1a", "w1b"), side("w1b"), "edit", list)
    ledger.edit("a", side("w1b"), {}, "delete", lambda: [side("w1a", "w1b", "w3a")])
    assert not ledger.named("dead")


def test_a_page_that_nobody_else_changed_is_gone(ledger: Ledger) -> None:
    ledger.edit("a", side("w1a", "w1b"), side("w1a", "w1b", "w2a"), "edit", list)
    ledger.edit("a", side("w1a", "w1b", "w2a"), {}, "delete", lambda: [side("w1a", "w1b")])
    assert ledger.named("dead") == {"w1a", "w1b", "w2a", "m1", "t1"}


def grouped(*members: str) -> View:
    pages = [Page(name, f"Title {name}", f"{name}\n\nw{name[1:]}a", "group m9") for name in members]
    return {"group m9": Page("group m9", "Group m9", "m9"), **{page.place: page for page in pages}}


@pytest.mark.parametrize("is_first", [True, False])
def test_a_group_that_somebody_has_put_a_page_into_unseen_may_stay(is_first: bool) -> None:
    ledger = Ledger()
    ledger.begin(grouped("m1"))
    if is_first:
        ledger.edit("a", grouped("m1"), grouped("m1", "m2"), "into group", list)
    ledger.edit(
        "web", grouped("m1"), side("w1a", title="Title m1"), "ungroup", lambda: [grouped("m1", "m2")] * is_first
    )
    assert ("m9" in ledger.named("dead")) is not is_first
    ledger.edit("b", grouped("m1"), grouped("m1", "m2"), "into group", list)
    assert not ledger.named("dead")


def test_an_edit_of_a_page_that_was_deleted_elsewhere_lets_it_come_back(ledger: Ledger) -> None:
    ledger.edit("a", side("w1a", "w1b"), {}, "delete", list)
    ledger.edit("b", side("w1a", "w1b"), side("w1a", "w1b", "w4a"), "edit", list)
    assert not ledger.named("dead")
    assert ledger.named("alive") == {"w4a"}


def test_of_a_page_that_git_stopped_at_only_what_a_person_kept_may_come_back(ledger: Ledger) -> None:
    ledger.edit("a", side("w1a", "w1b"), side(), "edit", list)
    ledger.contest({"m1"}, "git merge", kept={"w1a", "m1"})
    assert ledger.named("free") == {"w1a"}
    assert ledger.named("dead") == {"w1b"}


def test_a_reset_drops_own_words_and_never_deletes_those_of_others(ledger: Ledger) -> None:
    ledger.edit("a", side("w1a"), side("w1a", "w5a"), "edit", list)
    ledger.rewrite("a", side("w1a", "w1b", "w5a"), side("w1a"), "reset")
    assert ledger.named("free") == {"w5a"}
    assert "w1b" in ledger.named("alive")


def test_a_seed_is_the_same_schedule_always_and_can_be_kept() -> None:
    for profile in PROFILES:
        made = generate(7, profile)
        assert made == generate(7, profile)
        assert load(made.dump()) == made
        assert [step.id for step in made.only([2, 4]).steps] == [2, 4]


def test_a_failing_schedule_is_made_short() -> None:
    schedule = generate(3, "kills")
    culprits = {schedule.steps[1].id, schedule.steps[-2].id}
    played: list[Schedule] = []

    def fails(one: Schedule) -> bool:
        played.append(one)
        return culprits <= {step.id for step in one.steps}

    small = shrink(schedule, fails)
    assert {step.id for step in small.steps} == culprits
    assert not any(step.fault for step in small.steps)
    assert len(played) < 60


def test_a_story_says_how_to_play_it_again() -> None:
    told = tell(Played(generate(5, "plain"), [], ["a$ git commit"], Counter()), "plain")
    assert "replay --profile plain --seed 5 --steps 1,2," in told
    assert "a$ git commit" in told


def test_schedules_that_failed_once_can_be_played(tmp_path: Path) -> None:
    rows = known(KNOWN)
    assert len(rows) > 10
    assert all(schedule.steps for _, schedule in rows)
    keep(tmp_path / "kept.json", Played(rows[0][1], [Failure("doubled", "twice")], [], Counter()))
    assert known(tmp_path / "kept.json") == [("doubled: twice", rows[0][1])]


@pytest.mark.story
def test_two_processes_share_schedules_and_tell_of_them_in_order(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["first", "second", "third"]
    rows = [{"about": name, "schedule": json.loads(steps(("a", "edit"), ("a", "sync")).dump())} for name in names]
    file = tmp_path / "known.json"
    file.write_text(json.dumps(rows))
    assert main(["known", "--file", str(file), "--jobs", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == [f"fine: {name}" for name in names]
    assert lines[3].split() == ["schedules", "3"]
