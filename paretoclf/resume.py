"""Long work in pieces: each finished piece is a file, and what is a file is not done again.

A file appears complete or not at all: it is written to a temporary name in its folder, and then renamed. So whoever
kills a run loses the pieces that were being worked on, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np

from paretoclf.errors import InputError
from paretoclf.progress import counted

T = TypeVar("T")


class Form(Protocol[T]):
    """How a piece becomes a file."""

    @property
    def suffix(self) -> str:
        """End of the name, such as ``.npz``."""
        ...

    def write(self, file: Path, piece: T) -> None:
        """Write a piece to a file of this name."""
        ...

    def read(self, file: Path) -> T:
        """Read it."""
        ...


@contextmanager
def replacing(file: Path) -> Iterator[Path]:
    """Give a temporary name beside a file, which is renamed to it at the end, and removed after an error.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.resume import replacing
    >>> with TemporaryDirectory() as folder:
    ...     with replacing(Path(folder) / "table.csv") as temporary:
    ...         _ = temporary.write_text("a,b")
    ...     [file.name for file in Path(folder).iterdir()]
    ['table.csv']
    """
    # The suffix stays the last: writers of pictures and arrays go by it.
    temporary = file.with_name(f".{file.stem}.{os.getpid()}.tmp{file.suffix}")
    try:
        yield temporary
        os.replace(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


@dataclass(frozen=True)
class Arrays:
    """Pieces that are arrays by name, and of what problem: a `Form`.

    Parameters
    ----------
    problem : str
        Whatever the pieces depend on; a file of another problem is refused.
    """

    problem: str
    suffix: str = ".npz"

    def write(self, file: Path, piece: Mapping[str, Any]) -> None:
        """Write them."""
        np.savez(file, problem=np.array(self.problem), **piece)

    def read(self, file: Path) -> dict[str, Any]:
        """Read them.

        Raises
        ------
        InputError
            If the file is none of ours, or of another problem.
        """
        try:
            with np.load(file, allow_pickle=False) as stored:
                found = {name: stored[name] for name in stored.files}
            problem = str(found.pop("problem"))
        except (OSError, ValueError, KeyError, EOFError) as error:
            raise InputError(f"state must hold files of this run, got {file} ({error})") from None
        if problem != self.problem:
            raise InputError(f"state must be of the same samples, folds and options; {file} is of others")
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
        Folder of the files; made if there is none. None: nothing is kept.
    form : Form
        How they are written and read.
    n_jobs : int, optional
        Processes at work, as for joblib.
    progress : bool, optional
        Whether to show how much is done, and the time that is left; by default on a terminal.
    desc : str
        What the pieces are.

    Examples
    --------
    >>> from functools import partial
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretoclf.resume import Arrays, finish
    >>> def square(x):
    ...     print("squaring", x)
    ...     return {"square": x * x}
    >>> tasks = {f"of-{x}": partial(square, x) for x in (2, 3)}
    >>> with TemporaryDirectory() as folder:
    ...     _ = finish({"of-2": tasks["of-2"]}, Path(folder), Arrays("squares"))
    ...     found = finish(tasks, Path(folder), Arrays("squares"))
    squaring 2
    squaring 3
    >>> [int(piece["square"]) for piece in found.values()]
    [4, 9]
    """
    from joblib import Parallel, delayed  # not for whoever only writes a file

    files = {name: None if state is None else state / f"{name}{form.suffix}" for name in tasks}
    if state is not None:
        state.mkdir(parents=True, exist_ok=True)
    found = {name: form.read(file) for name, file in files.items() if file is not None and file.exists()}
    todo = [name for name in tasks if name not in found]
    work = (delayed(_one)(name, tasks[name], files[name], form) for name in todo)
    made = Parallel(n_jobs=n_jobs, return_as="generator_unordered")(work)
    for name, piece in counted(made, desc, len(tasks), progress, done=len(found)):
        found[name] = piece
    return {name: found[name] for name in tasks}


def _one(name: str, task: Callable[[], T], file: Path | None, form: Form[T]) -> tuple[str, T]:
    piece = task()
    if file is not None:
        with replacing(file) as temporary:
            form.write(temporary, piece)
    return name, piece
