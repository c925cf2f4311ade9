"""Reading paths and maps back from npz files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np

from paretoclf.common.checks import Array, check_labels, check_positive_number, check_share, check_weights
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile, read_arrays, reading
from paretoclf.common.storage import finite, whole, yes_or_no
from paretoclf.distributions.gaussian.guarantee_path import GuaranteePath, check_stored, read_guarantees
from paretoclf.path.consistent import check_pieces
from paretoclf.path.cost import Path
from paretoclf.path.maps.edges import Contact
from paretoclf.path.maps.map import CostPlane, check_areas, check_proof, check_range
from paretoclf.path.maps.problem_map import ProblemMap, check_map_proof
from paretoclf.path.maps.problem_map_stored import fields_of as fields_of_map
from paretoclf.path.maps.stored import unpack
from paretoclf.path.margins import MarginPath
from paretoclf.path.nu import NuPath
from paretoclf.path.of_cones import ConePath
from paretoclf.path.of_cones_stored import fields_of as fields_of_cones
from paretoclf.path.of_problem import ProblemPath
from paretoclf.path.of_problem_stored import fields_of
from paretoclf.path.on_line import check_line
from paretoclf.path.on_pieces import check_certificates
from paretoclf.path.pieces import Pieces
from paretoclf.path.quantile import QuantilePath
from paretoclf.path.room import with_room
from paretoclf.path.stored_samples import take_samples
from paretoclf.problem.costs import CostLine, Costs, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import kernel_from_spec
from paretoclf.problem.lines import FixedAsymmetry, HullLine, sizes_of

_OnSamples = Path | QuantilePath | MarginPath | NuPath
OfProgram = TypeVar("OfProgram", ProblemPath, ConePath, GuaranteePath, ProblemMap)
AnyPath = _OnSamples | ProblemPath | ConePath | GuaranteePath


def load(file: AnyFile, kernel: Any = None, *, prove: bool = True) -> Any:
    """Read what `save` of a path or of a map wrote, check it, and prove it again.

    Parameters
    ----------
    file : path
    kernel : callable, optional
        Needed only for what was computed with a user's own kernel function.
    prove : bool
        Whether to compute the certificates and hold the stored values against them, as `trace` and `plane` do. Without
        it a consistent file is believed; a path that was traced with ``certify=False`` may need that.

    Returns
    -------
    Path, QuantilePath, MarginPath, NuPath, ProblemPath, ConePath, GuaranteePath, CostPlane or ProblemMap
        Whichever was saved.

    Raises
    ------
    InputError
        If the file holds neither, if its arrays are not finite or do not fit each other, or if it is not proved.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import paretoclf as pc
    >>> path = pc.trace(pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1]), (0, 0), (1, 1))
    >>> with TemporaryDirectory() as folder:
    ...     path.save(Path(folder) / "path.npz")
    ...     again = pc.load(Path(folder) / "path.npz")
    >>> again.value(0.5) == path.value(0.5)
    True
    """
    there = read_arrays(file, _NEITHER, others=["rectangle", "of_map"])
    if "of_map" in there:
        return load_map(file, prove=prove)
    kind = load_plane if there else load_path
    return kind(file, kernel, prove=prove)


def load_map(file: AnyFile, *, prove: bool = True) -> ProblemMap:
    """As `load`, for the map of a program and nothing else."""
    with reading(file, _NO_MAP):
        arrays = read_arrays(file, _NO_MAP)
    return _of_program(file, lambda: ProblemMap(**fields_of_map(arrays)), check_map_proof, prove, _NO_MAP)


def load_path(file: AnyFile, kernel: Any = None, *, prove: bool = True) -> AnyPath:
    """As `load`, for a path and nothing else."""
    with reading(file, _NO_PATH):
        arrays = read_arrays(file, _NO_PATH)
    if "of_problem" in arrays:
        return _of_program(file, lambda: ProblemPath(**fields_of(arrays)), check_line, prove)
    if "of_guarantees" in arrays:
        return _of_program(file, lambda: read_guarantees(arrays), lambda path: check_stored(path, arrays), prove)
    if "of_cones" in arrays:
        return _of_program(file, lambda: ConePath(**fields_of_cones(arrays)), check_line, prove)
    with reading(file, _NO_PATH):
        stored, make_gram = _taken(arrays)
        y, seconds = check_labels(stored.pop("y")), _seconds(stored.pop("seconds"))
        make = _take_own(stored, y)
        pieces = Pieces(**{"w": None, **stored})
    with nullcontext() if callable(kernel) else reading(file, _NO_PATH):  # a user's function may raise what it likes
        gram = make_gram(kernel)
    with reading(file, _NO_PATH):
        check_labels(y, gram.n)
        path = make(gram=gram, y=y, pieces=pieces, seconds=seconds)
        check_pieces(path)
        if isinstance(path, NuPath):
            with np.errstate(over="ignore", invalid="ignore"):  # what is stored may be of any size
                path = with_room(path)  # the first files have none
    if prove:
        with _proving(file, True):
            check_certificates(path)
    return path


def load_plane(file: AnyFile, kernel: Any = None, *, prove: bool = True) -> CostPlane:
    """As `load`, for a map of the cost plane and nothing else."""
    with reading(file, _NO_PLANE):
        stored, make_gram = _taken(read_arrays(file, _NO_PLANE))
        y = check_labels(stored["y"])
        C_plus, C_minus = (check_range(pair, name) for pair, name in zip(stored["rectangle"], _RANGES, strict=True))
        ends = finite(stored["contact_ends"], "contact_ends", (None, 2, 2))
        pairs = whole(stored["contacts"], "contacts", (ends.shape[0], 2), 0, stored["corners"].size)
        contacts = tuple(Contact(int(i), int(j), *e) for (i, j), e in zip(pairs, ends, strict=True))
        regions = unpack(stored, y.size)
        weight, seconds = check_weights(stored["sample_weight"], y), _seconds(stored["seconds"])
    with nullcontext() if callable(kernel) else reading(file, _NO_PLANE):
        gram = make_gram(kernel)
    with reading(file, _NO_PLANE):
        check_labels(y, gram.n)
        found = CostPlane(gram, y, weight, C_plus, C_minus, regions, contacts, seconds)
    with _proving(file, prove):
        check_areas(found)
        if prove:
            check_proof(found)
    return found


_RANGES = ("C_plus", "C_minus")
_NO_PATH, _NO_PLANE = "not a saved path", "not a saved map of the cost plane"
_NO_MAP, _NEITHER = "not a saved map of a program", "not a saved path or map"


def _seconds(stored: Any) -> float:
    return float(finite(stored, "seconds", ()))


@contextmanager
def _proving(file: AnyFile, avoidable: bool) -> Iterator[None]:
    """InputError where a proof fails; with the way around it, if there is one."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # stored numbers may be of any size: what follows is judged
            yield
    except DegeneratePathError as error:
        around = "; load(..., prove=False) reads it unproved" if avoidable else ""
        raise InputError(f"{file}: not proved: {error.where}{around}") from None
    except InputError:
        raise
    except (ArithmeticError, ValueError) as error:  # so does linear algebra with numbers near the ends of doubles
        raise InputError(f"{file}: not proved: its numbers cannot be judged ({error})") from None


