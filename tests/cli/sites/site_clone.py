"""A clone whose site file is about a served site, commands run in this process, and golden files of what they say."""

import json
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from syncd.api.client import Client
from syncd.cli.app import run
from syncd.model.site import SiteCreate, SiteSectionCreate
from syncd.model.space import SpaceCreate

GOLDEN = Path(__file__).parents[2] / "golden" / "site"
_MASKS = (
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?: UTC|[+:0-9Z]*)"), "MOMENT"),
    (re.compile(r" in \d+\.\d s"), " in N s"),
    (re.compile(r"(?<=@ )[0-9a-f]{7}\b"), "COMMIT"),
)


@dataclass
class SiteClone:
    """What a test has in hand."""

    shell: Any
    capsys: pytest.CaptureFixture[str]
    docs: Path
    client: Client
    organization: str
    site: str
    spaces: dict[str, str]
    code: int = 0
    errors: str = ""
    _digests: dict[str, str] = field(default_factory=dict)

    @property
    def head(self) -> str:
        """The beginning of every site file here."""
        spaces = "".join(f"  {alias}: {id}\n" for alias, id in self.spaces.items())
        return f"version: 1\nsite: {{ org: {self.organization}, id: {self.site} }}\nspaces:\n{spaces}"

    def write(self, text: str, *, commit: bool = True) -> None:
        """Given what a site file says below its beginning, write it, and commit it."""
        (self.docs / "site.yaml").write_text(self.head + text)
        if commit:
            self.shell.git("add", "site.yaml", cwd=self.docs)
            self.shell.git("commit", "--quiet", "--message", "Site", cwd=self.docs)

    def configure(self, text: str = "") -> None:
        """Given further keys, name the site file in the configuration, in place of what was said of it before."""
        config = self.docs / ".git" / "syncd.toml"
        before = config.read_text().split("[repository.site]")[0]
        config.write_text(f"{before}[repository.site]\n{text}")

    def __call__(self, *words: str, code: int = 0) -> str:
        """Given the words of a command, run it, and return what it said to standard output."""
        self.capsys.readouterr()
        self.code = run([*words, "--config", str(self.docs / ".git" / "syncd.toml")])
        said = self.capsys.readouterr()
        self.errors = said.err
        assert self.code == code, said.out + said.err
        return said.out

    def json(self, *words: str, code: int = 0) -> Any:
        """Given the words of a command, run it for a machine."""
        return json.loads(self(*words, "--json", code=code))

    def sources(self) -> list[str]:
        """The sources of the site's redirects."""
        return sorted(each.source for each in self.client.redirects.list(self.organization, self.site))

    def sections(self) -> dict[str, str]:
        """The titles of the site's sections, by their path."""
        return {each.path: each.title for each in self.client.sections.list(self.organization, self.site)}

    def masked(self, text: str) -> str:
        """Given what a command said, return it without what is another in every run."""
        names = {self.site: "SITE", self.organization: "ORG", str(self.docs): "DOCS"}
        names |= {id: f"SPACE-{alias}" for alias, id in self.spaces.items()}
        for section in self.client.sections.list(self.organization, self.site):
            names[section.id] = f"SECTION-{section.path}"
            names |= {one.id: f"VARIANT-{section.path}-{one.path}" for one in section.site_spaces}
        for id, name in sorted(names.items(), key=lambda pair: -len(pair[0])):
            text = text.replace(id, name)
        for pattern, name in _MASKS:
            text = pattern.sub(name, text)
        return re.sub(r"\b[0-9a-f]{12}\b", self._digest, text)

    def golden(self, name: str, text: str) -> None:
        """Given the name of a golden file, make sure that a command said just this; GOLDEN=write takes it as it is."""
        file, masked = GOLDEN / name, self.masked(text)
        if os.environ.get("GOLDEN") == "write":
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(masked)
        assert masked == file.read_text()

    def _digest(self, match: re.Match[str]) -> str:
        return self._digests.setdefault(match[0], f"DIGEST-{len(self._digests) + 1}")


@contextmanager
def create_sites(shell: Any, capsys: pytest.CaptureFixture[str]) -> Iterator[SiteClone]:
    """Given a served platform, make a clone, three spaces and a site with two sections."""
    docs = shell.root / "docs"
    assert run(["clone", shell.url, shell.space, str(docs), "--token-file", str(shell.token)]) == 0
    with Client(shell.url, shell.token.read_text().strip()) as client:
        organization = client.spaces.get(shell.space).organization or ""
        spaces = {"guides": shell.space}
        for alias in ("api", "empty"):
            spaces[alias] = client.spaces.create(organization, SpaceCreate(title=alias.title())).id
        site = client.sites.create(organization, SiteCreate(title="Acme")).id
        for alias in ("guides", "api"):
            made = SiteSectionCreate(space_id=spaces[alias], title=alias.title())
            client.sections.create(organization, site, made)
        client.sites.publish(organization, site)
        each = SiteClone(shell, capsys, docs, client, organization, site, spaces)
        each.configure()
        yield each
