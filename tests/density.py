"""How much a reader must take in at once: heavy statements, names of one letter, and how docstrings begin.

``python tests/density.py [FOLDER ...]`` prints a row for each room of the package, or for each of these folders. A
statement is heavy that holds more than 15 names, calls, subscripts and operators: that hangs on no line break.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "paretoclf"

#: Nodes of a statement that a reader must know, and how many of them are too many.
COUNTED = (ast.Name, ast.Call, ast.BinOp, ast.Subscript, ast.Attribute, ast.Compare, ast.IfExp)
HEAVY = 15

#: Statements that hold others.
COMPOUND = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.If, ast.For, ast.While, ast.With, ast.Try)

#: First words of a docstring that leave out its noun.
ODD = re.compile(r"(What|Who|Whose|Those|That|The same|From|By|Of)\b")


@dataclass(frozen=True)
class Density:
    """Counts of some files."""

    statements: int
    heavy: int
    names: int
    letters: int
    odd: int

    @property
    def heavy_of_1000(self) -> float:
        """Heavy statements of 1 000."""
        return 1000 * self.heavy / max(self.statements, 1)

    @property
    def letters_percent(self) -> float:
        """Percentage of names that have one letter."""
        return 100 * self.letters / max(self.names, 1)


def density_of(files: list[Path]) -> Density:
    """Count what files hold."""
    statements, names, odd = [], [], 0
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        statements += simple_statements(tree)
        names += [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
        odd += sum(1 for _ in odd_docstrings(tree))
    heavy = sum(weight(statement) > HEAVY for statement in statements)
    letters = sum(len(name) == 1 for name in names)
    return Density(len(statements), heavy, len(names), letters, odd)


def simple_statements(tree: ast.AST) -> list[ast.stmt]:
    """Statements of a module that hold no other."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and not isinstance(node, COMPOUND)]


def weight(statement: ast.stmt) -> int:
    """Number of names, calls, subscripts and operators in a statement."""
    return sum(isinstance(node, COUNTED) for node in ast.walk(statement))


def odd_docstrings(tree: ast.AST) -> Iterator[str]:
    """Names of functions whose docstring leaves out its noun."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ODD.match(ast.get_docstring(node) or ""):
            yield node.name


def main() -> None:
    """Print a row for each folder."""
    folders = [Path(name) for name in sys.argv[1:]] or sorted(f for f in PACKAGE.iterdir() if f.is_dir())
    for folder in folders:
        found = density_of(sorted(folder.rglob("*.py")))
        said = f"{found.heavy_of_1000:5.1f} heavy of 1 000, {found.letters_percent:4.1f} % of names one letter"
        sys.stdout.write(f"{folder.name:16} {found.statements:6} statements, {said}, {found.odd} odd docstrings\n")


if __name__ == "__main__":
    main()
