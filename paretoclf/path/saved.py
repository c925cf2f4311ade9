"""A path as a file: npz, with everything that is needed to go on with it."""

from __future__ import annotations

import json
import os
from pathlib import Path as FilePath
from typing import Any
from zipfile import BadZipFile
from zlib import error as DamagedError

import numpy as np
import scipy.sparse as sp

from paretoclf.checks import Array
from paretoclf.costs import CostLine, Costs, SampleCosts
from paretoclf.errors import InputError
from paretoclf.gram import Gram
from paretoclf.kernels import kernel_from_spec, kernel_spec
from paretoclf.path.result import Path, Pieces
from paretoclf.samples import Samples


def write_path(path: Path, file: str | os.PathLike[str]) -> None:
    """Write a path to an npz file (to a temporary name first, then renamed); ``.npz`` is added where it is missing."""
    target = FilePath(file)
    target = target if target.suffix == ".npz" else target.with_name(target.name + ".npz")
    stored: dict[str, Any] = {k: v for k, v in path.pieces.__dict__.items() if v is not None}
    ends = np.array([_numbers(costs) for costs in (path.line.start, path.line.stop)])
    stored["sample_costs" if isinstance(path.line.start, SampleCosts) else "line"] = ends
    stored |= _stored(path.gram.X)
    if path.gram.pivots is not None:
        stored["pivots"] = path.gram.pivots
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as stream:
            np.savez_compressed(
                stream,
                y=path.y,
                sample_weight=path.sample_weight,
                kernel=np.array(json.dumps(kernel_spec(path.gram.kernel))),
                seconds=np.array(path.seconds),
                **stored,
            )
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)


def load_path(file: str | os.PathLike[str], kernel: Any = None) -> Path:
    """Read a path written by `Path.save`.

    Parameters
    ----------
    file : path
    kernel : callable, optional
        Needed only for a path that was traced with a user's own kernel function.

    Raises
    ------
    InputError
        If the file does not hold a path.
    """
    try:
        with open(file, "rb") as stream, np.load(stream) as data:
            stored = {name: data[name] for name in data.files}
        spec = json.loads(str(stored.pop("kernel")))
        ends = (
            [SampleCosts(costs) for costs in stored.pop("sample_costs")]
            if "sample_costs" in stored
            else [Costs(*costs) for costs in stored.pop("line")]
        )
        X, pivots = _samples(stored), stored.pop("pivots", None)
        y, weight, seconds = (stored.pop(name) for name in ("y", "sample_weight", "seconds"))
        pieces = Pieces(**{"w": None, **stored})
    except FileNotFoundError:
        raise InputError(f"{file}: no such file") from None
    except (KeyError, ValueError, TypeError, AttributeError, OSError, EOFError, BadZipFile, DamagedError) as error:
        raise InputError(f"{file}: not a saved path ({error})") from None
    gram = Gram(X, kernel_from_spec(spec, kernel), low_rank=pivots)
    return Path(gram, y, weight, CostLine(*ends), pieces, float(seconds))


def _numbers(costs: Costs | SampleCosts) -> Array:
    return costs.values if isinstance(costs, SampleCosts) else np.array(tuple(costs))


def _stored(X: Samples) -> dict[str, Any]:
    """Samples as arrays that npz can hold."""
    if not sp.issparse(X):
        return {"X": X}
    return {"X": X.data, "X_indices": X.indices, "X_indptr": X.indptr, "X_shape": np.array(X.shape)}


def _samples(stored: dict[str, Any]) -> Samples:
    X = stored.pop("X")
    if "X_shape" not in stored:
        return X
    indices, indptr, shape = (stored.pop(f"X_{name}") for name in ("indices", "indptr", "shape"))
    return sp.csr_array((X, indices, indptr), shape=tuple(int(size) for size in shape))
