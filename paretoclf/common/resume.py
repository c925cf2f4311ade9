"""Long work in pieces: each finished piece is a file, and a piece with a file is not computed again.

Each file states its task: the name, the parameters, the version. A file of another task is refused, and the message
names the first difference; a damaged one is computed again.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from paretoclf.common.errors import InputError
from paretoclf.common.files import DamagedFileError, read_arrays, save_arrays
from paretoclf.common.progress import counted, logger

T = TypeVar("T")


def statement(task: str, parameters: Any) -> str:
    """State the task of a file as JSON: its name, its parameters, and this version.

    Numbers and texts stand there as they are, arrays with shape and checksum, functions with their name, all else as it
    prints. A function of yours goes by its name alone: after you have changed it, begin with another file.

    Parameters
    ----------
    task : str
        Its name.
    parameters : object
        Everything on which its result depends: a mapping, a `functools.partial`, ...

    Raises
    ------
    InputError
        If something cannot be told from another one of its kind, such as a function without a name.

    Examples
    --------
    >>> from paretoclf.common.resume import statement
    >>> print(statement("squares", {"x": 2, "of": sum}))  # doctest: +ELLIPSIS
    {"task": "squares", "parameters": {"x": 2, "of": "builtins.sum"}, "version": "..."}
    """
    version = sys.modules["paretoclf"].__version__
    return json.dumps({"task": task, "parameters": _stated(parameters), "version": version})


def _stated(x: Any) -> Any:
    """Describe an object by numbers, texts, lists and mappings, which JSON has."""
    match x:
        case None | bool() | int() | float() | str():
            return x
        case np.ndarray() if not x.dtype.hasobject:
            digest = hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()
            return f"array {x.shape} of {x.dtype.str}, sha256 {digest}"
        case np.ndarray():
            return _stated(x.tolist())
        case list() | tuple():
            return [_stated(each) for each in x]
        case Mapping():
            return {str(key): _stated(value) for key, value in x.items()}
        case partial():
            return {"call": _stated(x.func), "with": _stated(x.args), **_stated(x.keywords)}
    name, kind = getattr(x, "__qualname__", None), f"{type(x).__module__}.{type(x).__qualname__}"
    if sp.issparse(x):
        return {"class": kind, **{key: _stated(value) for key, value in vars(sp.csr_array(x)).items()}}
    if is_dataclass(x) and not isinstance(x, type):
        own = [each.name for each in fields(x) if hasattr(x, each.name)]
        return {"class": kind, **{name: _stated(getattr(x, name)) for name in own}}
    if hasattr(x, "get_params"):
        return {"class": kind, **_stated(x.get_params(deep=False))}
    text = repr(x) if name is None else f"{x.__module__}.{name}"
    if " at 0x" in text or text.endswith("<lambda>") or ("<locals>" in text and not isinstance(x, type)):
        raise InputError(
            f"{text} cannot be told from another one, so that no file can be known to be of it: give a function a name "
            "outside of other functions, an object of yours a __repr__ that says what it is"
        )
    return text


def difference(there: str, here: str) -> str:
    """Describe the first difference of two statements, for people."""
    try:
        one, other = json.loads(there), json.loads(here)
    except ValueError:
        return "an older version wrote it, which did not say of which"
    place = ""
    while type(one) is type(other) and isinstance(one, dict | list):
        key, one, other = _first_difference(_entries(one), _entries(other))
        place = f"{place}{'.' if place else ''}{key}"
    return f"{place}: {json.dumps(one):.80} there, {json.dumps(other):.80} here"


def _entries(value: Any) -> dict[Any, Any]:
    """Entries of a mapping, or of a list by their positions."""
    return dict(enumerate(value)) if isinstance(value, list) else value


def _first_difference(one: dict[Any, Any], other: dict[Any, Any]) -> tuple[Any, Any, Any]:
    """Key and both values of the first entry in which two mappings differ; 1 is not 1.0."""
    for key in {**other, **one}:
        values = [each.get(key, "nothing") for each in (one, other)]
        if json.dumps(values[0]) != json.dumps(values[1]):
            break
    return key, values[0], values[1]


class Form(Protocol[T]):
    """Interface of a form in which a piece is stored in a file."""

    @property
    def suffix(self) -> str:
        """End of the name, such as ``.npz``."""
        ...

    def write(self, file: Path, piece: T, problem: str) -> None:
        """Write a piece to a file, complete or not at all, with the statement of its task."""
        ...

    def read(self, file: Path, problem: str) -> T:
        """Read a piece; InputError if it is of another task, DamagedFileError if it cannot be read."""
        ...


@dataclass(frozen=True)
class Arrays:
    """Pieces that are arrays by name: a `Form`.

    Parameters
    ----------
    shapes : mapping from str to tuple of int, optional
        Names and shapes of the arrays of a piece, which are numbers. Default: any.
    argument : str
        Name of the argument that was given the files, for messages.
    """

    shapes: Mapping[str, tuple[int, ...]] | None = field(default=None)
    argument: str = "state"
    suffix: str = ".npz"

    def write(self, file: Path, piece: Mapping[str, Any], problem: str) -> None:
        """Write the arrays, and the statement of their task."""
        save_arrays(file, {"problem": np.array(problem), **piece})

    def read(self, file: Path, problem: str) -> dict[str, Any]:
        """Read the arrays.

        Raises
        ------
        InputError
            If the file is none of ours, or of another problem.
        DamagedFileError
            If it is no npz file, or no longer one.
        """
        wrong = f"{self.argument} must hold files of this run, and this is none"
        found = read_arrays(file, wrong, ["problem"])
        there = str(found.pop("problem"))
        if there != problem:
            said = f"{self.argument} must be of the same samples, folds and options; {file} is of others"
            raise InputError(f"{said} ({difference(there, problem)})")
        shapes = {name: array.shape for name, array in found.items()}
        if self.shapes is not None and (
            shapes != self.shapes or any(array.dtype.kind not in "biuf" for array in found.values())
        ):
            raise InputError(f"{file}: {wrong} (it has {shapes}, not {dict(self.shapes)})")
        return found


def finish(
    tasks: Mapping[str, Callable[[], T]],
    state: Path | None,
    form: Form[T],
    *,
    n_jobs: int | None = None,
    progress: bool | None = None,
    desc: str = "tasks",
) -> dict[str, T]:
    """Do every task that is not finished yet, and return the results of all, in their order.

    Parameters
    ----------
    tasks : mapping from str to callable
        By name, which becomes that of a file; a function with its arguments, by `functools.partial`.
    state : Path or None
        Folder of the files; made if there is none. A file that is there must be of its task. None: nothing is kept.
    form : Form
        Form in which they are written and read.
    n_jobs : int, optional
        Processes at work, as for joblib.
    progress : bool, optional
        Whether to show a progress bar; by default on a terminal.
    desc : str
        Name of the pieces.

    Raises
    ------
    InputError
        If a file is of another task, or there is no statement that tells a task from others (`statement`).

    Examples
    --------
    >>> from functools import partial
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.common.resume import Arrays, finish
    >>> def square(x):
    ...     print("squaring", x)
    ...     return {"square": x * x}
    >>> tasks = {f"of-{x}": partial(square, x) for x in (2, 3)}
    >>> with TemporaryDirectory() as folder:
    ...     _ = finish({"of-2": tasks["of-2"]}, Path(folder), Arrays())
    ...     found = finish(tasks, Path(folder), Arrays())
    squaring 2
    squaring 3
    >>> [int(piece["square"]) for piece in found.values()]
    [4, 9]
    """
    from joblib import Parallel, delayed  # not for whoever only writes a file

    files: dict[str, Path] = {}
    problems: dict[str, str] = {}
    found: dict[str, T] = {}
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
        files = {name: state / f"{name}{form.suffix}" for name in tasks}
        problems = {name: statement(name, task) for name, task in tasks.items()}
    for name, file in files.items():
        if file.exists():
            try:
                found[name] = form.read(file, problems[name])
            except DamagedFileError as error:
                logger.warning("%s; it is computed again", error)
    work = []
    for name, task in tasks.items():
        if name not in found:
            place = files.get(name), problems.get(name, "")
            work.append(delayed(_one)(name, task, *place, form))
    made = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work)
    for name, piece in counted(made, desc, len(tasks), progress, done=len(found)):
        found[name] = piece
    return {name: found[name] for name in tasks}


def _one(name: str, task: Callable[[], T], file: Path | None, problem: str, form: Form[T]) -> tuple[str, T]:
    """Do one task, write its piece to its file, and return its name and the piece."""
    piece = task()
    if file is not None:
        form.write(file, piece, problem)
    return name, piece
