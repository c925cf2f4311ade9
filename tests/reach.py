"""How much of the package one must be ready to read for one entry: all files that its imports reach, or that it loads.

``python tests/reach.py [MODULE ...]`` prints files, lines and rooms, with and without imports inside functions;
``python tests/reach.py --loaded`` the files and tokens of what four runs really load, each in a Python of its own.
"""

from __future__ import annotations

import ast
import io
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "paretoclf"
ENTRIES = (
    "path.programs.problem_path",
    "path.tracing",
    "solve.judging.cone_proof",
    "formulations.two_c_svm",
    "checking.verification",
)

#: What a user does, in the words of a new Python.
RUNS = {
    "trace(TwoCSVM)": """
import paretoclf as pc
pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), (0, 0), (1, 1), progress=False)
""",
    "trace(lasso)": """
import cvxpy as cp, paretoclf as pc
w, lam = cp.Variable(2, name="w"), cp.Parameter(nonneg=True, name="lam")
lasso = cp.Problem(cp.Minimize(cp.sum_squares(w - [3, -1]) + lam * cp.norm1(w)))
pc.trace(lasso, {lam: 4}, {lam: 0}, progress=False)
""",
    "verify(X, y, rows)": """
import paretoclf as pc
pc.verify([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1], [(1.0, 1.0, [1.0, 1.0, 1.0, 1.0])])
""",
    "verify(problem)": """
import cvxpy as cp, paretoclf as pc
x = cp.Variable(2, name="x")
problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [x >= 2])
problem.solve("CLARABEL")
pc.verify(problem)
""",
}

#: Prints the files of the package that a run has loaded.
_LOADED = """
import sys
own = [m for name, m in list(sys.modules.items()) if name.split(".")[0] == "paretoclf"]
print(*sorted({m.__file__ for m in own if (getattr(m, "__file__", "") or "").endswith(".py")}), sep="\\n")
"""


def file_of(module: str) -> Path | None:
    """The file of a module, its dotted name without that of the package."""
    place = PACKAGE.joinpath(*module.split("."))
    return next((f for f in (place.with_suffix(".py"), place / "__init__.py") if f.is_file()), None)


def names(node: ast.AST) -> Iterator[str]:
    """What a statement imports from the package, each name also as a module; imports are absolute."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("paretoclf."):
        base = (node.module or "").removeprefix("paretoclf.")
        yield base
        yield from (f"{base}.{alias.name}" for alias in node.names)


def statements(tree: ast.AST, inside: bool) -> Iterator[ast.AST]:
    """Statements that run when a module is imported or, with ``inside``, all; never those for type checkers."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside:
            continue
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from node.orelse
            continue
        yield from statements(node, inside)


def imports(file: Path, inside: bool = False) -> set[Path]:
    """Files of the package that one imports, with the ``__init__`` of each folder on the way."""
    found = set()
    for node in statements(ast.parse(file.read_text(encoding="utf-8")), inside):
        for name in names(node):
            parts = name.split(".")
            found |= {f for k in range(1, len(parts) + 1) if (f := file_of(".".join(parts[:k])))}
    return found


def inside_functions(file: Path) -> set[str]:
    """Modules of the package that a file imports inside functions only."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    outside = {name for node in statements(tree, False) for name in names(node)}
    found = {name for node in statements(tree, True) for name in names(node)} - outside
    modules = {name for name in found if file_of(name)}
    return {name for name in modules if not any(other.startswith(f"{name}.") for other in modules)}


def of(module: str, inside: bool = False) -> set[Path]:
    """Files that a module reaches, itself included."""
    first = file_of(module)
    assert first is not None, module
    seen, todo = {first}, [first]
    while todo:
        new = imports(todo.pop(), inside) - seen
        seen |= new
        todo += new
    return seen


def lines(files: set[Path]) -> int:
    """How many lines files have."""
    return sum(len(f.read_text(encoding="utf-8").splitlines()) for f in files)


def loaded(run: str) -> list[Path]:
    """Files of the package that a run loads, in a Python of its own."""
    made = subprocess.run([sys.executable, "-c", run + _LOADED], capture_output=True, text=True, check=True)
    return [Path(line) for line in made.stdout.split()]


def tokens(file: Path) -> int:
    """Names, operators, numbers and texts of a file, without its comments."""
    counted = (tokenize.NAME, tokenize.OP, tokenize.NUMBER, tokenize.STRING)
    source = io.StringIO(file.read_text(encoding="utf-8"))
    return sum(token.type in counted for token in tokenize.generate_tokens(source.readline))


def print_loaded() -> None:
    """Print a row a run."""
    for name, run in RUNS.items():
        files = loaded(run)
        print(f"{name:24s}{len(files):4d} files{sum(map(tokens, files)):8d} tokens")


def main(entries: tuple[str, ...]) -> None:
    """Print a row an entry."""
    if entries == ("--loaded",):
        print_loaded()
        return
    for entry in entries:
        near, far = of(entry), of(entry, inside=True)
        rooms = len({f.relative_to(PACKAGE).parts[0] for f in near})
        print(
            f"{entry:24s}{len(near):4d} files{lines(near):7d} lines{rooms:4d} rooms; deferred ones too:{lines(far):7d}"
        )


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or ENTRIES)
