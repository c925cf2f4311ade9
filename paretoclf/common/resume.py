"""Long work in pieces: each finished piece is a file, and what is a file is not done again.

Each file says of what task it is: the fingerprint of what was called, with all that it was given. A file of another
task is refused; a damaged one is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from paretoclf.common.errors import InputError
from paretoclf.common.files import DamagedFileError, read_arrays, save_arrays
from paretoclf.common.fingerprints import fingerprint
from paretoclf.common.progress import counted, logger

T = TypeVar("T")


class Form(Protocol[T]):
    """How a piece becomes a file."""

    @property
    def suffix(self) -> str:
        """End of the name, such as ``.npz``."""
        ...

    def write(self, file: Path, piece: T, problem: str) -> None:
        """Write a piece to a file, complete or not at all, with the fingerprint of what it is of."""
        ...

    def read(self, file: Path, problem: str) -> T:
        """Read it; InputError if it is of something else, DamagedFileError if it cannot be read."""
        ...


@dataclass(frozen=True)
class Arrays:
    """Pieces that are arrays by name: a `Form`.

    Parameters
    ----------
    shapes : mapping from str to tuple of int, optional
        Which arrays a piece has, and their shapes; numbers. Default: any.
    argument : str
        Who was given the files, for messages.
    """

    shapes: Mapping[str, tuple[int, ...]] | None = field(default=None)
    argument: str = "state"
    suffix: str = ".npz"

    def write(self, file: Path, piece: Mapping[str, Any], problem: str) -> None:
        """Write them."""
        save_arrays(file, {"problem": np.array(problem), **piece})

    def read(self, file: Path, problem: str) -> dict[str, Any]:
        """Read them.

        Raises
        ------
        InputError
            If the file is none of ours, or of another problem.
        DamagedFileError
            If it is no npz file, or no longer one.
        """
        wrong = f"{self.argument} must hold files of this run, and this is none"
        found = read_arrays(file, wrong, ["problem"])
        if str(found.pop("problem")) != problem:
            raise InputError(f"{self.argument} must be of the same samples, folds and options; {file} is of others")
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
    """Do every task that is not finished yet, and return what all of them made, in their order.

    Parameters
    ----------
    tasks : mapping from str to callable
        By name, which becomes that of a file.
    state : Path or None
        Folder of the files; made if there is none. A file that is there must be of its task. None: nothing is kept.
    form : Form
        How they are written and read.
    n_jobs : int, optional
        Processes at work, as for joblib.
    progress : bool, optional
        Whether to show how much is done, and the time that is left; by default on a terminal.
    desc : str
        What the pieces are.

    Raises
    ------
    InputError
        If a file is of another task, or a task has no fingerprint (`paretoclf.common.fingerprints.fingerprint`).

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

    files, problems, found = dict[str, Path](), dict[str, str](), dict[str, T]()
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
        files = {name: state / f"{name}{form.suffix}" for name in tasks}
        problems = {name: fingerprint(task) for name, task in tasks.items()}
    for name, file in files.items():
        if file.exists():
            try:
                found[name] = form.read(file, problems[name])
            except DamagedFileError as error:
                logger.warning("%s; it is computed again", error)
    todo = [name for name in tasks if name not in found]
    work = (delayed(_one)(name, tasks[name], files.get(name), problems.get(name, ""), form) for name in todo)
    made = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work)
    for name, piece in counted(made, desc, len(tasks), progress, done=len(found)):
        found[name] = piece
    return {name: found[name] for name in tasks}


def _one(name: str, task: Callable[[], T], file: Path | None, problem: str, form: Form[T]) -> tuple[str, T]:
    piece = task()
    if file is not None:
        form.write(file, piece, problem)
    return name, piece
