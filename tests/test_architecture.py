"""The structure of the code: layers, sole importers, pure packages, no cycles, modules and functions of one look."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from syncd import errors
from tests.figures import Package
from tests.source_trees import list_nodes, parse_module

ROOT = Path(__file__).parent.parent / "syncd"
LAYERS = [
    {"errors"},
    {"model", "files"},
    {"config", "layout", "net", "fault_points"},
    {"plan", "web"},
    {"api", "repo", "store", "watch"},
    {"sync"},
    {"daemon"},
    {"fleet"},
    {"cli"},
    {"__main__"},
]
LAYER = {package: number for number, packages in enumerate(LAYERS) for package in packages}
ADAPTERS = LAYERS[4] | {"net"}
PLATFORM_IMPORTS = {"errors", "model", "layout", "net", "web", "platform"}
PLATFORM_IMPORTERS = {"cli", "daemon", "platform"}
SOLE_IMPORTER = {
    "httpx": {"api"},
    "httpcore": {"net"},
    "h11": {"net"},
    "git": {"repo"},
    "sqlalchemy": {"platform"},
    "sqlite3": {"store", "platform"},
    "alembic": {"platform"},
    "psycopg": {"platform", "fleet"},
    "psycopg_pool": {"fleet"},
    "procrastinate": {"fleet"},
    "boto3": {"platform"},
    "mcp": {"platform"},
    "mcp_types": {"platform"},
    "botocore": {"platform"},
    "watchdog": {"watch"},
    "apscheduler": {"daemon"},
    "prometheus_client": {"daemon"},
    "typer": {"cli"},
    "rich": {"cli"},
    "keyring": {"config"},
    "jeepney": {"daemon"},
    "tomllib": {"config"},
    "jinja2": {"web"},
    "markupsafe": {"web"},
    "emoji": {"web"},
    "nh3": {"web"},
    "pygments": {"web"},
    "latex2mathml": {"web"},
    "yaml": {"layout"},
    "markdown_it": {"layout"},
    "fastapi": {"platform"},
    "starlette": {"platform"},
    "uvicorn": {"platform"},
    "imagesize": {"layout"},
    "fpdf": {"platform"},
    "PIL": {"platform"},
    "cryptography": {"platform"},
    "jsonschema": {"platform"},
    "jwt": {"platform"},
    "snowballstemmer": {"platform"},
}
PURE = {"errors", "model", "layout", "plan", "web"}
IO_LIBRARIES = {
    "asyncio", "logging", "os", "pathlib", "random", "secrets", "shutil", "signal", "socket", "ssl", "subprocess",
    "tempfile", "threading", "time", "urllib.request", "syncd.fault_points", "syncd.files",
} | set(SOLE_IMPORTER) - {
    "yaml", "markdown_it", "imagesize", "jinja2", "markupsafe", "emoji", "nh3", "pygments", "latex2mathml",
}  # fmt: skip
ORDER = {
    "layout": ("yaml", "markdown", "richtext", "page", "tree", "compare", "lint", "site", "evaluation"),
    "plan": ("change", "guard", "message", "fewest_moves", "toc_match", "mirror", "merge", "propose", "site"),
    "repo": ("values", "names", "failures", "process", "read", "write", "work_tree", "remote", "repository"),
    "sync": (
        *(
            "policy",
            "binding",
            "committer",
            "workspace",
            "outcome",
            "branches",
            "gc_tuning",
            "settings",
            "directories",
            "merge",
            "state",
            "mirror",
        ),
        *("bind", "integrate", "git_import", "propose", "review", "undo", "log", "site", "publish", "run", "ci"),
    ),
    "cli": (
        *("terminal", "service", "auth", "setup", "ci", "sync", "status", "check", "reference", "sites", "redirects"),
        *("platform", "api", "demo", "change_requests", "preview", "publish", "history"),
        *("configuration", "web", "fleet", "notify", "trust", "doctor", "start", "app"),
    ),
    "web": ("rendering", "blocks", "pages", "status", "site", "app"),
    "platform": (
        *("settings", "cache", "http", "database", "schema", "tables_all", "migrations", "storage"),
        *("people", "revisions", "spaces", "integrations", "templates", "change_requests", "comments", "reviews"),
        *("specs", "content", "sites", "publish", "services", "visitors", "mcp", "app_pages", "description"),
        *("app", "server"),
    ),
}
"""Folders and modules inside of a package, lowest first: each imports only itself and what stands before it."""
MODULES = {".".join(path.relative_to(ROOT.parent).with_suffix("").parts): path for path in ROOT.rglob("*.py")}
NAMED = sorted(module for module in MODULES if module != "syncd.__init__")
FUNCTION = ast.FunctionDef | ast.AsyncFunctionDef
LINES_MAX, FUNCTION_LINES_MAX, FOLDER_MODULES_MAX, CHAIN_MAX = 400, 50, 15, 18


def tree(module: str) -> ast.Module:
    return parse_module(MODULES[module])


@cache
def imported(module: str) -> set[str]:
    names: set[str] = set()
    for node in list_nodes(tree(module)):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{module}: say the full name, not a relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return names


def find_package(name: str) -> str:
    return name.split(".")[1] if "." in name else ""


@cache
def functions(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    return [node for node in list_nodes(tree(module)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


def body_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    first = function.body[0]
    docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    skipped = (first.end_lineno or 0) - first.lineno + 1 if docstring else 0
    return (function.end_lineno or 0) - function.lineno + 1 - skipped


def is_public(node: ast.AST) -> bool:
    return isinstance(node, FUNCTION | ast.ClassDef) and not node.name.startswith("_")


@cache
def list_public_functions(module: str) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    """The public functions of a module, and the public methods of its public classes."""
    top = [node for node in tree(module).body if is_public(node)]
    inner = [node for kind in top if isinstance(kind, ast.ClassDef) for node in kind.body if is_public(node)]
    return [node for node in (*top, *inner) if isinstance(node, FUNCTION)]


def list_raised_errors(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[str, str]]:
    """What the body of a function raises by name, with the status of a Failure; functions inside of it do not count."""
    pending: list[ast.AST] = [*function.body]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Raise) and node.exc is not None:
            call = node.exc if isinstance(node.exc, ast.Call) else None
            name = ast.unparse(call.func if call else node.exc).rpartition(".")[2]
            status = ast.unparse(call.args[0]) if call and name == "Failure" else ""
            yield name, status if status.isdigit() else ""
        if not isinstance(node, FUNCTION | ast.ClassDef | ast.Lambda):
            pending += ast.iter_child_nodes(node)


def is_documented(docstring: str, name: str, status: str) -> bool:
    """Whether a docstring names an error, or one above it in the tree."""
    kind = getattr(errors, name, None)
    above = kind.__mro__[: kind.__mro__.index(errors.SyncdError) + 1] if kind is not None else ()
    names = {name, *(one.__name__ for one in above)}
    return "Raises" in docstring and any(one in docstring for one in names) and status in docstring


def forbidden(here: str, there: str) -> str:
    """Why one package may not import another; "" where it may."""
    if here == "platform":
        return "" if there in PLATFORM_IMPORTS else "the platform imports only the pure packages and net"
    if there == "platform":
        return "" if here in PLATFORM_IMPORTERS else "only cli and daemon import the platform"
    if LAYER[there] >= LAYER[here]:
        return "an import leads to a lower layer"
    if here in ADAPTERS and there in {"plan", "config"}:
        return "an adapter knows neither plans nor the configuration"
    return (
        "only cli, daemon and fleet read the configuration"
        if there == "config" and here not in {"cli", "daemon", "fleet"}
        else ""
    )


# Each rule looks at every module in one test and names all that break it: a test for each pair of rule and module would
# cost more than the rules do.


def test_imports_point_down() -> None:
    pairs = [(module, name) for module in NAMED for name in imported(module) if name.split(".")[0] == "syncd"]
    found = {
        f"{module} -> {name}": why
        for module, name in pairs
        if find_package(name) not in ("", "__version__", find_package(module))
        and (why := forbidden(find_package(module), find_package(name)))
    }
    assert not found


@pytest.mark.parametrize("name", ORDER)
def test_imports_point_down_inside_a_package(name: str) -> None:
    place = {folder: number for number, folder in enumerate(ORDER[name])}
    inside = [module for module in NAMED if find_package(module) == name and module.count(".") > 1]
    inside = [module for module in inside if not module.endswith(f"{name}.__init__")]
    assert {module.split(".")[2] for module in inside} == place.keys()
    pairs = [(one, other.split(".")) for one in inside for other in imported(one) if other.startswith(f"syncd.{name}.")]
    found = [(one, ".".join(other)) for one, other in pairs if place[one.split(".")[2]] < place[other[2]]]
    assert not found


def test_a_folder_holds_what_one_look_takes_in() -> None:
    """Two folders have a module for each heading or resource of the API document, and one a module for each step."""
    folders = Counter(
        path.parent.relative_to(ROOT).as_posix() for path in ROOT.rglob("*.py") if path.stem != "__init__"
    )
    for name in ("model", "api", "platform/migrations/versions"):
        del folders[name]
    assert not {folder: count for folder, count in folders.items() if count > FOLDER_MODULES_MAX}


def test_a_class_name_stands_once_in_a_package() -> None:
    found: dict[tuple[str, str], list[str]] = {}
    for module in NAMED:
        for node in list_nodes(tree(module)):
            if isinstance(node, ast.ClassDef):
                found.setdefault((find_package(module), node.name.lstrip("_")), []).append(module)
    assert not {kind: modules for kind, modules in found.items() if len(modules) > 1}


def test_each_library_has_one_importing_package() -> None:
    pairs = [(module, name) for module in NAMED for name in imported(module)]
    found = [
        (m, name)
        for m, name in pairs
        if find_package(m) not in SOLE_IMPORTER.get(name.split(".")[0], {find_package(m)})
    ]
    assert not found


def test_pure_packages_do_no_io() -> None:
    pure = [module for module in NAMED if find_package(module) in PURE]
    found = [(m, name) for m in pure for name in imported(m) if {name, name.split(".")[0]} & IO_LIBRARIES]
    assert not found


def test_there_are_no_import_cycles() -> None:
    edges = {module: {name for name in imported(module) if name in MODULES and name != module} for module in MODULES}
    while leaves := [module for module, out in edges.items() if not out]:
        for module in leaves:
            del edges[module]
        for out in edges.values():
            out.difference_update(leaves)
    assert not edges, f"cycle among {sorted(edges)}"


def test_no_module_stands_on_a_long_chain_of_others() -> None:
    """What a command imports only when it runs begins a chain of its own."""
    assert Package(ROOT).count_chain(at_start=True) <= CHAIN_MAX


def test_a_module_reads_in_one_sitting() -> None:
    assert not [module for module in NAMED if not ast.get_docstring(tree(module))], "the first line says what it is for"
    sizes = {module: MODULES[module].read_text(encoding="utf-8").count("\n") for module in NAMED}
    assert not {module: size for module, size in sizes.items() if size > LINES_MAX}, "split it along a domain term"


def test_functions_are_short() -> None:
    sizes = {f"{module}.{one.name}": body_lines(one) for module in NAMED for one in functions(module)}
    assert not {name: size for name, size in sizes.items() if size > FUNCTION_LINES_MAX}


def test_public_functions_say_what_they_do() -> None:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    public = [(module, node) for module in NAMED for node in tree(module).body if isinstance(node, kinds)]
    found = [f"{m}.{node.name}" for m, node in public if not node.name.startswith("_") and not ast.get_docstring(node)]
    assert not found


def test_public_functions_name_the_errors_that_they_raise() -> None:
    ours = {name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)}
    found = {
        f"{module}.{function.name}": f"{name} {status}".strip()
        for module in NAMED
        for function in list_public_functions(module)
        for name, status in list_raised_errors(function)
        if name in {*ours, "Failure"} and not is_documented(ast.get_docstring(function) or "", name, status)
    }
    assert not found, "say it after Raises:, with the status of a Failure"


def test_what_production_has_production_uses() -> None:
    """Whether another place names each public function and class; one with a decorator is reached by that."""
    counts = Counter(word for path in MODULES.values() for word in re.findall(r"\w+", path.read_text(encoding="utf-8")))
    unused = {
        f"{module}.{node.name}"
        for module in MODULES
        for node in tree(module).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if not node.name.startswith("_") and not node.decorator_list and counts[node.name] == 1
        if ".migrations.versions." not in module
    }
    assert not unused, "only a test uses it, or nobody: put it beside the test, or delete it"


def test_a_module_uses_what_it_keeps_to_itself() -> None:
    """Each private function, class and constant of a module is named there again; a decorator is a use."""
    unused = set()
    for module in NAMED:
        counts = Counter(re.findall(r"\w+", MODULES[module].read_text(encoding="utf-8")))
        kinds = [node for node in tree(module).body if isinstance(node, FUNCTION | ast.ClassDef)]
        names = [node.name for node in kinds if not node.decorator_list]
        assigned = [target for node in tree(module).body if isinstance(node, ast.Assign) for target in node.targets]
        names += [node.id for target in assigned for node in ast.walk(target) if isinstance(node, ast.Name)]
        unused |= {f"{module}.{one}" for one in names if re.match(r"_[^_]", one) and counts[one] == 1}
    assert not unused, "nothing needs it: delete it"


def test_there_is_no_grab_bag() -> None:
    names = {part for module in MODULES for part in module.split(".")}
    assert not names & {"utils", "helpers", "common", "misc", "util"}
