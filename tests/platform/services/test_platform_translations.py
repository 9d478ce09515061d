"""Translations: what of a page is translated, and how the result follows its source."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from syncd.platform.app import create_app
from syncd.platform.schema.jobs import jobs as jobs_table
from syncd.platform.services.translations import runs
from syncd.platform.services.translations.providers import (
    Provider,
    ProviderFailed,
    PseudoProvider,
    ServiceProvider,
    TranslationOptions,
)
from syncd.platform.services.translations.segments import find_segments, replace_segments
from syncd.platform.settings import PlatformSettings, ServiceEndpoint
from syncd.platform.storage import jobs
from tests.contract.in_process import InProcess
from tests.contract.probes.integrations import installed
from tests.contract.probes.translations import INSTRUCTIONS
from tests.contract.world import Target, World
from tests.due_jobs import run_due_jobs
from tests.platform.clock import Clock
from tests.storages import new_storage

WISH = TranslationOptions("en", "fr")
PAGE = """---
title: Untouched title
icon: rocket
---

# Getting **started**

Welcome to [our `guide`](guide.md "Title") and
more: snake_case, a < b, R&D &amp; https://example.com/path.

{% hint style="info" %}
A hint about {{ space.vars.name }}.
{% endhint %}

{% content-ref url="other.md" %}
[other.md](other.md)
{% endcontent-ref %}

| Name | What it *is* |
| --- | :-: |
| a \\| b | **c** |

1. First
   - [ ] a task
> a quote
> goes on

```js
const code = "stays";
```

Setext
======

<figure><img src="a.png" alt="alt"><figcaption>A caption</figcaption></figure>

Text <code>code stays</code> :smile: ![a picture](a.png) and a note[^1], \\*escaped\\*.

See [reference], [reference][] and [this][reference].

[^1]: The note.
[reference]: https://example.com "Stays"
"""


def upper(text: str) -> str:
    return "".join(part if part.startswith("⟦") else part.upper() for part in re.split("(⟦[0-9]+⟧)", text))


def test_words_are_translated_and_syntax_is_not() -> None:
    assert (
        replace_segments(PAGE, {one: upper(one.text) for one in find_segments(PAGE)})
        == """---
title: Untouched title
icon: rocket
---

# GETTING **STARTED**

WELCOME TO [OUR `guide`](guide.md "Title") AND
MORE: SNAKE_CASE, A < B, R&D &amp; https://example.com/path.

{% hint style="info" %}
A HINT ABOUT {{ space.vars.name }}.
{% endhint %}

{% content-ref url="other.md" %}
[other.md](other.md)
{% endcontent-ref %}

| NAME | WHAT IT *IS* |
| --- | :-: |
| A \\| B | **C** |

1. FIRST
   - [ ] A TASK
> A QUOTE
> GOES ON

```js
const code = "stays";
```

SETEXT
======

<figure><img src="a.png" alt="alt"><figcaption>A CAPTION</figcaption></figure>

TEXT <code>code stays</code> :smile: ![A PICTURE](a.png) AND A NOTE[^1], \\*ESCAPED\\*.

SEE [reference], [reference][] AND [THIS][reference].

