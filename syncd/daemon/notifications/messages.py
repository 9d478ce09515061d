"""Texts of notifications, as JSON that Slack's incoming webhooks take, and as plain lines. Pure.

What comes from outside, such as the path of a page, is one line without what nobody sees, and has no sign that Slack
would take for a mention or a link. Source: docs.slack.dev, "Formatting message text" and "Blocks".
"""

import json
from collections.abc import Iterator, Sequence

from syncd.model.text import join_lines
from syncd.model.wording import format_count
from syncd.store.incidents import Incident, Notification

INCIDENTS_MAX = 10
"""Incidents of one notification that are described; of more it gives the number."""
_TITLE_MAX, _LINE_MAX, _SECTION_MAX = 150, 600, 2900
"""Characters of a title, of a line, and of one section in Slack, whose own limit is 3000."""
_TITLES = {
    "conflict": "{count} in conflict",
    "held": "waits for a person",
    "failed": "does not work",
    "recovered": "works again",
    "merged": "{requests} merged",
    "outdated": "{requests} outdated",
    "reviewed": "{requests} reviewed",
}


def format_title(event: str, repository: str, incidents: Sequence[Incident]) -> str:
    """Return the one line that says what happened and where."""
    settled = event == "recovered" and all(one.event == "conflict" for one in incidents)
    text = "{count} in conflict settled" if settled else _TITLES.get(event, event)
    requests = format_count(len({one.key for one in incidents}), "change request")
    text = text.format(count=format_count(len(incidents), "page"), requests=requests)
    return join_lines(f"{repository}: {text}")[:_TITLE_MAX]


def format_lines(event: str, incidents: Sequence[Incident]) -> tuple[str, ...]:
    """Return lines that say what, where, and what to do next, with the address on the platform."""
    lines = [line for one in incidents[:INCIDENTS_MAX] for line in _list_lines(event, one)]
    rest = len(incidents) - INCIDENTS_MAX
    return (*lines, *([f"and {rest} more: syncd status"] if rest > 0 else []))


def render_slack(notification: Notification) -> bytes:
    """Return a notification as JSON with `text` and `blocks`."""
    title, lines = _escape_slack(notification.title), [_escape_slack(line) for line in notification.lines]
    sections = [f"*{title}*", *_join_sections(lines)]
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": text}} for text in sections]
    document = {"text": "\n".join([title, *lines]), "blocks": blocks}
    return json.dumps(document, ensure_ascii=False).encode("utf-8", "replace")


def _list_lines(event: str, incident: Incident) -> Iterator[str]:
    what = f"{incident.flow} {incident.key}".rstrip()
    yield _shorten_text(what if event == "recovered" else f"{what}: {incident.why}")
    if event not in ("recovered", "merged"):
        # The first way to go on; the manual and syncd status have the others.
        hints = [line for line in incident.hint.split("\n") if line.strip()]
        yield _shorten_text(f"next: {hints[0]}" if hints else "next: syncd status")
    if incident.address:
        yield _shorten_text(incident.address)


def _shorten_text(text: str) -> str:
    line = join_lines(text)
    return line if len(line) <= _LINE_MAX else f"{line[: _LINE_MAX - 1]}…"


def _escape_slack(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _join_sections(lines: Sequence[str]) -> Iterator[str]:
    section = ""
    for line in lines:
        if section and len(section) + len(line) >= _SECTION_MAX:
            yield section
            section = ""
        section = f"{section}\n{line}" if section else line[:_SECTION_MAX]
    if section:
        yield section
