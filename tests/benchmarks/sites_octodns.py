"""octodns between two of its YAML providers, in an interpreter that has it: plan, apply and plan with no change.

Run as a script, isolated (-I), with a directory and a number of records; prints JSON: seconds of wall and CPU time.
"""

import json
import logging
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ZONE = "example.com."


def main() -> None:
    """Measure in the directory that the command line names."""
    root, count = Path(sys.argv[1]), int(sys.argv[2])
    logging.disable(logging.CRITICAL)
    config = _prepared(root, count)
    import octodns.manager  # noqa: F401  so that loading it is not measured

    spent = {name: _cost(partial(_sync, config, doit=doit)) for name, doit in _WORK}
    wanted = (root / "desired" / f"{ZONE}yaml").read_text().count("\n  type:")
    made = (root / "existing" / f"{ZONE}yaml").read_text().count("\n  type:")
    if wanted != made or made != count:
        raise RuntimeError(f"octodns wrote {made} of {count} records")
    print(json.dumps({"version": _version(), **spent}))


_WORK = (("plan", False), ("apply", True), ("again", False))


def _prepared(root: Path, count: int) -> Path:
    for name in ("desired", "existing"):
        (root / name).mkdir(parents=True)
    records = (f"old-{number:05d}:\n  ttl: 300\n  type: CNAME\n  value: home.example.com.\n" for number in range(count))
    (root / "desired" / f"{ZONE}yaml").write_text("---\n" + "".join(records))
    (root / "existing" / f"{ZONE}yaml").write_text("--- {}\n")
    provider = "octodns.provider.yaml.YamlProvider"
    config = root / "config.yaml"
    text = "providers:\n" + "".join(
        f"  {name}:\n    class: {provider}\n    directory: {root / name}\n    default_ttl: 300\n"
        for name in ("desired", "existing")
    )
    config.write_text(f"---\n{text}zones:\n  {ZONE}:\n    sources: [desired]\n    targets: [existing]\n")
    return config


def _sync(config: Path, *, doit: bool) -> None:
    from octodns.manager import Manager

    Manager(str(config)).sync(dry_run=not doit)


def _cost(work: Callable[[], Any]) -> dict[str, float]:
    cpu, wall = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    work()
    now = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": now.ru_utime + now.ru_stime - cpu.ru_utime - cpu.ru_stime,
    }


def _version() -> str:
    import octodns

    return str(getattr(octodns, "__version__", octodns.__dict__.get("__VERSION__", "")))


if __name__ == "__main__":
    main()