[^1]: THE NOTE.
[reference]: https://example.com "Stays"
"""
    )


def test_a_sentence_goes_out_whole_with_markers_for_its_syntax() -> None:
    assert [one.text for one in find_segments("Press **Save** or `Esc`\nto leave.\n")] == [
        "Press ⟦0⟧Save⟦1⟧ or ⟦2⟧⟦3⟧to leave."
    ]


@pytest.mark.parametrize("answer", ["", "⟦1⟧a⟦0⟧", "only words", "⟦0⟧a", "⟦0⟧a⟦1⟧ b⟦2⟧", "⟦0⟧a⟦0⟧ b", "x⟦0⟧a⟦1⟧ b"])
def test_a_translation_with_other_markers_or_other_places_for_words_is_none(answer: str) -> None:
    page = "**word**, see `code` [it](a.md)\n"
    [only] = find_segments(page)
    assert only.text == "word⟦0⟧, see ⟦1⟧ ⟦2⟧it"
    assert replace_segments(page, {only: answer}) == page
    assert replace_segments(page, {only: "mot⟦0⟧; vois⟦1⟧⟦2⟧le"}) == "**mot**; vois `code` [le](a.md)\n"


@pytest.mark.parametrize(
    "said", ["# b", "- b", "1. b", "> b", "===", "`b`", "[b](c)", "<b>", "{% b %}", "{{ b }}", "| b", "**b**", "&lt;"]
)
def test_what_a_translation_says_cannot_become_syntax(said: str) -> None:
    [only] = find_segments("a\nb\n")
    for text in (f"{said}⟦0⟧{said}", f"{said}\n\n{said}⟦0⟧b"):
        page = replace_segments("a\nb\n", {only: text})
        assert page.count("\n") == 2
        shown = MarkdownIt("commonmark").enable("table").parse(page)
        assert [token.type for token in shown] == ["paragraph_open", "inline", "paragraph_close"]
        assert {token.type for token in shown[1].children or []} <= {"text", "text_special", "softbreak"}


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("ab \n#*_`[]()<>|{%}!-1.:&\\$~⟦0⟧\"'="), max_size=200))
def test_any_page_comes_back_as_it_was_when_nothing_is_changed(page: str) -> None:
    assert replace_segments(page, {one: one.text for one in find_segments(page)}) == page


@settings(max_examples=50, deadline=None)
@given(st.text(st.sampled_from("ab \n#*_`[]()<>|{%}!-1.:&\\$~⟦0⟧\"'="), max_size=200))
def test_any_page_keeps_its_signs_in_pseudo_localisation(page: str) -> None:
    found = find_segments(page)
    said = PseudoProvider().translate([one.text for one in found], WISH)
    made = replace_segments(page, dict(zip(found, said, strict=True)))
    assert re.sub("[åÅ]+|a|b", "", made) == re.sub("a|b", "", page)


@pytest.mark.parametrize(
    "hostile", ["<a ", "{%", "`` ` ", "](a", '<a "', "$$", "[^", "| -", "> ", "- ", "{{", "&a", "a@"]
)
def test_a_hostile_page_takes_no_longer_than_its_length(hostile: str) -> None:
    page = hostile * (50_000 // len(hostile))
    assert replace_segments(page, {one: one.text for one in find_segments(page)}) == page


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Target, Clock]]:
    clock = Clock()
    with new_storage(tmp_path_factory.mktemp("translations"), clock=lambda: clock.now) as storage:
        app = create_app(storage)
        with httpx.Client(base_url="http://platform", transport=InProcess(app)) as client:
            yield Target(storage, app, client), clock


class Scene:
    """A space with three pages, and its translation."""

    def __init__(self, target: Target, clock: Clock) -> None:
        self.clock = clock
        self.storage = target.storage
        self.world: World = target.world()
        pages = [("Home", "Welcome."), ("Guide", "Read it."), ("Help", "Ask us.")]
        self.source = self.world.space(changes=[insert(title, words) for title, words in pages])["id"]
        body = {"source": {"space": self.source, "language": "en"}, "language": "fr"}
        made = self.world.made("createTranslation", body=body)
        self.path = {"translationId": made["id"]}
        self.result = made["result"]["space"]

    def work(self, *, translate: ServiceEndpoint | None = None) -> int:
        work = jobs.JobContext(self.storage, PlatformSettings(translate=translate))
        return run_due_jobs(work, runs.HANDLERS)

    def run(self, **rest: Any) -> Any:
        self.world.made("runTranslation", self.path)
        self.work(**rest)
        return self.shown()

    def shown(self) -> Any:
        return self.world.made("getTranslation", self.path)

    def pages(self, space: str) -> dict[str, str]:
        """Texts by the page's slug."""
        listed = self.world.made("listPages", {"spaceId": space})["pages"]
        return {page["slug"]: self.text(space, page["id"]) for page in listed}

    def text(self, space: str, page: str) -> str:
        path = {"spaceId": space, "pageId": page}
        return str(self.world.made("getPageById", path, query={"format": "markdown"})["markdown"])

    def id(self, slug: str) -> str:
        listed = self.world.made("listPages", {"spaceId": self.source})["pages"]
        return next(str(page["id"]) for page in listed if page["slug"] == slug)

    def write(self, space: str, page: str, words: str) -> None:
        self.world.write(space, [{"operation": "update_page", "page": page, "document": {"markdown": words}}])


def insert(title: str, words: str) -> dict[str, Any]:
    return {"operation": "insert_page", "title": title, "document": {"markdown": f"# {title}\n\n{words}\n"}}


@pytest.fixture
def scene(platform: tuple[Target, Clock]) -> Iterator[Scene]:
    scene = Scene(*platform)
    yield scene
    with scene.storage.write() as connection:
        connection.execute(jobs_table.delete())


