"""How alike an issue and a cluster are: the cosine of their words, each word worth more the fewer issues have it.

A cluster knows in how many of its issues each stem is, so an issue joins or leaves it at the cost of its own words.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from syncd.platform.services.stems import compute_stem

SIMILARITY_MIN = 0.24
"""The least likeness of an issue and the cluster that takes it."""
TERMS_MAX = 64
"""Stems that a cluster remembers: those in most of its issues."""
STRONGEST = 12
"""Stems by which a cluster is found."""
_LABEL_WORDS = 3
_ICONS = tuple(
    (icon, frozenset(map(compute_stem, words.split())))
    for icon, words in (
        ("key", "login password auth authenticate authentication token sso saml permission access credential signin"),
        ("credit-card", "billing invoice pay payment pricing price plan refund subscription charge"),
        ("gauge", "slow performance speed timeout latency fast load"),
        ("file-export", "export download pdf import upload"),
        ("magnifying-glass", "search find index result"),
        ("plug", "integration webhook api connect slack github git sync"),
        ("globe", "domain dns url publish ssl certificate site redirect"),
        ("language", "translate translation language locale"),
        ("triangle-exclamation", "error failure fail crash bug broken break"),
    )
)
_NO_ICON = "messages"


@dataclass(frozen=True)
class TermFrequencies:
    """In how many issues of an organization each stem is; `total` counts all issues."""

    total: int
    by_term: Mapping[str, int]

    def compute_weight(self, term: str) -> float:
        """Return the weight of a stem: the logarithm of how rare it is; positive also for the most frequent one."""
        return math.log(1 + (self.total + 1) / (self.by_term.get(term, 0) + 1))


@dataclass(frozen=True)
class Cluster:
    """The words of a cluster. Shape: `terms` maps each stem to the count of issues with it and one of its words."""

    id: str
    issues: int = 0
    terms: Mapping[str, tuple[int, str]] = field(default_factory=dict)

    def add_issue(self, terms: Mapping[str, str]) -> "Cluster":
        """Return the cluster with one more issue; `terms` has the issue's stems, each with a word that has it."""
        merged = dict(self.terms)
        for term, word in terms.items():
            count, known = merged.get(term, (0, word))
            merged[term] = (count + 1, known)
        return replace(self, issues=self.issues + 1, terms=_keep_most_frequent(merged))

    def remove_issue(self, terms: Iterable[str]) -> "Cluster":
        """Return the cluster without one of its issues; `terms` has the issue's stems."""
        left = dict(self.terms)
        for term in terms:
            count, word = left.pop(term, (0, ""))
            if count > 1:
                left[term] = (count - 1, word)
        return replace(self, issues=self.issues - 1, terms=left)

    def compute_similarity(self, terms: Iterable[str], known: TermFrequencies) -> float:
        """Return the cosine similarity, from 0 to 1, of an issue's stems and this cluster's, weighted by how rare they
        are.
        """
        mine = {term: count / self.issues * known.compute_weight(term) for term, (count, _) in self.terms.items()}
        theirs = {term: known.compute_weight(term) for term in terms}
        common = math.fsum(mine[term] * worth for term, worth in theirs.items() if term in mine)
        lengths = _compute_length(mine.values()) * _compute_length(theirs.values())
        return common / lengths if lengths else 0.0

    def list_strongest_terms(self, known: TermFrequencies) -> list[str]:
        """Return the stems that say most about this cluster, strongest first; equal ones in the alphabet's order."""
        weight = {term: count * known.compute_weight(term) for term, (count, _) in self.terms.items()}
        return sorted(weight, key=lambda term: (-weight[term], term))[:STRONGEST]

    def build_label(self, known: TermFrequencies) -> str:
        """Return a few words that name it."""
        chosen = [self.terms[term][1] for term in self.list_strongest_terms(known)[:_LABEL_WORDS]]
        text = " ".join(chosen)
        return text[:1].upper() + text[1:]

    def choose_icon(self, known: TermFrequencies) -> str:
        """Return the name of a picture that suits its strongest words."""
        strongest = self.list_strongest_terms(known)
        return next((icon for icon, stems in _ICONS if not stems.isdisjoint(strongest)), _NO_ICON)


def find_nearest_cluster(clusters: Iterable[Cluster], terms: Iterable[str], known: TermFrequencies) -> Cluster | None:
    """Return the cluster that is similar enough to take an issue, or None for a new one."""
    mine = list(terms)
    rated = [(cluster.compute_similarity(mine, known), cluster.id, cluster) for cluster in clusters]
    best = max(rated, key=lambda one: one[:2], default=None)
    return best[2] if best is not None and best[0] >= SIMILARITY_MIN else None


def _keep_most_frequent(terms: Mapping[str, tuple[int, str]]) -> Mapping[str, tuple[int, str]]:
    if len(terms) <= TERMS_MAX:
        return terms
    kept = sorted(terms, key=lambda term: (-terms[term][0], term))[:TERMS_MAX]
    return {term: terms[term] for term in kept}


def _compute_length(weights: Iterable[float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in weights))