def _taken(stored: dict[str, Any]) -> tuple[dict[str, Any], Callable[[Any], Gram]]:
    """What a file holds, and how the Gram is made of it, given a user's kernel function."""
    spec = json.loads(str(stored.pop("kernel")))
    X, pivots = take_samples(stored), stored.pop("pivots", None)
    free_origin = "lam" not in stored  # all but the quantile path
    return stored, lambda kernel: Gram(X, kernel_from_spec(spec, kernel), low_rank=pivots, free_origin=free_origin)


def _of_program(
    file: AnyFile, made: Callable[[], OfProgram], check: Callable[[OfProgram], None], prove: bool, wrong: str = ""
) -> OfProgram:
    """A path of a program, exact or within eps, or its map: no samples, and no kernel; all of it is judged anew."""
    with reading(file, wrong or _NO_PATH), np.errstate(over="ignore", invalid="ignore"):
        path = made()
    if prove:
        with _proving(file, True):
            check(path)
    return path


def _take_own(stored: dict[str, Any], y: Array) -> Callable[..., _OnSamples]:
    """What kind of path this is, with what only this kind has."""
    if "lam" in stored:
        lam = check_positive_number(stored.pop("lam"), "lam")
        return partial(QuantilePath, lam=lam, bias=yes_or_no(stored.pop("bias"), "bias"))
    if "slack_costs" in stored:
        costs = stored.pop("slack_costs")
        low = None if (low := stored.pop("low", None)) is None else finite(low, "low", y.shape)
        return partial(MarginPath, slack_costs=Costs(*costs) if costs.size else None, low=low)
    if "asymmetry" in stored or "hulls" in stored:
        return partial(_nu_path, stored.pop("asymmetry", None), stored.pop("hulls", None))
    ends = (
        [SampleCosts(costs) for costs in stored.pop("sample_costs")]
        if "sample_costs" in stored
        else [Costs(*costs) for costs in stored.pop("line")]
    )
    return partial(Path, line=CostLine(*ends), sample_weight=check_weights(stored.pop("sample_weight"), y))


def _nu_path(asymmetry: Any, hulls: Any, y: Array, **others: Any) -> NuPath:
    sizes = sizes_of(y)
    if asymmetry is not None:
        share = check_share(float(finite(asymmetry, "asymmetry", ())), "asymmetry")
        return NuPath(line=FixedAsymmetry(share, *sizes), y=y, **others)
    ends = finite(hulls, "hulls", (2, 2))
    if not ((ends > 0) & (ends <= 1)).all():
        raise InputError(f"hulls must lie in (0, 1], got {ends.tolist()}")
    start, stop = ((float(a), float(b)) for a, b in ends)
    return NuPath(line=HullLine(start, stop, *sizes), y=y, **others)
