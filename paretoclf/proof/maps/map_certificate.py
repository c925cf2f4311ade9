"""The certificate file of a map, for `paretoclf.proof.check_map` or whoever reads it.

The labels of a map in doubles are nearly always exactly optimal, on polygons that are nearly its own. Rays are not: in
doubles they meet no equation exactly, and they are found anew in integers, on a line out of the map.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from paretoclf.common.checks import Array, Index
from paretoclf.common.files import AnyFile
from paretoclf.common.progress import counted
from paretoclf.proof import check_map
from paretoclf.proof.files.certificate_file import LETTERS, certificate, definite, digest, save_exact
from paretoclf.proof.files.stated_problems import Stated, by_entries, stated


def map_certificate(
    problem: Mapping[str, Any],
    guide: Sequence[Index],
    outside: Iterable[tuple[Array, Array, int]],
    progress: bool | None = None,
) -> dict[str, Any]:
    """Make the content of a certificate file.

    Parameters
    ----------
    problem : mapping
        As the file states it: what is affine has three lists.
    guide : sequence of int arrays of shape (items,)
        Labels of the regions of a map in doubles.
    outside : iterable of (array of shape (2,), array of shape (2,), int)
        For each ray a point of the plane with an optimum, one without, so that on the way from one to the other this
        ray is the first, and the number of the region in which the way begins.
    progress : bool, optional
        Whether to show a bar; by default on a terminal.

    Raises
    ------
    ArithmeticError
        If these labels do not cover the square, or what rays leave of it.
    """
    problem, _ = definite(dict(problem), check_map.lines)
    rays = [list(_exact_ray(problem, start, stop, guide[number])) for start, stop, number in outside]
    words = ["".join(LETTERS[label + 2] for label in labels) for labels in guide]
    found = _with_area(problem, counted(words, "certificate", len(words), progress))
    regions: list[Any] = []
    for number, letters in enumerate(found):
        pairs = enumerate(zip(found[number - 1], letters, strict=True))
        regions.append([[item, new] for item, (old, new) in pairs if old != new] if number else letters)
    problem = by_entries(problem)
    try:
        check_map.check_map(problem, regions, rays)
    except ArithmeticError as error:
        lost = len(words) - len(found)
        if not lost:
            raise
        raise ArithmeticError(
            f"{lost} of {len(words)} regions have labels that are optimal in doubles only, and without these {error}; "
            "the proof of the map in doubles stands, and paths along its lines have certificates of their own"
        ) from error
    return {
        "format": "map certificate 1",
        "problem": problem,
        "sha256": digest(problem),
        "regions": regions,
        "outside": rays,
    }


def _with_area(problem: Stated, words: Iterable[str]) -> list[str]:
    """Letters that have one solution, which is optimal on a polygon with an area."""
    walk = check_map.Regions(problem)
    found: list[str] = []
    begun = False
    for letters in words:
        try:
            changes = list(enumerate(letters)) if begun else letters
            polygon = walk.next_polygon(changes, not begun, "")
            begun = True
        except ArithmeticError:
            walk, begun = check_map.Regions(problem), False
            continue
        if polygon and letters not in found:
            found.append(letters)
    return found


def _exact_ray(problem: Stated, start: Array, stop: Array, labels: Index) -> tuple[str, list[Any]]:
    """A ray in integers, met on the way from a point with an optimum, with these labels, to one without."""
    content = certificate(between(problem, start, stop), [labels], progress=False)
    if "ray" not in content:
        raise ArithmeticError("there is an optimum where the map has none")
    kind, ray = content["ray"]
    return kind, ray


def between(problem: Mapping[str, Any], start: Array, stop: Array) -> Stated:
    """State the program of a plane on the line from one point of the unit square to another, without rounding."""
    line = dict(problem)
    for name in check_map.AFFINE_OF[problem["kind"]]:
        line[name] = [[_at(numbers, place) for numbers in zip(*problem[name], strict=True)] for place in (start, stop)]
    return line


def _at(numbers: Sequence[Any], place: Array) -> Any:
    """Evaluate at a point what is affine, from its values at three corners; None of None."""
    if numbers[0] is None:
        return None
    s, t = (Fraction(float(each)) for each in place)
    begin, along_s, along_t = map(Fraction, numbers)
    return stated(begin + s * (along_s - begin) + t * (along_t - begin))


def save_map(make: Callable[[], dict[str, Any]], file: AnyFile, level: str | None) -> None:
    """Write what is made as the file of a map, as `save_exact` does."""
    save_exact(make, file, level, "a map")
