"""Saved plans: `site plan --out` writes them, `site apply FILE` reads them and checks that nothing has changed."""

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
from syncd.plan.site.render.document import render_plan_document
from syncd.sync.site.approvals import VALID
from syncd.sync.site.flow import PreparedPlan

KIND = "syncd site plan"
BYTES_MAX = 64 << 20


@dataclass(frozen=True)
class SavedPlan:
    """What a saved plan was made from; `asked` are its options, `inputs` is a hash of the site file's texts."""

    syncd: str
    site: str
    file: str
    commit: str
    inputs: str
    digest: str
    snapshot: Mapping[Any, str]
    asked: Mapping[str, Any]
    at: str


def save_plan(path: Path, prepared: PreparedPlan, options: Mapping[str, Any], now: datetime) -> None:
    """Write a plan to a file that only its owner can read, whole or not at all. Raises: ConfigInvalid."""
    plan, source = prepared.plan, prepared.source
    at = now.isoformat(timespec="seconds")
    bound = SavedPlan(
        __version__,
        plan.site,
        source.path,
        source.commit,
        source.inputs(),
        plan.digest,
        dict(plan.snapshot),
        options,
        at,
    )
    document = {"format_version": FORMAT_VERSION, "kind": KIND, **asdict(bound), "plan": render_plan_document(plan)}
    data = json.dumps(document, ensure_ascii=False, indent=2, default=str) + "\n"
    try:
        replace_file(path.parent, path.name, data.encode(), mode=0o600)
    except OSError as error:
        raise ConfigInvalid(f"{path} cannot be written: {error.strerror}") from error


def load_plan(path: Path) -> SavedPlan:
    """Read a saved plan. Raises: ConfigInvalid when it cannot be read, FileInvalid when it is no saved plan."""
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
        found = SavedPlan(**{name: document[name] for name in SavedPlan.__dataclass_fields__})
        datetime.fromisoformat(found.at)
    except (KeyError, TypeError, ValueError) as error:
        raise FileInvalid("this is no saved plan", path=str(path), hint="syncd site plan --out FILE") from error
    return found


def check_age(saved: SavedPlan, now: datetime) -> None:
    """Check that a saved plan is of this version of syncd and recent enough. Raises: StalePlan."""
    if saved.syncd != __version__:
        raise _make_error(f"it was made by syncd {saved.syncd}, and this is {__version__}")
    if not timedelta() <= now - datetime.fromisoformat(saved.at) <= VALID:
        raise _make_error(f"it was made at {saved.at}; a plan holds for {VALID.total_seconds() / 3600:.0f} hours")


def check_same_plan(saved: SavedPlan, prepared: PreparedPlan) -> None:
    """Check that a saved plan is the same as the plan now. Raises: StalePlan."""
    plan, source = prepared.plan, prepared.source
    if saved.site != plan.site:
        raise _make_error(f"it is about site {saved.site}, and {source.path} about {plan.site}")
    if saved.inputs != source.inputs():
        raise _make_error(f"{source.path} has changed since commit {saved.commit[:10]}")
    if moved := sorted(area for area, seen in plan.snapshot.items() if saved.snapshot.get(area) != seen):
        raise _make_error(f"the site has changed since: {', '.join(moved)}")
    if saved.digest != plan.digest:
        raise _make_error(f"the plan is {plan.digest} now, not {saved.digest}")


def _make_error(why: str) -> StalePlan:
    return StalePlan(f"the saved plan does not hold: {why}; nothing was applied", hint="syncd site plan --out FILE")
