"""The syntax trees of modules, each read once in a process, for tests of what the code looks like."""

import ast
from functools import cache
from pathlib import Path


@cache
def parse_module(path: Path) -> ast.Module:
    """Return the tree of a module."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def list_nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return all nodes of a module's tree, listed once for all tests that look through them."""
    return tuple(ast.walk(tree))
