"""A process that writes to a state database, for tests that run two of it or kill it."""

import itertools
import sys
from pathlib import Path

from syncd.model.anchor import Anchor
from syncd.store.store import Store


def lanes(store: Store, lane: str) -> None:
    for number in range(50):
        store.read_last_seen("space", lane)
        anchor = Anchor(str(number), "page", f"{number}.md", "", "", "")
        store.save_last_seen("space", lane, revision="", commit="", put=[anchor], removed=[])


def anchors(store: Store) -> None:
    for turn in itertools.count():
        commit = f"{turn:040}"
        put = [Anchor(f"id{number}", "page", f"{number}.md", f"{number}", "", commit) for number in range(2000)]
        store.save_last_seen(
            "space", "main", revision=str(turn), commit=commit, put=put, removed=[], replace=turn % 2 == 0
        )
        if turn == 0:
            print("saving", flush=True)


with Store(Path(sys.argv[2])) as opened:
    if sys.argv[1] == "lanes":
        lanes(opened, sys.argv[3])
    else:
        anchors(opened)