def test_a_translation_is_a_copy_first_and_then_in_the_other_language(scene: Scene) -> None:
    assert scene.shown()["status"] == "pending"
    assert scene.pages(scene.result) == scene.pages(scene.source)
    space = scene.world.made("getSpaceById", {"spaceId": scene.result})
    assert (space["language"], space["title"]) == ("fr", "Guides (fr)")
    scene.work()
    done = scene.shown()
    assert done["status"] == "completed"
    assert scene.pages(scene.result)["home"] == "# Ĥööméé\n\nŴééļçööméé.\n"
    listed = scene.world.made("listPages", {"spaceId": scene.result})["pages"]
    assert [page["slug"] for page in listed] == ["home", "guide", "help"]
    assert all(f"# {page['title']}\n" in scene.text(scene.result, page["id"]) for page in listed)
    assert done["result"]["revision"] == scene.world.made("getSpaceById", {"spaceId": scene.result})["revision"]
    stats = done["stats"]
    assert (stats["runs"], stats["latestPages"], stats["totalPages"]) == (1, 3, 3)
    assert stats["latestWords"] == stats["totalWords"] == 3 * 2 + 5


def test_a_run_translates_only_what_changed(scene: Scene) -> None:
    scene.work()
    before = scene.pages(scene.result)
    assert scene.run()["stats"]["latestPages"] == 0
    revision = scene.shown()["result"]["revision"]
    scene.write(scene.source, scene.id("guide"), "# Guide\n\nRead all of it.\n")
    scene.world.write(scene.source, [insert("More", "There is more.")])
    stats = scene.run()["stats"]
    assert (stats["runs"], stats["latestPages"], stats["totalPages"]) == (3, 2, 5)
    after = scene.pages(scene.result)
    assert scene.shown()["result"]["revision"] != revision
    assert {slug for slug in before if after[slug] != before[slug]} == {"guide"}
    assert set(after) - set(before) == {"more"}


def test_what_people_did_to_the_translation_stays(scene: Scene) -> None:
    scene.work()
    scene.write(scene.result, scene.id("home"), "# Accueil\n\nBienvenue.\n")
    scene.world.write(scene.result, [{"operation": "delete_page", "page": scene.id("help")}])
    scene.write(scene.source, scene.id("guide"), "# Guide\n\nRead all of it.\n")
    scene.write(scene.source, scene.id("help"), "# Help\n\nAsk us, please.\n")
    scene.run()
    after = scene.pages(scene.result)
    assert after["home"] == "# Accueil\n\nBienvenue.\n"
    assert set(after) == {"home", "guide"}
    assert PseudoProvider().translate(["Read all of it."], WISH)[0] in after["guide"]
    scene.run()
    assert scene.pages(scene.result) == after


def test_what_is_removed_from_the_source_is_removed_from_the_result(scene: Scene) -> None:
    scene.work()
    scene.world.write(scene.source, [{"operation": "delete_page", "page": scene.id("help")}])
    scene.run()
    assert set(scene.pages(scene.result)) == {"home", "guide"}


def test_new_instructions_translate_everything_again(scene: Scene) -> None:
    scene.work()
    scene.world.made("updateTranslation", scene.path, body={"instructions": INSTRUCTIONS})
    assert scene.shown()["stats"]["runs"] == 1
    assert scene.run()["stats"]["latestPages"] == 3


