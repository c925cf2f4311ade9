"""Programs in MPS, QPS and LP files, read by HiGHS, an optional package: where it warns, it has read something else."""

from __future__ import annotations

import gzip
import re
import tempfile
import zlib
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from paretoclf.common.checks import Array
from paretoclf.common.errors import InputError
from paretoclf.common.quiet import quiet
from paretoclf.problem.integers import RELAX, without_integers
from paretoclf.problem.moved_numbers import moved_number
from paretoclf.problem.mps_text import LineError, Said, check_mps

#: Endings that are read, each with the ending by which HiGHS knows its format.
ENDINGS = {".mps": ".mps", ".qps": ".mps", ".lp": ".lp"}

#: The first highspy that says what it leaves out of an LP file, and where.
LEAST = (1, 16)

#: Options that let small and large coefficients be read as they stand, as far as HiGHS allows.
_AS_IT_STANDS = {"small_matrix_value": 1e-12, "large_matrix_value": 1e30}

#: Words of a log that mean that another program was read than the file says.
_CHANGED = re.compile(r"WARNING|ignored|same name|duplicate|not defined|cost\| value", re.IGNORECASE)

#: Warnings of programs that are read rightly.
_HARMLESS = re.compile(
    "ERROR|coefficients are summed|No objective row found|switching to fixed format|assume fixed format"
)

#: Between two entries of a log, which may go on in lines that begin with a blank, or with the number of a line.
_ENTRY = re.compile(r"\n(?!\s|\d+ *\|)")

#: Lines of a log that say nothing of the file.
_FRAME = ("Running HiGHS", "Includes third-party", "ERROR:   Parser error reading")

#: A row of an LP file that begins with its number, and may end with another.
_NUMBER_FIRST = re.compile(
    r"\s*((?P<name>[^\s:]+)\s*:)?\s*(?P<number>[+-]?[\d.]+(e[+-]?\d+)?|[+-]?inf\w*)\s*(?P<first>[<>=]+)"
    r"\s*(?P<terms>[^<>=]*[a-z_][^<>=]*?)\s*((?P<last>[<>=]+)\s*(?P<bound>[^<>=\s]+))?\s*",
    re.IGNORECASE,
)

#: How a comparison reads from the other end.
_MIRRORED = {"<": ">=", "<=": ">=", "=<": ">=", ">": "<=", ">=": "<=", "=>": "<=", "=": "="}

