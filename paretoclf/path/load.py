"""Reading paths and maps back from npz files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np

from paretoclf.common.checks import Array, check_labels, check_positive_number, check_share, check_weights
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.files import AnyFile, reading
from paretoclf.common.storage import finite, whole, yes_or_no
from paretoclf.distributions.gaussian.guarantee_path import GuaranteePath, check_guarantees, read_guarantees
from paretoclf.path.base.older_files import read_content
from paretoclf.path.base.taken_samples import take_samples
from paretoclf.path.cost_plane.cost_plane import CostPlane, check_areas, check_proof, check_range
from paretoclf.path.cost_plane.cost_plane_file import unpack
from paretoclf.path.curves.curve_path import CurvePath, check_curve
from paretoclf.path.curves.curve_path_file import fields_of as fields_of_curve
from paretoclf.path.problem_map.problem_map import ProblemMap, check_map_proof
from paretoclf.path.problem_map.problem_map_file import fields_of as fields_of_map
from paretoclf.path.programs.eps_path import ConePath
from paretoclf.path.programs.eps_path_file import fields_of as fields_of_cones
from paretoclf.path.programs.problem_path import ProblemPath
from paretoclf.path.programs.problem_path_file import fields_of, kind_of
from paretoclf.path.programs.program_path import check_line
from paretoclf.path.regions.edges import Contact
from paretoclf.path.svm.consistency import check_pieces
from paretoclf.path.svm.cost_path import Path
from paretoclf.path.svm.margin_path import MarginPath
from paretoclf.path.svm.nu_path import NuPath
from paretoclf.path.svm.quantile_path import QuantilePath
from paretoclf.path.svm.rho_margin import with_lower_rho
from paretoclf.path.svm_lines.svm_path import check_certificates
from paretoclf.problem.costs import CostLine, Costs, SampleCosts
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import kernel_from_spec
from paretoclf.problem.lines import FixedAsymmetry, HullLine, sizes_of
from paretoclf.problem.pieces import Pieces

_OnSamples = Path | QuantilePath | MarginPath | NuPath
OfProgram = TypeVar("OfProgram", ProblemPath, ConePath, CurvePath, GuaranteePath, ProblemMap)
AnyPath = _OnSamples | ProblemPath | ConePath | CurvePath | GuaranteePath


def load(file: AnyFile, kernel: Any = None, *, prove: bool = True, kind: type[ProblemPath] | None = None) -> Any:
    """Read what `save` of a path or of a map wrote, check it, and prove it again.

    Parameters
    ----------
    file : path
    kernel : callable, optional
        Needed only for what was computed with a user's own kernel function.
    prove : bool
        Whether to compute the certificates and hold the stored values against them, as `trace` and `plane` do. Without
        it a consistent file is believed; a path that was traced with ``certify=False`` may need that.
    kind : type, optional
        A class of your own, derived from `ProblemPath`, whose path was saved; by default such a file is read as a
        `ProblemPath`.

    Returns
    -------
    Path, QuantilePath, MarginPath, NuPath, ProblemPath, ConePath, CurvePath, GuaranteePath, CostPlane or ProblemMap
        Whichever was saved, or one of your own ``kind``.

    Raises
    ------
    InputError
        If the file holds neither a path nor a map, if its arrays are not finite or do not fit each other, or if what it
        holds is not proved; if it holds no path of the ``kind`` that is asked for.

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
    if kind is not None:
        return _of_own_kind(file, kind, prove)
    content = read_content(file, _NEITHER)
    if "of_map" in content:
        return _map(file, content, prove)
    reader = _plane if "rectangle" in content else _path
    return reader(file, content, kernel, prove)


def _of_own_kind(file: AnyFile, kind: type[ProblemPath], prove: bool) -> ProblemPath:
    """Read a path of a class that a user has derived from `ProblemPath`."""
    if not (isinstance(kind, type) and issubclass(kind, ProblemPath)):
        raise InputError(f"kind must be a class derived from ProblemPath, got {kind!r:.100}: leave it out for others")
    content = read_content(file, _NO_PATH)
    saved = kind_of(content)
    if saved != kind.__name__:
        held = saved or "no path of a program"
        raise InputError(
            f"kind must be what the file holds, {held}, got {kind.__name__}: leave it out to see what it is"
        )
    return _of_program(file, lambda: kind(**fields_of(content)), check_line, prove)


def load_map(file: AnyFile, *, prove: bool = True) -> ProblemMap:
    """Read the map of a program and nothing else, as `load`."""
    return _map(file, read_content(file, _NO_MAP), prove)


def _map(file: AnyFile, content: dict[str, Any], prove: bool) -> ProblemMap:
    """Make the map of a program of the content of its file."""
    return _of_program(file, lambda: ProblemMap(**fields_of_map(content)), check_map_proof, prove, _NO_MAP)


def load_path(file: AnyFile, kernel: Any = None, *, prove: bool = True) -> AnyPath:
    """Read a path and nothing else, as `load`."""
    return _path(file, read_content(file, _NO_PATH), kernel, prove)


