"""Rules about the policy of a site and about comments that silence a rule: SY501 and SY502."""

from collections.abc import Iterator

from syncd.layout.lint.finding import Finding
from syncd.layout.site.check.structure import quote_name
from syncd.layout.site.read.declared import Place, SiteFile
from syncd.layout.site.read.rules import MILD, SITE_RULES, report_finding


def check_policy(file: SiteFile) -> Iterator[Finding]:
    """Yield findings about the limits and the holding space of a site file (SY501)."""
    for area, limits in file.policy.limits.items():
        for name, high in (("max_delete", None), ("max_delete_pct", 100), ("max_update_pct", 100)):
            value = getattr(limits, name)
            if value is not None and (value < 0 or (high is not None and value > high)):
                needed = f"0 to {high}" if high is not None else "0 or more"
                place = _find_place(file, f"policy.limits.{area}.{name}", f"policy.limits.{area}")
                yield report_finding("SY501", place, f"{name} is {value}; it must be {needed}")
    for item in file.of("variant"):
        if file.holding and item.fields.get("space") == file.holding:
            message = f"holding_space is also the space of variant {quote_name(item.key)}; it has to be an empty space"
            yield report_finding("SY501", _find_place(file, "structure.holding_space"), message)


def check_silence(file: SiteFile) -> Iterator[Finding]:
    """Yield the comments that silence nothing because of what they name (SY502)."""
    for (path, line), codes in file.silenced.items():
        for code in sorted(codes):
            place = Place(path, line)
            if code not in SITE_RULES:
                yield report_finding(
                    "SY502", place, f"there is no rule {quote_name(code)} to ignore", "syncd explain SY lists them"
                )
            elif SITE_RULES[code].severity == "error" and code not in MILD:
                yield report_finding("SY502", place, f"{code} is an error; only warnings can be ignored")


def _find_place(file: SiteFile, *names: str) -> Place:
    return next((file.places[name] for name in names if name in file.places), Place(file.path))
