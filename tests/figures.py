"""Figures of the code's shape, to look at and never to aim for: `python -m tests.figures [DIRECTORY OF THE PACKAGE]`.

Another checkout, or another project, is counted in the same way, so that two pictures can be put side by side.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

from tests.source_trees import parse_module
from tests.test_words import is_participle

SMALL_LINES = 6
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Package:
    """A package of Python modules, read once."""

    def __init__(self, directory: Path) -> None:
        self.name = directory.name
        self.paths = {self._name_module(path, directory): path for path in sorted(directory.rglob("*.py"))}
        self.texts = {module: path.read_text(encoding="utf-8") for module, path in self.paths.items()}
        self.trees = {module: parse_module(path) for module, path in self.paths.items()}

    @staticmethod
    def _name_module(path: Path, directory: Path) -> str:
        parts = (directory.name, *path.relative_to(directory).with_suffix("").parts)
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def list_functions(self) -> list[Function]:
        """Return all functions but those whose name Python gives."""
        nodes = (node for tree in self.trees.values() for node in ast.walk(tree) if isinstance(node, Function))
        return [node for node in nodes if not node.name.startswith("__")]

    def list_imports(self, module: str, *, at_start: bool) -> set[str]:
        """Return the modules of the package that a module imports; with `at_start` only when it is imported itself."""
        found: set[str] = set()
        for node in self.trees[module].body if at_start else ast.walk(self.trees[module]):
            if isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                start = self._find_start(module, node.level)
                whole = ".".join(filter(None, (start, node.module)))
                found |= {name if (name := f"{whole}.{alias.name}") in self.trees else whole for alias in node.names}
        return (found & self.trees.keys()) - {module}

    def _find_start(self, module: str, level: int) -> str:
        """The package that a relative import begins at, "" for an absolute one."""
        parts = module.split(".")
        is_folder = self.paths[module].stem == "__init__"
        return ".".join(parts[: len(parts) - level + is_folder]) if level else ""

    def count_chain(self, *, at_start: bool) -> int:
        """Return how many modules the longest chain of imports has; a module that is in a cycle counts once."""
        open_modules: set[str] = set()

        @cache
        def count(module: str) -> int:
            open_modules.add(module)
            below = [
                count(other) for other in self.list_imports(module, at_start=at_start) if other not in open_modules
            ]
            open_modules.discard(module)
            return 1 + max(below, default=0)

        return max(map(count, self.trees))

    def count_crumbs(self) -> int:
        """Return how many private functions of a module are small and used once."""
        crumbs = 0
        for tree in self.trees.values():
            uses = Counter(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
            for node in tree.body:
                if isinstance(node, Function) and node.name.startswith("_") and uses[node.name] == 1:
                    crumbs += (node.end_lineno or 0) - node.lineno <= SMALL_LINES
        return crumbs

    def count_comments(self) -> int:
        """Return how many lines hold a comment."""
        return sum(
            token.type == tokenize.COMMENT
            for text in self.texts.values()
            for token in tokenize.generate_tokens(io.StringIO(text).readline)
        )

    def count_double_classes(self) -> int:
        """Return how many names of classes stand twice below one folder of the package."""
        places = Counter(
            (".".join(module.split(".")[:2]), node.name.lstrip("_"))
            for module, tree in self.trees.items()
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
        )
        return sum(count > 1 for count in places.values())


def list_figures(package: Package) -> Iterator[tuple[str, str]]:
    """Give each figure: what it counts, and the count."""
    lines = sorted(text.count("\n") for text in package.texts.values())
    functions = package.list_functions()
    names = [node.name.strip("_") for node in functions]
    folders = Counter(path.parent for path in package.paths.values() if path.stem != "__init__")
    plain = [node for tree in package.trees.values() for node in tree.body if isinstance(node, Function)]
    yield "modules, lines", f"{len(lines)}, {sum(lines):,}"
    yield "lines of a module: median, most", f"{median(lines):.0f}, {lines[-1]}"
    yield "modules of a folder, most", f"{max(folders.values())}"
    yield "longest chain of imports when a module is imported", f"{package.count_chain(at_start=True)}"
    yield "the same, with what functions import", f"{package.count_chain(at_start=False)}"
    yield "functions", f"{len(functions):,}"
    yield "names of one word", f"{sum('_' not in name for name in names) / len(names):.0%}"
    yield "names that are one participle", f"{sum(map(is_participle, names))}"
    yield "plain functions that are private, small and used once", f"{package.count_crumbs() / len(plain):.1%}"
    yield "class names that stand twice below a folder", f"{package.count_double_classes()}"
    yield "lines with a comment", f"{package.count_comments() / sum(lines):.1%}"


if __name__ == "__main__":
    chosen = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "syncd"
    sys.setrecursionlimit(10_000)
    for figure, value in list_figures(Package(chosen)):
        print(f"{value:>16}  {figure}")