def _path(file: AnyFile, content: dict[str, Any], kernel: Any, prove: bool) -> AnyPath:
    """Make a path of the content of its file."""
    if "of_problem" in content:
        return _of_program(file, lambda: ProblemPath(**fields_of(content)), check_line, prove)
    if "of_guarantees" in content:
        return _of_program(file, lambda: read_guarantees(content), check_guarantees, prove)
    if "of_curve" in content:
        return _of_program(file, lambda: CurvePath(**fields_of_curve(content)), check_curve, prove)
    if "of_cones" in content:
        return _of_program(file, lambda: ConePath(**fields_of_cones(content)), check_line, prove)
    with reading(file, _NO_PATH):
        stored, make_gram = _taken(content)
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
                path = with_lower_rho(path)  # the first files have none
    if prove:
        with _proving(file, True):
            check_certificates(path)
    return path


def load_plane(file: AnyFile, kernel: Any = None, *, prove: bool = True) -> CostPlane:
    """Read a map of the cost plane and nothing else, as `load`."""
    return _plane(file, read_content(file, _NO_PLANE), kernel, prove)


def _plane(file: AnyFile, content: dict[str, Any], kernel: Any, prove: bool) -> CostPlane:
    """Make a map of the cost plane of the content of its file."""
    with reading(file, _NO_PLANE):
        stored, make_gram = _taken(content)
        y = check_labels(stored["y"])
        C_plus, C_minus = (check_range(pair, name) for pair, name in zip(stored["rectangle"], _RANGES, strict=True))
        ends = finite(stored["contact_ends"], "contact_ends", (None, 2, 2))
        pairs = whole(stored["contacts"], "contacts", (ends.shape[0], 2), 0, stored["corners"].size)
        contacts = tuple(_contact(pair, edge) for pair, edge in zip(pairs, ends, strict=True))
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


def _contact(pair: Array, ends: Array) -> Contact:
    """Contact of a pair of regions, along an edge with two ends."""
    i, j = pair.tolist()
    return Contact(i, j, *ends)


_RANGES = ("C_plus", "C_minus")
_NO_PATH, _NO_PLANE = "not a saved path", "not a saved map of the cost plane"
_NO_MAP, _NEITHER = "not a saved map of a program", "not a saved path or map"


def _seconds(stored: Any) -> float:
    """Read the time that tracing took."""
    return float(finite(stored, "seconds", ()))


@contextmanager
def _proving(file: AnyFile, avoidable: bool) -> Iterator[None]:
    """Turn the failure of a proof into an InputError; with the way around it, if there is one."""
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
    """Arrays of a file without samples and kernel, and a function that makes the Gram, given a user's kernel."""
    spec = stored.pop("kernel")
    X, pivots = take_samples(stored), stored.pop("pivots", None)
    free_origin = "lam" not in stored  # all but the quantile path
    return stored, lambda kernel: Gram(X, kernel_from_spec(spec, kernel), low_rank=pivots, free_origin=free_origin)


def _of_program(
    file: AnyFile, made: Callable[[], OfProgram], check: Callable[[OfProgram], None], prove: bool, wrong: str = ""
) -> OfProgram:
    """Read a path of a program, exact or within eps, or its map: it has no samples, and all of it is judged anew."""
    with reading(file, wrong or _NO_PATH), np.errstate(over="ignore", invalid="ignore"):
        path = made()
    if prove:
        with _proving(file, True):
            check(path)
    return path


def _take_own(stored: dict[str, Any], y: Array) -> Callable[..., _OnSamples]:
    """Constructor of the kind of path that a file holds, given the arrays that only this kind has."""
    if "lam" in stored:
        lam = check_positive_number(stored.pop("lam"), "lam")
        return partial(QuantilePath, lam=lam, bias=yes_or_no(stored.pop("bias"), "bias"))
    if "slack_costs" in stored:
        costs = stored.pop("slack_costs")
        low = None if (low := stored.pop("low", None)) is None else finite(low, "low", y.shape)
        return partial(MarginPath, slack_costs=Costs(*costs) if costs.size else None, low=low)
    if "asymmetry" in stored or "hulls" in stored:
        return partial(_nu_path, stored.pop("asymmetry", None), stored.pop("hulls", None))
    if "sample_costs" in stored:
        line = CostLine(*(SampleCosts(costs) for costs in stored.pop("sample_costs")))
    else:
        line = CostLine(*(Costs(*costs) for costs in stored.pop("line")))
    return partial(Path, line=line, sample_weight=check_weights(stored.pop("sample_weight"), y))


def _nu_path(asymmetry: Any, hulls: Any, y: Array, **others: Any) -> NuPath:
    """Make a path at fixed asymmetry, or on a line of pairs, whichever a file holds."""
    sizes = sizes_of(y)
    if asymmetry is not None:
        share = check_share(float(finite(asymmetry, "asymmetry", ())), "asymmetry")
        return NuPath(line=FixedAsymmetry(share, *sizes), y=y, **others)
    ends = finite(hulls, "hulls", (2, 2))
    if not ((ends > 0) & (ends <= 1)).all():
        raise InputError(f"hulls must lie in (0, 1], got {ends.tolist()}")
    start, stop = ((float(a), float(b)) for a, b in ends)
    return NuPath(line=HullLine(start, stop, *sizes), y=y, **others)
