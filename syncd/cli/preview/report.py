"""What the terminal says of a preview: what is wrong, first; then only what came and what was mended."""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock

from syncd.cli.check.findings import find_display_path
from syncd.cli.preview.live import PreviewState
from syncd.cli.terminal.text import escape, print_text, style_text
from syncd.layout.lint.finding import Finding
from syncd.model.wording import format_count

_SHOWN = 20
_COLOURS = {"error": 31, "warning": 33, "info": 36}
_Findings = dict[tuple[str, str, str, int], Finding]
"""By path, code, message, and how many of these stand before it: a finding that only moved is no new one."""


@dataclass
class PreviewReport:
    """Prints findings on stderr as they come and go; nothing of them when it is quiet."""

    top: Path
    is_quiet: bool = False
    _known: _Findings | None = None
    _lock: Lock = field(default_factory=Lock)

    def print_state(self, state: PreviewState) -> None:
        """Print what is wrong in the pages and the site file, as far as it was not printed before."""
        if self.is_quiet:
            return
        found: _Findings = {}
        counts = Counter[tuple[str, str, str]]()
        for path, listed in state.list_findings().items():
            for finding in listed:
                if finding.severity != "info":
                    same = path, finding.code, finding.message
                    found[*same, counts[same]] = finding
                    counts[same] += 1
        with self._lock:
            former, self._known = self._known, found
            self._print_findings(state, found, former)

    def print_notice(self, text: str) -> None:
        """Print a defect of the preview itself."""
        print_text(escape(text), sys.stderr)

    def _print_findings(self, state: PreviewState, found: _Findings, former: _Findings | None) -> None:
        fresh = [key for key in found if former is None or key not in former]
        for key in fresh[:_SHOWN]:
            finding = found[key]
            where = find_display_path(state.site.top / key[0])
            severity = style_text(finding.severity, _COLOURS[finding.severity], sys.stderr)
            place = f"{escape(where)}:{finding.line}:{finding.column}"
            print_text(f"{place}: {severity} {finding.code}: {escape(finding.message)}", sys.stderr)
            if finding.hint:
                print_text(f"    hint: {escape(finding.hint)}", sys.stderr)
        if len(fresh) > _SHOWN:
            print_text(f"and {len(fresh) - _SHOWN} more; syncd check lists all", sys.stderr)
        mended = len([key for key in former or () if key not in found])
        if mended:
            print_text(f"{format_count(mended, 'problem')} mended", sys.stderr)
        if former is None or fresh or mended:
            left = f"{format_count(len(found), 'problem')} left" if found else "Nothing to mend"
            print_text(f"{left}.", sys.stderr)
        sys.stderr.flush()
