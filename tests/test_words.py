"""The code and the manual use the words of the glossary: one table, one page, and no private words in names or text."""

import ast
import keyword
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from tests.glossary import PAGE, TERMS, list_banned, render
from tests.source_trees import list_nodes, parse_module

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "syncd").rglob("*.py"))
PACKAGES = tuple(sorted({path.relative_to(ROOT / "syncd").with_suffix("").parts[0] for path in MODULES}))
"""Every package and module of syncd; the manual is no package."""
RIGHT_HERE = {
    "cli/sites/saved.py:SavedPlan.asked": "a key of the JSON of saved plans, which older files have",
    "plan/site/rollback.py:FormerState.things": "a key of the JSON of former states, which older stores have",
}
"""Names in which a banned word is right, each with the reason."""
ELSEWHERE = {
    "use_attribute_docstrings": "an option of pydantic",
    "include_name": "a function that Alembic calls",
    "thumbsup": "the name of an emoji",
    "sandbox": "a word of a content security policy",
}
"""Names in docstrings that stand nowhere in the code, each with what it is."""
_FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
_QUOTED = re.compile(r"`([a-z_][a-z0-9_]+)`")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_IRREGULAR = """
    begun bought bound broken brought built chosen done drawn driven fallen felt forgotten found given gone grown heard
    held hidden kept known laid led left lost made meant met paid said seen sent shown sold sought spelled spent spoken
    stolen struck sworn taken taught thrown told understood woven written
"""
_VERBS = "bleed breed embed exceed feed heed need proceed seed shed speed spread succeed"
"""Verbs that end like a participle."""
_CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


def list_modules(package: str) -> list[Path]:
    """Return the modules of a package of syncd, or the module of that name."""
    single = ROOT / "syncd" / f"{package}.py"
    return [single] if single.exists() else sorted((ROOT / "syncd" / package).rglob("*.py"))


def list_names(path: Path) -> Iterator[tuple[str, str]]:
    """Give the name of each module, class, field, function and parameter, and where it is."""
    where = path.relative_to(ROOT / "syncd").as_posix()
    yield f"{where}:", path.stem
    pending: list[tuple[str, ast.AST]] = [("", parse_module(path))]
    while pending:
        prefix, parent = pending.pop()
        for node in ast.iter_child_nodes(parent):
            inner = prefix
            if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{node.name}."
                yield f"{where}:{prefix}{node.name}", node.name
            if isinstance(node, ast.arg):
                yield f"{where}:{prefix}{node.arg}", node.arg
            if (
                isinstance(parent, ast.ClassDef)
                and isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
            ):
                yield f"{where}:{prefix}{node.target.id}", node.target.id
            pending.append((inner, node))