#: A number and a name in an LP file.
_LP_NUMBER = re.compile(r"(?<![\w.])(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)
_LP_NAME = re.compile(r"[A-Za-z_!#$%&(),;?@'`{}~\"][\w!#$%&(),.;?@'`{}~\"]*")


def ending_of(name: str) -> str | None:
    """Ending by which HiGHS knows the format of a file, compressed or not; None where it is no program.

    Examples
    --------
    >>> from paretoclf.problem.mps import ending_of
    >>> ending_of("model.QPS"), ending_of("model.lp.gz"), ending_of("samples.csv.gz")
    ('.mps', '.lp', None)
    """
    lower = name.lower().removesuffix(".gz")
    return ENDINGS.get(Path(lower).suffix)


def read_program(file: Path, moves: Mapping[str, Any], integers: Any = None) -> dict[str, Any]:
    """Read the arguments of a `paretoclf.QP` from a file; ``moves`` has the numbers that are parameters, by words.

    What becomes of integers is said by `paretoclf.problem.integers.without_integers`; by default they are refused.

    Raises
    ------
    InputError
        If the file cannot be read, says something that readers understand differently, or has integers.
    """
    try:
        highspy: Any = import_module("highspy")
    except ImportError:
        raise InputError("from_file needs highspy: pip install 'paretoclf[mps]'") from None
    if not isinstance(moves, Mapping):
        raise InputError(f"moves must map names to numbers of the file, {{'cap': 'rhs:CAP'}}, got {moves!r:.100}")
    ending = ending_of(file.name)
    if ending is None:
        raise InputError(f"file must end in {', '.join(ENDINGS)}, or one of these and .gz, got {file.name}")
    if not file.is_file():
        raise InputError(f"file must be there, got {file}")
    content = _content(file)
    text = content.decode("utf-8", errors="replace")
    said = None
    if ending == ".mps":
        try:
            said = check_mps(text)
        except LineError as error:
            raise InputError(f"file must be a program that HiGHS reads as it stands, got {file}, {error}") from None
    model, log = _read(highspy, file, content, ending)
    _check_log(log, file)
    if model is None:
        why = f"{_in_one_line(log) or 'it is empty'}{_rows_to_write(log, text)}"
        raise InputError(f"file must be a program that HiGHS reads, got {file}: {why}")
    if ending == ".lp":
        _check_names(file, text, list(model.lp_.col_names_))
    lp = model.lp_
    bounds = _bounds_of(lp, highspy, file, said, integers)
    found = _arrays(lp, model.hessian_, highspy, file, bounds, said)
    found["integers"] = _fixed(lp, highspy, bounds[0], integers)
    if said is not None:
        found["maximise"] = bool(said.maximise)  # HiGHS takes some of the words for none
    moved = {name: moved_number(found, words) for name, words in moves.items()}
    found["moves"] = {name: number.change for name, number in moved.items()}
    found["values"] = {name: number.value for name, number in moved.items()}
    return found


def _content(file: Path) -> bytes:
    """Bytes of a file, compressed or not."""
    if file.suffix.lower() != ".gz":
        return file.read_bytes()
    try:
        return gzip.decompress(file.read_bytes())
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(f"file must be one that gzip wrote, got {file}: {error}") from None


def _read(highspy: Any, file: Path, content: bytes, ending: str) -> tuple[Any, str]:
    """Model that HiGHS reads, None where it gives up, and its log."""
    with quiet():
        solver = highspy.Highs()
    if ending == ".lp" and (solver.versionMajor(), solver.versionMinor()) < LEAST:
        raise InputError(
            f"from_file needs highspy {LEAST[0]}.{LEAST[1]} or later for an LP file, got {solver.version()}, which "
            "leaves out parts of some without a word: pip install -U highspy"
        )
    with tempfile.TemporaryDirectory() as folder:
        known, log = Path(folder, f"program{ending}"), Path(folder, "log.txt")
        known.write_bytes(content)
        for option, value in {"log_to_console": False, "log_file": str(log), **_AS_IT_STANDS}.items():
            solver.setOptionValue(option, value)
        status = solver.readModel(str(known))
        model = None if status == highspy.HighsStatus.kError else solver.getModel()
        solver.setOptionValue("log_file", "")  # closed before its folder is removed
        text = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
    return model, text.replace(str(known), str(file))


def _check_log(log: str, file: Path) -> None:
    """Refuse a file of which HiGHS says that it has read something else."""
    for entry in _ENTRY.split(log):
        if _CHANGED.search(entry) and not _HARMLESS.search(entry):
            raise InputError(f"file must be a program that HiGHS reads as it stands, got {file}: {_in_one_line(entry)}")


def _in_one_line(log: str) -> str:
    """Sentences and places of a log, without the drawing of the line."""
    lines = [line.strip() for line in log.splitlines() if not re.match(r"\s*\d*\s*\|", line)]
    sentences = [line for line in lines if not line.startswith(_FRAME)]
    return " ".join(" ".join(sentences).split())


def _rows_to_write(log: str, text: str) -> str:
    """How a row of an LP file that begins with a number is written, where HiGHS stops at one."""
    place = re.search(r"--> .*:(\d+):\d+", log)
    if place is None:
        return ""
    row = _NUMBER_FIRST.fullmatch(text.split("\n")[int(place[1]) - 1].split("\\")[0])
    if row is None:
        return ""
    name = f"{row['name']}: " if row["name"] else ""
    written = f"{name}{row['terms']} {_MIRRORED.get(row['first'], row['first'])} {row['number']}"
    if row["last"]:
        other = f"{row['name']}_other: " if row["name"] else ""
        written += f" and {other}{row['terms']} {row['last']} {row['bound']}, as two rows"
    return f"; a row has one side, and its number last: write {written}"


def _check_names(file: Path, whole: str, columns: list[str]) -> None:
    """Refuse a name of an LP file that stands among its bounds alone: HiGHS makes a variable of it."""
    text = re.sub(r"\\.*", "", whole)  # without comments
    text = _LP_NUMBER.sub(" ", text)
    parts = re.split(r"(?im)^\s*bounds?\s*$", text, maxsplit=1)
    if len(parts) == 1:
        return
    told = set(_LP_NAME.findall(parts[0]))
    for name in columns:
        if name not in told and name in _LP_NAME.findall(parts[1]):
            lines = enumerate(text.split("\n"), 1)
            number = next(count for count, line in lines if name in _LP_NAME.findall(line))
            raise InputError(
                f"file must be a program that HiGHS reads as it stands, got {file}, line {number}: the variable {name} "
                f"is in no row and not in the objective; one without coefficients has a term there, 0 {name}"
            )


def _bounds_of(lp: Any, highspy: Any, file: Path, said: Said | None, integers: Any) -> tuple[Array, Array]:
    """Bounds of variables, of which none is an integer any more."""
    names = list(lp.col_names_)
    low, high = np.array(lp.col_lower_), np.array(lp.col_upper_)
    kinds = dict(enumerate(lp.integrality_))
    whole = [j for j, kind in kinds.items() if kind != highspy.HighsVarType.kContinuous]
    for j in whole:
        if kinds[j] != highspy.HighsVarType.kInteger:
            raise InputError(
                f"file must hold a convex program, got the semi-continuous {names[j]} in {file}: say in the file that "
                "it is 0, or between its bounds"
            )
        if integers is None:
            raise InputError(
                f"file must hold a convex program, got the integer {names[j]} in {file}: from_file(..., "
                f"integers='relax') or --integers relax lets integers be any numbers between their bounds; in place of "
                "'relax', values of a solution (of --integers its file) fix them"
            )
    if not whole:
        return low, high

    def is_bounded(name: str) -> bool:
        return said is None or any(said.bound_at(name, side) is not None for side in "lu")

    own = without_integers([names[j] for j in whole], (low[whole], high[whole]), integers, is_bounded)
    low[whole], high[whole] = own
    return low, high


def _fixed(lp: Any, highspy: Any, values: Array, integers: Any) -> dict[str, float | None]:
    """Integers of a file and where they are fixed; None where they are relaxed."""
    kinds = zip(lp.col_names_, lp.integrality_, values.tolist(), strict=False)  # of no integers nothing is said
    whole = {name: value for name, kind, value in kinds if kind == highspy.HighsVarType.kInteger}
    return dict.fromkeys(whole) if integers == RELAX else whole


def _arrays(
    lp: Any, hessian: Any, highspy: Any, file: Path, variables: tuple[Array, Array], said: Said | None
) -> dict[str, Any]:
    """Matrices, vectors and names of a model; bounds of variables are the last rows."""
    n, m = lp.num_col_, lp.num_row_
    columns = list(lp.col_names_) or [f"x{j}" for j in range(n)]
    rows = list(lp.row_names_) or [f"row{i}" for i in range(m)]
    by_columns = lp.a_matrix_.format_ == highspy.MatrixFormat.kColwise
    stored = (sp.csc_array if by_columns else sp.csr_array)(_entries(lp.a_matrix_), shape=(m, n))
    low, high = variables
    for j in np.flatnonzero(low > high).tolist():
        _refuse_crossed(columns[j], (low[j], high[j]), file, said)
    bounded = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
    unit_rows = sp.eye_array(n, format="csr")[bounded]
    rows += [f"bound of {columns[j]}" for j in bounded.tolist()]
    found = {"P": _symmetric(hessian, n), "q": np.array(lp.col_cost_), "names": (columns, rows)}
    found["A"] = sp.vstack([stored, unit_rows], format="csc")
    found["l"] = np.concatenate([lp.row_lower_, low[bounded]])
    found["u"] = np.concatenate([lp.row_upper_, high[bounded]])
    found["constant"] = float(lp.offset_)
    found["maximise"] = lp.sense_ == highspy.ObjSense.kMaximize
    return found


def _entries(matrix: Any) -> tuple[Array, Array, Array]:
    """Values, indices and starts of a matrix of HiGHS."""
    return np.array(matrix.value_), np.array(matrix.index_), np.array(matrix.start_)


def _refuse_crossed(name: str, bounds: tuple[float, float], file: Path, said: Said | None) -> NoReturn:
    """Refuse a lower bound above the upper one: the file says it, or readers make it of an upper one below 0."""
    low, high = bounds
    lines = None if said is None else [said.bound_at(name, side) for side in "lu"]
    if lines is not None and lines[0] is None:  # of a negative upper bound alone readers say 0 below it, or nothing
        raise InputError(
            f"file must say both bounds of {name}, got {low:g} and {high:g}: readers differ in what an "
            "upper bound below 0 makes of a lower bound that is not said"
        )
    where = "" if lines is None else f", lines {lines[0]} and {lines[1]}"
    raise InputError(
        f"file must have lower bounds that are at most the upper ones, got {low:g} and {high:g} of {name} in "
        f"{file}{where}: no point is between them"
    )


def _symmetric(hessian: Any, n: int) -> Any:
    """Matrix P from the lower triangle that HiGHS keeps."""
    if not hessian.dim_:
        return None
    lower = sp.csc_array(_entries(hessian), shape=(n, n))
    return lower + sp.tril(lower, -1).T
