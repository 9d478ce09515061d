"""The documents keep pace with the code: what a person can type, set, meet or click on is in the manual, and works."""

import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from syncd import __version__, errors
from syncd.cli.app import app
from syncd.cli.terminal.tree import build_tree
from syncd.config import Config
from syncd.layout.lint.rules import RULES, Rule
from syncd.layout.markdown.addresses import resolve_address
from syncd.layout.page.frontmatter import read_fields, read_heading
from syncd.layout.page.links import find_targets
from syncd.layout.site.check.file import check_site
from syncd.layout.site.read import shape
from syncd.layout.site.read.file import list_named_files, read_site_file
from syncd.layout.tree.paths import check_safe_path
from syncd.layout.tree.settings import Settings, derive_page_slug, read_settings
from syncd.layout.tree.summary import parse_summary, render_summary, walk_entries
from tests.cli.command_runner import make_runner

ROOT = Path(__file__).parent.parent
MANUAL = ROOT / "syncd" / "manual"
PAGES = {path.relative_to(MANUAL).as_posix(): path.read_text(encoding="utf-8") for path in sorted(MANUAL.rglob("*.md"))}
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
EXAMPLE_TEXT = (ROOT / "config.example.toml").read_text(encoding="utf-8")
EXAMPLE = tomllib.loads(EXAMPLE_TEXT)
COMMANDS_PAGE = PAGES["reference/commands.md"]
_SHELL = re.compile(r"^```(?:sh|shell|bash|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands() -> dict[str, Any]:
    """Every command by the words that people type after `syncd`."""
    found: dict[str, Any] = {}
    pending: list[tuple[tuple[str, ...], Any]] = [((), build_tree(app))]
    while pending:
        words, command = pending.pop()
        below = getattr(command, "commands", None)
        if words and (below is None or command.invoke_without_command):
            found[" ".join(words)] = command
        if below is not None:
            pending += [((*words, name), child) for name, child in below.items()]
    return found


COMMANDS = commands()


def options(command: Any) -> list[str]:
    """The long names of a command's options."""
    return [name for param in command.params for name in (*param.opts, *param.secondary_opts) if name.startswith("--")]


def keys(model: type[BaseModel], above: str = "") -> Iterator[tuple[str, str]]:
    """Every key of a configuration model, with the table that it stands in."""
    for name, field in model.model_fields.items():
        yield above, name
        for part in parts(field.annotation):
            yield from keys(part, f"{above}.{name}".strip("."))


def parts(annotation: Any) -> Iterator[type[BaseModel]]:
    """The models inside an annotation, such as `tuple[Model, ...] | None`."""
    if inspect.isclass(annotation) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from parts(inner)


KEYS = list(keys(Config))
LISTS = {"repository", "repository.space", "webhooks.source", "notifications.target"}
"""Tables of the configuration of which there may be several."""
ERRORS = [error for _, error in inspect.getmembers(errors, inspect.isclass) if issubclass(error, errors.SyncdError)]


def section(page: str, title: str) -> str:
    """The part of a page under one second-level heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGES[page], re.MULTILINE | re.DOTALL)
    assert found, f"{page} has no section {title!r}"
    return found[1]


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_and_option_is_in_the_manual(words: str) -> None:
    told = section("reference/commands.md", f"syncd {words}")
    for option in options(COMMANDS[words]):
        assert re.search(rf"{option}\b", told), f"syncd {words} {option} is not in reference/commands.md"


@pytest.mark.parametrize("words", COMMANDS)
def test_every_option_of_a_command_is_explained_in_a_table(words: str) -> None:
    for option in options(COMMANDS[words]):
        assert re.search(rf"^\| `{option}[ `]", COMMANDS_PAGE, re.MULTILINE), f"{option} has no row"


@pytest.mark.parametrize("words", COMMANDS)
def test_the_manual_names_no_option_that_a_command_lacks(words: str) -> None:
    told = section("reference/commands.md", f"syncd {words}")
    synopsis = re.search(r"^```text\n(.*?)^```", told, re.MULTILINE | re.DOTALL)
    assert synopsis, f"syncd {words} has no synopsis"
    assert set(re.findall(r"--[a-z0-9-]+", synopsis[1])) == set(options(COMMANDS[words]))


def test_the_manual_names_no_command_that_is_not_there() -> None:
    told = set(re.findall(r"^## syncd (.+)$", COMMANDS_PAGE, re.MULTILINE))
    assert told == set(COMMANDS)


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_is_in_the_readme(words: str) -> None:
    assert f"`{words}`" in README.replace("\n", " ")


@pytest.mark.parametrize(("table", "key"), KEYS)
def test_every_configuration_key_is_in_the_manual_and_in_the_example(table: str, key: str) -> None:
    if not table:
        assert key in PAGES["reference/configuration.md"]
    else:
        title = f"[[{table}]]" if table in LISTS else f"[{table}]"
        told = section("reference/configuration.md", title)
        assert re.search(rf"^\| `{key}` \|", told, re.MULTILINE), f"{table}.{key} has no row"
    here: Any = EXAMPLE
    for part in filter(None, table.split(".")):
        # Two tables of a list may show what excludes each other.
        here = {name: one[name] for one in here[part] for name in one} if isinstance(here[part], list) else here[part]
    # A key that excludes another one of its table stands there as a comment.
    is_commented = re.search(rf"^# {key} = ", EXAMPLE_TEXT, re.MULTILINE) is not None
    assert key in here or is_commented, f"{table}.{key} is not in config.example.toml"


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_error_is_in_the_manual_with_its_code_and_retry(error: type[errors.SyncdError]) -> None:
    row = re.search(rf"^\| `{error.__name__}` \| (\d+) \| ([^|]+) \|", PAGES["reference/errors.md"], re.MULTILINE)
    assert row, f"{error.__name__} is not in reference/errors.md"
    assert int(row[1]) == error.exit_code
    assert error is errors.SyncdError or row[2] == error.retry.value


@pytest.mark.parametrize("code", sorted({error.exit_code for error in ERRORS} | {0, 2, 4, 64, 130, 141}))
def test_every_exit_code_is_in_the_manual(code: int) -> None:
    assert re.search(rf"^\| {code} \|", PAGES["reference/exit-codes.md"], re.MULTILINE)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.code)
def test_every_rule_of_the_check_is_in_the_manual_with_its_severity(rule: Rule) -> None:
    severity = f"{rule.severity}, whole file" if rule.is_whole_file else rule.severity
    assert re.search(rf"^\| `{rule.code}` \| {severity} \| ", PAGES["reference/checks.md"], re.MULTILINE)


def test_the_changelog_begins_with_what_is_not_released_or_this_version() -> None:
    versions = re.findall(r"^## \[([^]]+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert versions[1:2] in ([], [__version__])


def site_keys() -> set[str]:
    """Every key that the reader of the site file knows, from the tables of its shape."""
    tables = [table for table in vars(shape).values() if isinstance(table, dict)]
    return {name for table in tables for name, key in table.items() if isinstance(key, shape.Key)}


def test_the_keys_of_the_site_file_are_found() -> None:
    assert {"org", "id", "prune", "allow_empty", "from", "to", "note", "in", "raw", "absent"} <= site_keys()


@pytest.mark.parametrize("key", sorted(site_keys()))
def test_every_key_of_the_site_file_is_in_the_manual(key: str) -> None:
    assert re.search(rf"^\| `[^|]*\b{key}\b[^|]*` \|", PAGES["reference/site-file.md"], re.MULTILINE)


@pytest.mark.parametrize("page", ["reference/site-file.md", "how-to/redirects.md"])
def test_the_example_of_the_site_file_is_a_site_file(page: str) -> None:
    example = re.search(r"^```yaml\n(.*?)^```", PAGES[page], re.MULTILINE | re.DOTALL)
    assert example
    others = dict.fromkeys(list_named_files(example[1], path="site.yaml"), "")
    file, findings = read_site_file(example[1], path="site.yaml", others=others)
    assert file is not None
    wrong = [one for one in (*findings, *check_site(file)) if one.severity == "error"]
    assert not wrong


@pytest.mark.parametrize("page", PAGES)
def test_every_link_of_the_manual_leads_somewhere(page: str) -> None:
    for target in find_targets(PAGES[page]):
        if re.match(r"[a-z]+:", target.text):
            continue
        found = resolve_address(target.text, at=page)
        assert found is not None, f"{page}: {target.text} leads out of the manual"
        assert found[0] in PAGES, f"{page}: there is no {target.text}"
        assert not found[1], f"{page}: {target.text} names an anchor, which platforms spell differently"


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md"])
def test_every_link_of_the_repository_leads_somewhere(document: str) -> None:
    for target in find_targets((ROOT / document).read_text(encoding="utf-8")):
        if not re.match(r"[a-z]+:", target.text):
            assert (ROOT / target.text).exists(), f"{document}: there is no {target.text}"


def test_every_file_that_the_readme_sends_people_to_exists() -> None:
    folders = section_of(README, "The map of the code")
    for path in re.findall(r"`([a-z]+(?:/[a-z_]*)*(?:/|\.py))`", folders):
        assert (ROOT / path).exists() or (ROOT / "syncd" / path).exists(), f"README.md: there is no {path}"


def section_of(text: str, title: str) -> str:
    """The part of a text under one second-level heading."""
    return text.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


_CITED = re.compile(r'([\w/.-]+\.md|tests/[\w/.-]+\.py)(?:,\s+"([^"]+)")?')


def test_every_page_that_a_docstring_cites_is_there_with_its_heading() -> None:
    cited = {
        (path.name, document, heading)
        for path in (ROOT / "syncd").rglob("*.py")
        for source in re.findall(r"Source:(.*?)(?:\n\s*\n|\"\"\")", path.read_text(encoding="utf-8"), re.DOTALL)
        for document, heading in _CITED.findall(source)
    }
    assert len(cited) > 20
    assert not [one for one in cited if not (ROOT / one[1]).is_file()]
    assert not [
        one
        for one in cited
        if one[2] and not re.search(rf"^#+ {re.escape(one[2])}$", (ROOT / one[1]).read_text("utf-8"), re.MULTILINE)
    ]


def test_every_runtime_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.split(r"[<>=\[]", dependency, maxsplit=1)[0] for dependency in project["dependencies"]}
    told = re.findall(r"^\| `([a-z0-9.-]+)` \| .+ \|$", section_of(ARCHITECTURE, "What it stands on"), re.MULTILINE)
    assert set(told) == needed


def find_installations() -> list[tuple[str, str]]:
    """Every command that installs packages, in the manual, the README, units, recipes and what the program says."""
    files = [
        *MANUAL.rglob("*.md"),
        ROOT / "README.md",
        *(ROOT / "systemd").rglob("*.service"),
        *(path for path in (ROOT / "docs" / "recipes").rglob("*") if path.is_file()),
        *(ROOT / "syncd").rglob("*.py"),
    ]
    tool = re.compile(r"\b(?:pip3? install|pipx \w+|uv pip install|uv tool \w+|uvx|poetry add)\b[^\n`)]*")
    return [
        (path.relative_to(ROOT).as_posix(), found[0])
        for path in files
        for found in tool.finditer(path.read_text(encoding="utf-8"))
    ]


def test_nobody_is_told_to_install_syncd_by_name_from_a_public_index() -> None:
    installations = find_installations()
    assert installations
    for path, command in installations:
        own = re.search(r"(?<![\w./-])syncd\b(?!/)", command)
        assert not own or "--no-index --find-links" in command[: own.start()], f"{path}: {command}"


def test_a_library_that_an_extra_needs_is_named_with_the_versions_of_the_project() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    wanted = {requirement for name in ("postgres", "s3", "saml", "mcp") for requirement in extras[name]}
    named = {found for _, command in find_installations() for found in re.findall(r"'([^'.]\S+[<>=]\S+)'", command)}
    assert named == wanted


def test_the_readme_stays_short() -> None:
    assert README.count("\n") <= 150


def test_the_table_of_contents_lists_every_page_once_and_is_canonical() -> None:
    entries = parse_summary(PAGES["SUMMARY.md"])
    listed = [entry.path for entry, _ in walk_entries(entries) if entry.kind == "document"]
    assert sorted(path for path in listed if path) == sorted(PAGES.keys() - {"SUMMARY.md"})
    assert render_summary(entries) == PAGES["SUMMARY.md"]


@pytest.mark.parametrize("page", sorted(PAGES.keys() - {"SUMMARY.md"}))
def test_every_page_is_a_good_page(page: str) -> None:
    entries = {entry.path: entry for entry, _ in walk_entries(parse_summary(PAGES["SUMMARY.md"]))}
    assert read_heading(PAGES[page]) == entries[page].title
    assert check_safe_path(page) == page
    assert len(read_fields(PAGES[page], at=page).get("description", "")) <= 200
    assert PAGES[page].endswith("\n")
    assert "\r" not in PAGES[page]
    assert page == "README.md" or derive_page_slug(page, settings=Settings())


def typed() -> list[tuple[str, str]]:
    """Every line of a shell block, in the manual and the README, that runs syncd; continued lines are joined."""
    found = []
    for name, text in [*PAGES.items(), ("../README.md", README)]:
        for block in _SHELL.findall(text):
            for line in block.replace("\\\n", " ").splitlines():
                if re.match(r"\s*(?:\$ )?syncd\s", line):
                    found.append((name, line.strip().removeprefix("$ ")))
    return found


@pytest.mark.parametrize(("page", "line"), typed())
def test_every_command_line_of_the_manual_can_be_typed(page: str, line: str) -> None:
    words = shlex.split(line, comments=True)[1:]
    words = list(takewhile(lambda word: word not in (">", "|"), words))
    length = next((size for size in (3, 2, 1) if " ".join(words[:size]) in COMMANDS), 0)
    assert length, f"{page}: {line} names no command"
    command = COMMANDS[" ".join(words[:length])]
    used = {word.partition("=")[0] for word in words[length:] if word.startswith("--")}
    assert used <= set(options(command)), f"{page}: {line}"
    # Parsing fails on a missing argument, an unknown option and a value of the wrong kind; nothing is run.
    with command.make_context("syncd", words[length:]):
        pass


@pytest.mark.parametrize("word", re.findall(r"`(syncd [a-z]+(?: [a-z]+){0,2})", "\n".join(PAGES.values()) + README))
def test_every_command_named_in_a_sentence_exists(word: str) -> None:
    words = word.removeprefix("syncd ").split()
    assert any(" ".join(words[:size]) in COMMANDS for size in (3, 2, 1)), word


def test_the_licence_is_apache_2_in_full() -> None:
    text = (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert "Version 2.0, January 2004" in text
    assert "END OF TERMS AND CONDITIONS" in text
    assert "APPENDIX: How to apply the Apache License to your work." in text


SECURITY = (ROOT / "SECURITY.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("test", sorted(set(re.findall(r"`(tests/[^`]+)`", SECURITY)) - {"tests/test_docs.py"}))
def test_every_test_that_holds_a_promise_exists(test: str) -> None:
    path, _, name = test.partition("::")
    if path == "tests/security/":
        named = set(re.findall(r"tests/security/test_\w+\.py", SECURITY))
        assert {found.relative_to(ROOT).as_posix() for found in (ROOT / path).glob("test_*.py")} <= named
        return
    assert re.search(
        rf"^def {f'{name}[(]' if name else 'test_'}", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE
    )


def test_the_security_page_is_handed_on_with_the_source() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert "SECURITY.md" in built["targets"]["sdist"]["include"]
    for link in re.findall(r"\]\(([^)]+)\)", SECURITY):
        assert (ROOT / link).is_file()


def test_a_check_of_the_manual_finds_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    done = make_runner("check --strict", MANUAL, monkeypatch, capsys)(".")
    assert (done.code, done.out.split(" in ")[0]) == (0, "Nothing to mend"), done.out


def test_every_former_address_of_a_page_leads_to_a_page() -> None:
    settings = read_settings((MANUAL / ".gitbook.yaml").read_text(encoding="utf-8"))
    assert settings.redirects["start/quick-start"] == "tutorials/writer.md"
    assert set(settings.redirects.values()) <= PAGES.keys()
    assert not {f"{address}.md" for address in settings.redirects} & PAGES.keys()


def expected_features() -> list[tuple[str, str, str]]:
    """The rows of both tables of what users expect: what, what syncd has, and the links."""
    text = PAGES["explanation/features.md"]
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return [(what, said, links) for what, said, links in rows if what != "What users expect"]


def test_both_tables_of_what_users_expect_are_whole() -> None:
    rows = expected_features()
    assert [what.partition(".")[0] for what, _, _ in rows[:28]] == [str(number) for number in range(1, 29)]
    assert len(rows) == 28 + 22
    assert all(said.startswith("Yes") for _, said, _ in rows[:28])


@pytest.mark.parametrize(("what", "said", "links"), expected_features(), ids=lambda cell: cell[:20])
def test_what_users_expect_is_told_where_its_row_leads(what: str, said: str, links: str) -> None:
    found = [resolve_address(link, at="explanation/features.md") for link in re.findall(r"\]\(([^)]+)\)", links)]
    pages = [leads_to[0] for leads_to in found if leads_to is not None]
    assert pages
    text = "\n".join(PAGES[page] for page in pages)
    missing = [word for word in re.findall(r"`([^`]+)`", said) if word not in text and word.split()[-1] not in text]
    assert not missing, f"{what}: {', '.join(pages)} says nothing of {missing}"