def list_texts(path: Path) -> Iterator[tuple[str, str]]:
    """Give each text of more than one word that is no docstring, and where it is."""
    tree = parse_module(path)
    docstrings = {id(node.value) for node in list_nodes(tree) if isinstance(node, ast.Expr)}
    for node in list_nodes(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and " " in node.value.strip():
            yield f"{path.relative_to(ROOT).as_posix()}:{node.lineno}", node.value


@cache
def list_literals(tree: ast.Module) -> list[str]:
    """Return the strings of a tree that are no docstrings."""
    docstrings = {id(node.value) for node in list_nodes(tree) if isinstance(node, ast.Expr)}
    strings = (node for node in list_nodes(tree) if isinstance(node, ast.Constant) and id(node) not in docstrings)
    return [node.value for node in strings if isinstance(node.value, str)]


@cache
def list_fields(tree: ast.Module) -> set[str]:
    """Return the fields of all classes in a tree."""
    classes = [node for node in list_nodes(tree) if isinstance(node, ast.ClassDef)]
    found = [node.target for kind in classes for node in kind.body if isinstance(node, ast.AnnAssign)]
    return {target.id for target in found if isinstance(target, ast.Name)}


def list_used_names(tree: ast.AST) -> set[str]:
    """Return the variables, attributes, parameters and keywords in a tree."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.arg | ast.keyword):
            found.add(node.arg or "")
    return found


@cache
def list_package_names() -> frozenset[str]:
    """Return what a docstring may name anywhere: modules, functions and classes, and the words of the API.

    Shape: those are the fields of the models, and the strings of one word that models and the platform know.
    """
    found = {*keyword.kwlist, *ELSEWHERE}
    for path in MODULES:
        tree, parts = parse_module(path), path.relative_to(ROOT).with_suffix("").parts
        found |= {*parts, *(node.name for node in list_nodes(tree) if isinstance(node, _FUNCTION | ast.ClassDef))}
        if parts[1] in ("model", "platform"):
            found |= list_fields(tree) | {text for text in list_literals(tree) if _IDENTIFIER.fullmatch(text)}
    return frozenset(found)


def list_module_names(tree: ast.Module) -> set[str]:
    """Return what a docstring may name in this module only: variables, fields, attributes, and words of its texts."""
    assigned = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    attributes = {node.attr for node in list_nodes(tree) if isinstance(node, ast.Attribute)}
    words = set(_IDENTIFIER.findall(" ".join(list_literals(tree))))
    return words | attributes | list_fields(tree) | {name for node in assigned for name in list_used_names(node)}


def list_stale_names(path: Path) -> Iterator[str]:
    """Give each name in backticks in a docstring that names nothing, and where it is."""
    tree = parse_module(path)
    elsewhere, here = list_package_names(), list_module_names(tree)
    pending: list[tuple[ast.AST, frozenset[str]]] = [(tree, frozenset())]
    while pending:
        parent, around = pending.pop()
        for node in ast.iter_child_nodes(parent):
            inner = around
            if isinstance(node, _FUNCTION | ast.ClassDef):
                inner = around | list_used_names(node)
                names = _QUOTED.findall(ast.get_docstring(node) or "")
                where = f"{path.relative_to(ROOT)}:{node.lineno}: {node.name}"
                known = elsewhere, here, inner
                yield from (f"{where}: {name}" for name in names if not any(name in some for some in known))
            pending.append((node, inner))
    here |= list_used_names(tree)
    for line, docstring in list_value_docstrings(tree):
        names = [name for name in _QUOTED.findall(docstring) if name not in elsewhere and name not in here]
        yield from (f"{path.relative_to(ROOT)}:{line}: {name}" for name in names)


def list_value_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Give each text below a constant, a field or an attribute, and its line."""
    for parent in list_nodes(tree):
        body = getattr(parent, "body", None)
        for value, text in pairwise(body if isinstance(body, list) else ()):
            constant = text.value if isinstance(text, ast.Expr) else None
            if not isinstance(value, ast.Assign | ast.AnnAssign) or not isinstance(constant, ast.Constant):
                continue
            if isinstance(constant.value, str):
                yield text.lineno, constant.value


def is_participle(name: str) -> bool:
    """Return whether a name is one participle, such as `_told` or `chosen`."""
    word = name.strip("_")
    return word in _IRREGULAR.split() or (
        word.isalpha() and word.islower() and word.endswith("ed") and word not in _VERBS.split()
    )


def is_property(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function is a value to its callers."""
    return any("property" in ast.unparse(decorator) for decorator in function.decorator_list)


def test_the_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == render(), "run python -m tests.glossary"
    words = [word for banned in list_banned() for word in banned.words]
    assert len(words) == len(set(words))
    assert len({term.word for term in TERMS}) == len(TERMS)
    assert all(term.meaning.endswith(".") and "|" not in term.meaning for term in TERMS)


@pytest.mark.parametrize("package", PACKAGES)
def test_names_are_made_of_the_words_of_the_glossary(package: str) -> None:
    banned = {word: entry.reason for entry in list_banned() for word in entry.words}
    assert list_modules(package)
    found = {
        where: banned[word]
        for path in list_modules(package)
        for where, name in list_names(path)
        for word in map(str.lower, _WORDS.findall(name))
        if word in banned and where not in RIGHT_HERE
    }
    assert not found


@pytest.mark.parametrize("package", PACKAGES)
def test_no_function_is_named_by_a_participle_alone(package: str) -> None:
    functions = [
        (path, node)
        for path in list_modules(package)
        for node in list_nodes(parse_module(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node)
    ]
    assert not [f"{path}:{node.lineno}: {node.name}" for path, node in functions if is_participle(node.name)]


def test_messages_and_the_manual_have_no_private_words() -> None:
    words = {word for entry in list_banned() if entry.in_text for word in entry.words}
    texts = [text for package in PACKAGES for path in list_modules(package) for text in list_texts(path)]
    manual = [path for path in (ROOT / "syncd" / "manual").rglob("*.md") if path != PAGE]
    texts += [(path.name, _CODE.sub("", path.read_text(encoding="utf-8"))) for path in manual]
    found = [(where, word) for where, text in texts for word in re.findall(r"[a-z]+", text.lower()) if word in words]
    assert not found


def test_every_name_that_is_right_is_there() -> None:
    modules = {ROOT / "syncd" / where.partition(":")[0] for where in RIGHT_HERE}
    there = {where for path in modules for where, _ in list_names(path)}
    assert there >= RIGHT_HERE.keys()


def test_docstrings_have_one_form() -> None:
    """What a function does comes first, then `Shape:`, `Units:`, `Raises:` and `Source:`."""
    other = re.compile(r'"""Given |\bShapes:|\bRaises [A-Z]')
    assert not [f"{path.name}: {found[0]}" for path in MODULES for found in other.finditer(path.read_text())]


@pytest.mark.parametrize("package", PACKAGES)
def test_docstrings_name_what_exists(package: str) -> None:
    assert not [found for path in list_modules(package) for found in list_stale_names(path)]