def test_a_run_that_dies_goes_on_where_it_was(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Dying(PseudoProvider):
        def translate(self, texts: Sequence[str], wish: TranslationOptions) -> list[str]:
            if len(asked) == 2:
                asked.append("died")
                raise KeyboardInterrupt
            asked.append(texts[0])
            return super().translate(texts, wish)

    provider: Provider = Dying()
    monkeypatch.setattr(runs, "create_provider", lambda settings: provider)
    monkeypatch.setattr(runs, "PAGES_AT_ONCE", 1)
    with pytest.raises(KeyboardInterrupt):
        scene.work()
    assert scene.shown()["status"] == "running"
    assert scene.pages(scene.result) == scene.pages(scene.source)
    assert scene.work() == 0
    scene.clock.now += jobs.LEASE
    assert scene.work() == 1
    assert asked == ["Home", "Guide", "died", "Help"]
    done = scene.shown()
    assert (done["status"], done["stats"]["latestPages"]) == ("completed", 3)
    assert done["stats"]["latestRunDuration"] == jobs.LEASE / timedelta(milliseconds=1)


def test_a_long_run_comes_back_for_the_rest(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "PAGES_AT_ONCE", 1)
    monkeypatch.setattr(runs, "SLICE_S", 0.0)
    assert scene.work() == 4
    assert scene.shown()["stats"]["latestPages"] == 3


def test_a_run_asked_for_during_a_run_is_one_more_run(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    class Meddling(PseudoProvider):
        met = False

        def translate(self, texts: Sequence[str], wish: TranslationOptions) -> list[str]:
            if not self.met:
                self.met = True
                scene.write(scene.source, scene.id("home"), "# Home\n\nWelcome again.\n")
                scene.world.made("runTranslation", scene.path)
                assert scene.shown()["status"] == "running"
            return super().translate(texts, wish)

    provider = Meddling()
    monkeypatch.setattr(runs, "create_provider", lambda settings: provider)
    assert scene.work() == 2
    assert scene.shown()["stats"]["runs"] == 2
    assert PseudoProvider().translate(["again"], WISH)[0] in scene.pages(scene.result)["home"]


def test_a_translation_that_is_deleted_ends_and_its_space_stays(scene: Scene) -> None:
    scene.work()
    scene.world.made("runTranslation", scene.path)
    scene.world.made("deleteTranslation", scene.path)
    assert scene.work() == 1
    assert scene.world.call("getTranslation", scene.path).status_code == 404
    assert len(scene.pages(scene.result)) == 3


def test_a_deleted_source_ends_the_run(scene: Scene) -> None:
    scene.world.made("deleteSpaceById", {"spaceId": scene.source})
    scene.work()
    assert scene.shown()["status"] == "pending"


def test_a_translated_space_tells_that_its_content_moved(scene: Scene) -> None:
    path = installed(scene.world)
    scene.world.made("updateIntegrationInstallation", path, body={"space_selection": "all"})
    scene.work()
    listed = scene.world.made("listIntegrationEvents", {"integrationName": path["integrationName"]})["items"]
    assert listed[0]["payload"]["spaceId"] == scene.result


class Speaker(ThreadingHTTPServer):
    """A translation service: it says every text backwards, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Speaking)
        self.asked: list[dict[str, Any]] = []
        self.key = ""
        self.answer: bytes | None = None
        self.status = 200

    @property
    def endpoint(self) -> ServiceEndpoint:
        return ServiceEndpoint(f"http://127.0.0.1:{self.server_address[1]}/translate", key="a-key")


class _Speaking(BaseHTTPRequestHandler):
    server: Speaker

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        self.server.key = self.headers["Authorization"]
        said = [text[::-1] if "⟦" not in text else text for text in asked["texts"]]
        answer = json.dumps({"texts": said}).encode() if self.server.answer is None else self.server.answer
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def speaker() -> Iterator[Speaker]:
    with Speaker() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_service_translates_what_it_is_sent(scene: Scene, speaker: Speaker) -> None:
    scene.world.made("updateTranslation", scene.path, body={"instructions": INSTRUCTIONS})
    scene.work(translate=speaker.endpoint)
    assert scene.pages(scene.result)["help"] == "# pleH\n\n.su ksA\n"
    assert speaker.key == "Bearer a-key"
    [asked] = speaker.asked
    assert {name: asked[name] for name in asked if name != "texts"} == {
        "source": "en",
        "target": "fr",
        "instructions": "Say tu.",
    }
    assert len(asked["texts"]) == 9


def test_a_service_that_fails_is_asked_again_and_given_up_at_last(
    scene: Scene, speaker: Speaker, caplog: pytest.LogCaptureFixture
) -> None:
    speaker.status = 503
    for _ in range(runs.FAILURES_MAX):
        assert scene.work(translate=speaker.endpoint) == 1
        scene.clock.now += timedelta(minutes=5)
    assert scene.shown()["status"] == "pending"
    assert "given up" in caplog.text
    speaker.status = 200
    assert scene.run(translate=speaker.endpoint)["status"] == "completed"


@pytest.mark.parametrize("answer", [b"", b"[]", b"{}", b'{"texts": []}', b'{"texts": [1]}', b'{"texts": "a"}', b"\xff"])
def test_a_service_that_answers_something_else_failed(speaker: Speaker, answer: bytes) -> None:
    speaker.answer = answer
    with pytest.raises(ProviderFailed):
        ServiceProvider(speaker.endpoint).translate(["a"], WISH)


def test_many_texts_go_out_in_several_requests(speaker: Speaker) -> None:
    texts = [f"text {number}" for number in range(60)] + ["x" * 30_000, "end"]
    assert ServiceProvider(speaker.endpoint).translate(texts, WISH) == [text[::-1] for text in texts]
    assert [len(asked["texts"]) for asked in speaker.asked] == [50, 10, 1, 1]


def test_a_run_that_nobody_does_any_more_is_taken_up_when_it_is_asked_for(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "SLICE_S", 0.0)
    monkeypatch.setattr(runs, "PAGES_AT_ONCE", 1)
    runs.continue_run(jobs.JobContext(scene.storage, PlatformSettings()), {"translation": scene.path["translationId"]})
    with scene.storage.write() as connection:
        connection.execute(jobs_table.delete())
    scene.world.made("runTranslation", scene.path)
    assert scene.work() == 0
    scene.clock.now += jobs.LEASE + timedelta(seconds=1)
    assert scene.run()["status"] == "completed"
