"""Saved plans: what `site plan --out` writes and `site apply FILE` takes, bound to all that it was made from."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from syncd import __version__
from syncd.cli.terminal.text import FORMAT_VERSION
from syncd.errors import ConfigInvalid, FileInvalid, StalePlan
from syncd.files import replace_file
from syncd.plan.site.render.document import plan_document
from syncd.sync.site.approvals import VALID
from syncd.sync.site.flow import Prepared

KIND = "syncd site plan"
BYTES_MAX = 64 << 20


@dataclass(frozen=True)
class Saved:
    """What a plan is bound to; `asked` are the words it was asked for with, `inputs` tells its file from others."""

    syncd: str
    site: str
    file: str
    commit: str
    inputs: str
    digest: str
    snapshot: Mapping[Any, str]
    asked: Mapping[str, Any]
    at: str


def save(path: Path, prepared: Prepared, asked: Mapping[str, Any], now: datetime) -> None:
    """Given where to and a plan, write it for its owner only, whole or not at all. Raises: ConfigInvalid."""
    plan, source = prepared.plan, prepared.source
    at = now.isoformat(timespec="seconds")
    bound = Saved(
        __version__,
        plan.site,
        source.path,
        source.commit,
        source.inputs(),
        plan.digest(),
        dict(plan.snapshot),
        asked,
        at,
    )
    document = {"format_version": FORMAT_VERSION, "kind": KIND, **asdict(bound), "plan": plan_document(plan)}
    data = json.dumps(document, ensure_ascii=False, indent=2, default=str) + "\n"
    try:
        replace_file(path.parent, path.name, data.encode(), mode=0o600)
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be written: {error.strerror}") from error


def load(path: Path) -> Saved:
    """Given a file, return the plan that was saved there. Raises: ConfigInvalid, FileInvalid."""
    try:
        if path.stat().st_size > BYTES_MAX:
            raise FileInvalid("this is no saved plan: it is far too large", path=str(path))
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise FileInvalid("this is no saved plan", path=str(path), hint="syncd site plan --out FILE") from error
    try:
        if document["kind"] != KIND:
            raise KeyError("kind")
        found = Saved(**{name: document[name] for name in Saved.__dataclass_fields__})
        datetime.fromisoformat(found.at)
    except (KeyError, TypeError, ValueError) as error:
        raise FileInvalid("this is no saved plan", path=str(path), hint="syncd site plan --out FILE") from error
    return found


def check_text(saved: Saved, now: datetime) -> None:
    """Given a saved plan, make sure that it still holds by itself. Raises: StalePlan."""
    if saved.syncd != __version__:
        raise _stale(f"it was made by syncd {saved.syncd}, and this is {__version__}")
    if not timedelta() <= now - datetime.fromisoformat(saved.at) <= VALID:
        raise _stale(f"it was made at {saved.at}; a plan holds for {VALID.total_seconds() / 3600:.0f} hours")


def check_plan(saved: Saved, prepared: Prepared) -> None:
    """Given a saved plan and the plan as it is now, make sure that they are the same. Raises: StalePlan."""
    plan, source = prepared.plan, prepared.source
    if saved.site != plan.site:
        raise _stale(f"it is about site {saved.site}, and {source.path} about {plan.site}")
    if saved.inputs != source.inputs():
        raise _stale(f"{source.path} has changed since commit {saved.commit[:10]}")
    if moved := sorted(area for area, seen in plan.snapshot.items() if saved.snapshot.get(area) != seen):
        raise _stale(f"the site has changed since: {', '.join(moved)}")
    if saved.digest != plan.digest():
        raise _stale(f"the plan is {plan.digest()} now, not {saved.digest}")


def _stale(why: str) -> StalePlan:
    return StalePlan(f"the saved plan does not hold: {why}; nothing was applied", hint="syncd site plan --out FILE")
