"""The house keeps its shape: floors, sole importers, purity, no cycles, modules and functions that fit in the eye."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "syncd"
FLOORS = [
    {"errors"},
    {"model"},
    {"config", "layout"},
    {"plan"},
    {"api", "repo", "store", "watch"},
    {"sync"},
    {"daemon"},
    {"cli"},
    {"__main__"},
]
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
ADAPTERS = FLOORS[4]
PLATFORM_SEES = {"errors", "model", "layout", "platform"}
SEES_PLATFORM = {"cli", "daemon", "platform"}
SOLE_IMPORTER = {
    "httpx": {"api"},
    "httpcore": {"api"},
    "git": {"repo"},
    "sqlalchemy": {"store", "platform"},
    "sqlite3": {"store", "platform"},
    "alembic": {"platform"},
    "psycopg": {"platform"},
    "boto3": {"platform"},
    "botocore": {"platform"},
    "watchdog": {"watch"},
    "apscheduler": {"daemon"},
    "typer": {"cli"},
    "rich": {"cli"},
    "tomllib": {"config"},
    "yaml": {"layout"},
    "markdown_it": {"layout"},
    "fastapi": {"platform"},
    "starlette": {"platform"},
    "uvicorn": {"platform"},
    "imagesize": {"platform"},
    "fpdf": {"platform"},
    "PIL": {"platform"},
    "cryptography": {"platform"},
    "jsonschema": {"platform"},
}
PURE = {"errors", "model", "layout", "plan"}
PLUMBING = {
    "asyncio", "logging", "os", "pathlib", "random", "secrets", "shutil", "signal", "socket", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib.request",
} | set(SOLE_IMPORTER) - {"yaml", "markdown_it"}  # fmt: skip
MODULES = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
NAMED = sorted(module for module in MODULES if module != "syncd.__init__")
LINES_MAX, FUNCTION_LINES_MAX = 400, 50


def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: say the full name, not a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


def room(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


def functions(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in ast.walk(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    skipped = (first.end_lineno or 0) - first.lineno + 1 if docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - skipped


@pytest.mark.parametrize("module", NAMED)
def test_imports_point_down(module: str) -> None:
    here = room(module)
    for name in imported(module):
        there = room(name)
        if name.split(".")[0] != "syncd" or there in ("", "__version__", here):
            continue
        if here == "platform":
            assert there in PLATFORM_SEES, f"platform may not import {there}"
        elif there == "platform":
            assert here in SEES_PLATFORM, f"{here} may not import platform"
        else:
            assert FLOOR[there] < FLOOR[here], f"{here} may not import {there}"
            assert not (here in ADAPTERS and there in {"plan", "config"}), f"adapter {here} may not know {there}"
            assert there != "config" or here in {"cli", "daemon"}, "config stops at the front door"


@pytest.mark.parametrize("module", NAMED)
def test_each_library_has_one_room(module: str) -> None:
    here = room(module)
    for name in imported(module):
        top = name.split(".")[0]
        assert here in SOLE_IMPORTER.get(top, {here}), f"{here} may not import {top}"


@pytest.mark.parametrize("module", [module for module in NAMED if room(module) in PURE])
def test_thinking_rooms_have_no_plumbing(module: str) -> None:
    found = {name for name in imported(module) if name in PLUMBING or name.split(".")[0] in PLUMBING}
    assert not found, f"{module} is pure; it may not import {found}"


def test_there_are_no_import_cycles() -> None:
    edges = {module: {name for name in imported(module) if name in MODULES and name != module} for module in MODULES}
    while leaves := [module for module, out in edges.items() if not out]:
        for module in leaves:
            del edges[module]
        for out in edges.values():
            out.difference_update(leaves)
    assert not edges, f"cycle among {sorted(edges)}"


@pytest.mark.parametrize("module", NAMED)
def test_a_module_reads_in_one_sitting(module: str) -> None:
    text = MODULES[module].read_text(encoding="utf-8")
    assert ast.get_docstring(tree(module)), "the first line says what this room is for"
    assert text.count("\n") <= LINES_MAX, "split it along a domain term"


@pytest.mark.parametrize("module", NAMED)
def test_functions_fit_in_the_eye(module: str) -> None:
    for function in functions(module):
        assert body_lines(function) <= FUNCTION_LINES_MAX, f"{module}.{function.name} is too long"


@pytest.mark.parametrize("module", NAMED)
def test_public_functions_say_what_they_do(module: str) -> None:
    for node in tree(module).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{module}.{node.name} has no docstring"


def test_there_is_no_grab_bag() -> None:
    names = {part for module in MODULES for part in module.split(".")}
    assert not names & {"utils", "helpers", "common", "misc", "util"}
