"""What a run says of a site's plan that was not carried out to its end."""

from dataclasses import replace

import pytest

from syncd.model.ref import SITE, Ref
from syncd.plan.site.call import Call
from syncd.plan.site.live_state import SiteLock
from syncd.plan.site.steps import FieldChange, Line, SitePlan, Step, Wave
from syncd.sync.outcome import Held, Waiting
from syncd.sync.site.apply import ApplyResult
from syncd.sync.site.executor import FailedStep
from syncd.sync.site.flow import find_interruption, find_unfinished

HOME, API = Ref.of("section", "home"), Ref.of("section", "api")
STEPS = [Step(Wave.SECTIONS, Call.SECTION_UPDATE, ref) for ref in (HOME, API)]
DONE = ApplyResult(SiteLock("site"), SitePlan("site"))


def test_a_step_that_was_refused_is_named_with_how_far_the_plan_came() -> None:
    failed = FailedStep(STEPS[0], f"{HOME}: the title is too long", "shorten it")
    done = replace(DONE, failed=(failed,), skipped=(STEPS[1],))
    why = "section:home: the title is too long (1 step failed, 1 was left, none are done)"
    assert find_interruption(done) == Held(why, "shorten it", exit_code=4)
    bare = replace(done, failed=(replace(failed, hint=""),), skipped=(), steps=(STEPS[1],))
    assert find_interruption(bare) == Held(
        "section:home: the title is too long (1 step failed, 1 is done)", "mend it and run the same again", exit_code=4
    )


def test_steps_that_can_succeed_later_wait() -> None:
    later = [FailedStep(step, "the platform is busy", "wait", exit_code=75) for step in STEPS]
    outcome = find_interruption(replace(DONE, failed=tuple(later)))
    assert outcome == Waiting("section:home: the platform is busy (2 steps failed, none are done)", "wait")
    mixed = (later[0], replace(later[1], exit_code=1))
    assert isinstance(find_interruption(replace(DONE, failed=mixed)), Held)


def test_a_site_that_somebody_changed_meanwhile_is_looked_at_again() -> None:
    done = replace(DONE, stale=("structure", "redirects"), skipped=tuple(STEPS))
    why = "somebody changed the site meanwhile: structure, redirects; 2 were left, none are done"
    assert find_interruption(done) == Waiting(why, "run it again", exit_code=6)


def test_a_plan_that_was_carried_out_is_not_interrupted() -> None:
    assert find_interruption(replace(DONE, steps=tuple(STEPS))) is None
    assert find_unfinished(DONE.left) is None


def test_what_both_sides_changed_waits_for_a_person() -> None:
    both = FieldChange("title", "Theirs", "Ours", cause="conflict")
    outcome = find_unfinished(SitePlan("site", lines=(Line("blocked", HOME, (both,)), Line("update", API))))
    assert outcome is not None
    assert (outcome.exit_code, "section:home" in outcome.why, "section:api" in outcome.why) == (6, True, False)
    assert "--prefer file, or --prefer live" in outcome.hint


def test_what_a_site_has_but_one_of_is_named_without_a_colon() -> None:
    both = FieldChange("title", "Theirs", "Ours", cause="conflict")
    outcome = find_unfinished(SitePlan("site", lines=(Line("blocked", SITE, (both,)),)))
    assert outcome is not None
    assert "both changed site;" in outcome.why
    blocked = find_unfinished(SitePlan("site", lines=(Line("blocked", SITE, note="no operation", manual="Do it."),)))
    assert blocked is not None
    assert blocked.why.endswith(": site: no operation")
    assert blocked.hint.startswith("site: Do it.")


@pytest.mark.parametrize(("count", "more"), [(1, ""), (5, " (and 2 more)")])
def test_what_syncd_cannot_do_is_told_with_its_steps(count: int, more: str) -> None:
    manual = "Create it in the app."
    lines = [
        Line("blocked", Ref.of("group", f"g{number}"), note="no operation", manual=manual) for number in range(count)
    ]
    outcome = find_unfinished(SitePlan("site", lines=tuple(lines)))
    assert outcome is not None
    assert (outcome.exit_code, outcome.manual) == (4, True)
    assert outcome.why.startswith("a person has to do what syncd cannot: group:g0: no operation")
    assert outcome.why.endswith(more)
    assert outcome.hint.splitlines()[0] == "group:g0: Create it in the app."
