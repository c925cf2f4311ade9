"""The map of the cost plane: every optimal classifier of a rectangle of costs, as data.

Along a line of costs the solution is affine between breakpoints; in the plane it is affine on convex polygons, the
critical regions. `plane` finds them all.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from tqdm import tqdm

from paretoclf.common.checks import Array, Index, check_one, refuse_weights_of_0
from paretoclf.common.errors import DegeneratePathError, InputError
from paretoclf.common.progress import logger, shows_progress
from paretoclf.common.tolerances import CERTIFY, PLANE_AREA, PLANE_SLIVER
from paretoclf.engine.sets import LEFT
from paretoclf.path.base.stored_samples import write_arrays
from paretoclf.path.cost_plane.cost_plane_file import pack
from paretoclf.path.cost_plane.explore import RegionSearch
from paretoclf.path.cost_plane.precise_regions import PreciseRegions
from paretoclf.path.regions.critical_region import Bases, Region, Sets
from paretoclf.path.regions.edges import Contact, contradiction, wrong_facet
from paretoclf.path.regions.error_map import ErrorMap, error_map
from paretoclf.path.regions.polygon import area, deepest, lookup, rectangle
from paretoclf.path.svm.cost_path import trace_costs
from paretoclf.problem.classifiers import Classifier
from paretoclf.problem.costs import Costs
from paretoclf.problem.gram import Gram
from paretoclf.problem.lines import LineOfCosts, Weighted, lines_of
from paretoclf.problem.operator import Quadratic
from paretoclf.problem.parametric_qp import INSIDE, LOWER, UPPER
from paretoclf.proof.files.stated_problems import costs_problem, labelled
from paretoclf.proof.maps.cost_regions import Corners, blocks, prove_regions
from paretoclf.proof.points.hinge import certify_hinges
from paretoclf.proof.points.judged_classifiers import make_solution
from paretoclf.proof.points.soft_margin import PRECISELY, SoftMargin
from paretoclf.proof.verdicts.cells import CellsProof
from paretoclf.proof.verdicts.certificate import Certificate
from paretoclf.proof.verdicts.solution import Solution

#: Where in the rectangle the first region is looked for: in no special position on lines such as the ray.
_FIRST = (0.6180339887, 0.4142135624)
_BLOCK = 4096  # certificates computed at a time


@dataclass(frozen=True)
class CostPlane:
    """All optimal 2C-SVM classifiers of a rectangle of the cost plane.

    Attributes
    ----------
    gram : Gram
    y : array of shape (n,)
    sample_weight : array of shape (n,)
        The cap of sample i is ``sample_weight[i] * C_{y_i}``.
    C_plus, C_minus : pairs of float
        The rectangle.
    regions : tuple of Region
        Convex polygons that cover the rectangle and do not overlap; on each, sets and affine solution map.
    contacts : tuple of Contact
        Which regions touch along which segment.
    seconds : float
        Time that the map took, proof excluded.

    Notes
    -----
    Multipliers and w are continuous over the whole rectangle where they are unique. b jumps across some edges, which
    lie on lines ``C_plus s_+ = C_minus s_-`` (s the weights of the left sets): on them every b between the two values
    is optimal. Where multipliers are not unique (dependent samples, such as duplicates), one choice is made for the
    whole map, and w and the scores do not depend on it.
    """

    gram: Gram = field(repr=False)
    y: Array = field(repr=False)
    sample_weight: Array = field(repr=False)
    C_plus: tuple[float, float]
    C_minus: tuple[float, float]
    regions: tuple[Region, ...] = field(repr=False)
    contacts: tuple[Contact, ...] = field(repr=False)
    seconds: float = 0.0

    def __repr__(self) -> str:
        (a, b), (c, d) = self.C_plus, self.C_minus
        return (
            f"CostPlane([{a:g}, {b:g}] x [{c:g}, {d:g}], {self.y.size} samples, {len(self.regions)} regions, "
            f"margin sets of up to {int(self.n_margin.max())})"
        )

    @cached_property
    def areas(self) -> Array:
        """Area of each region; they add up to that of the rectangle."""
        return np.array([region.area for region in self.regions])

    @property
    def n_margin(self) -> Index:
        """Size of the margin set of each region."""
        return np.array([region.margin.size for region in self.regions])

    @cached_property
    def _lookup(self) -> tuple[Array, Array]:
        """Where each region is, for `deepest`."""
        return lookup([region.polygon for region in self.regions])

    def region_at(self, C_plus: float, C_minus: float) -> int:
        """Number of the region that these costs lie in; of one of them, on a common border.

        Raises
        ------
        InputError
            If the costs are outside the rectangle.
        """
        x, y = check_one(C_plus, "C_plus"), check_one(C_minus, "C_minus")
        for name, value, (lo, hi) in (("C_plus", x, self.C_plus), ("C_minus", y, self.C_minus)):
            if not lo <= value <= hi:
                raise InputError(f"{name} must lie in [{lo:g}, {hi:g}], the range of this map; got {value!r}")
        return int(self._regions_near(np.array([x, y]))[0])

    def _regions_near(self, at: Array, by: float = 0.0) -> Index:
        """Numbers of the region that costs lie in, deepest, and of those from which they are no further than this."""
        return deepest(self._lookup, at, 100 * PLANE_SLIVER * float(np.hypot(self.C_plus[1], self.C_minus[1])), by)

    def caps(self, C_plus: float, C_minus: float) -> Array:
        """Upper bounds of the multipliers, shape (n,)."""
        return self.sample_weight * np.where(self.y > 0, C_plus, C_minus)

    def alpha(self, C_plus: float, C_minus: float) -> Array:
        """Multipliers, shape (n,), in O(n)."""
        return self._in(self.region_at(C_plus, C_minus), C_plus, C_minus)[0]

    def _in(self, k: int, C_plus: float, C_minus: float) -> tuple[Array, float]:
        """Multipliers and intercept of region k at costs in it."""
        region, caps, at = self.regions[k], self.caps(C_plus, C_minus), np.array([1.0, C_plus, C_minus])
        if min(C_plus, C_minus) == 0.0:  # a class without costs: no multiplier, and the other decides b
            return np.zeros_like(caps), float(np.sign(self.y @ caps))
        return np.clip(region.coefficients(self.unit_caps) @ at, 0.0, caps), float(region.b_map @ at)

    @property
    def unit_caps(self) -> Array:
        """Caps per unit of either cost, shape (n, 2)."""
        return self.sample_weight[:, None] * np.stack([self.y > 0, self.y < 0], axis=1)

    def at(self, C_plus: float, C_minus: float) -> Solution:
        """Solution at these costs; its certificate is computed when asked for.

        Parameters
        ----------
        C_plus, C_minus : float
            In the rectangle.
        """
        region, at = self.region_at(C_plus, C_minus), np.array([float(C_plus), float(C_minus)])
        alpha, b = self._in(region, *at.tolist())
        w = None if self._offsets is None else self._offsets.slope(self.y * alpha)
        rounds = self._precise.steep and at.min() > 0.0
        stored = self._solution(at, alpha, b, w, np.zeros_like(alpha) if rounds else None)
        if rounds and not stored.certificate.holds():
            for k in self._regions_near(at, self._precise.near).tolist():
                found = self._precise.solve(self.regions[k], at)
                better = None if found is None else self._solution(at, found.alpha[0], found.b, found.w, found.alpha[1])
                if better is not None and better.certificate.holds():
                    return better
        return stored

    def _solution(self, at: Array, alpha: Array, b: float, w: Array | None, low: Array | None) -> Solution:
        costs = Costs(*at.tolist())
        rule = Classifier(self.gram, self.y, self.caps(*costs), alpha, b, w)
        return make_solution(rule, costs, alpha_lo=low, source="plane")

    @cached_property
    def _precise(self) -> PreciseRegions:
        largest = np.array([self.C_plus[1], self.C_minus[1]])
        return PreciseRegions(self.gram, self.y, self.unit_caps, largest)

    @cached_property
    def _offsets(self) -> Quadratic | None:
        """Dense features less their mean: w is the sharper for it, as the multipliers balance."""
        Q = self.gram.quadratic
        return None if Q.middle is None else Q.centred(Q.middle)

    def w_map(self, k: int) -> Array:
        """Slope of region k as ``w_map @ (1, C_plus, C_minus)``, shape (d, 3); linear kernel and ``low_rank`` only."""
        Q = self.gram.quadratic if self._offsets is None else self._offsets
        return Q.slope(self.y[:, None] * self.regions[k].coefficients(self.unit_caps))

    def score_maps(self, X: Any, which: Any = None) -> Array:
        """Scores of m samples in regions: ``score_maps(X)[k] @ (1, C_plus, C_minus)``, shape (r, m, 3).

        Parameters
        ----------
        X : array of shape (m, d)
            As for `Classifier.decision_function`.
        which : sequence of int, optional
            Numbers of the regions; default: all.
        """
        return np.stack(list(self.each_score_map(X, which)))

    def each_score_map(self, X: Any, which: Any = None) -> Iterator[Array]:
        """Score maps of one region after another, shape (m, 3) each."""
        K, unit = self.gram.cross(X), self.unit_caps
        for region in self.regions if which is None else [self.regions[k] for k in which]:
            yield K @ (self.y[:, None] * region.coefficients(unit)) + region.b_map

    def region_numbers(self, C_plus: Array, C_minus: Array) -> Index:
        """Number of the region at every point of a grid, shape (size of C_minus, size of C_plus); both increasing."""
        inside = [v.min() >= lo and v.max() <= hi for v, (lo, hi) in ((C_plus, self.C_plus), (C_minus, self.C_minus))]
        if not all(inside):
            raise InputError(
                f"C_plus and C_minus must lie in the rectangle of this map, {self.C_plus} x {self.C_minus}"
            )
        boxes, planes = self._lookup
        slack = 100 * PLANE_SLIVER * float(np.hypot(self.C_plus[1], self.C_minus[1]))
        out = np.full((C_minus.size, C_plus.size), -1, dtype=np.int64)
        depth = np.full(out.shape, -np.inf)
        first, last = (
            np.stack([np.searchsorted(v, boxes[:, j + k] + sign * slack) for j, v in enumerate((C_plus, C_minus))])
            for k, sign in ((0, -1.0), (2, 1.0))
        )
        for k, border in enumerate(planes):
            part = slice(first[1, k], last[1, k]), slice(first[0, k], last[0, k])
            if depth[part].size:
                x, z = C_plus[None, part[1], None], C_minus[part[0], None, None]
                here = (border[:, 0] + border[:, 1] * x + border[:, 2] * z).min(axis=2)
                deeper = here > depth[part]
                depth[part][deeper], out[part][deeper] = here[deeper], k
        return out

    def certificates(self, where: str = "vertices") -> list[list[Certificate]]:
        """Certificates of each region at its vertices, or at its centroid; `proof` is about all other points, too.

        Parameters
        ----------
        where : "vertices" or "centroids"

        Raises
        ------
        InputError
            If where is anything else.
        """
        if where not in ("vertices", "centroids"):
            raise InputError(f"where must be 'vertices' or 'centroids', got {where!r}")
        points = [r.polygon if where == "vertices" else r.centroid[None] for r in self.regions]
        owner = np.repeat(np.arange(len(points)), [p.shape[0] for p in points])
        costs = np.concatenate(points)
        out: list[list[Certificate]] = [[] for _ in self.regions]
        for first in range(0, owner.size, _BLOCK):
            here = range(first, min(first + _BLOCK, owner.size))
            found = [self._in(int(owner[i]), *costs[i]) for i in here]
            alpha, b = np.stack([a for a, _ in found], axis=1), np.array([b for _, b in found])
            caps = np.stack([self.caps(*costs[i]) for i in here], axis=1)
            W = None if self._offsets is None else self._offsets.slope(self.y[:, None] * alpha)
            proofs = certify_hinges(SoftMargin.of(self.gram, self.y, caps), alpha, b, W)
            if self._precise.steep:
                proofs = [p if p.holds() else self.at(*costs[i]).certificate for i, p in zip(here, proofs, strict=True)]
            for i, proof in zip(here, proofs, strict=True):
                out[owner[i]].append(proof)
        return out

    @cached_property
    def proof(self) -> CellsProof:
        """Proof of every pair of costs of the rectangle, region by region, from the raw arrays."""
        given, gram = (self.y, self.unit_caps, self.gram.quadratic), self.gram
        proof = prove_regions(self._corners(), len(self.regions), *given, gram.note, gram.rounding)
        failed = proof.failures() if self._precise.steep else np.zeros(0, dtype=np.int64)
        note = f"{PRECISELY} {gram.note}".rstrip()
        for j, part in self._precise.corners([self.regions[k] for k in failed]):
            proof = proof.with_parts([int(failed[j])], prove_regions([part], 1, *given, note, gram.rounding))
        return replace(proof, writer=self._write_certificate)

    def _write_certificate(
        self,
        file: str | os.PathLike[str],
        level: str | None = None,
        progress: bool | None = None,
        n_jobs: int | None = None,
        positive: str | float | None = None,
    ) -> None:
        """Write the certificate file of the map, guided by the sets of the regions."""
        from paretoclf.proof.maps.map_certificate import map_certificate, save_map  # few maps have one written

        def make() -> dict[str, Any]:
            problem = labelled(costs_problem(self.gram, self.y, self._caps_at_corners()), positive)
            labels = np.array([LOWER, UPPER, INSIDE])
            guide = [np.append(labels[region.sets], LOWER) for region in self.regions]
            return map_certificate(problem, guide, [], progress)

        save_map(make, file, level)

    def _caps_at_corners(self) -> list[Array]:
        """Caps at three corners: at the first costs, at the last C_plus, and at the last C_minus."""
        (first, last), (low, high) = self.C_plus, self.C_minus
        return [self.caps(first, low), self.caps(last, low), self.caps(first, high)]

    def _corners(self) -> Iterator[Corners]:
        """Multipliers and intercepts at the vertices, as the maps of the regions have them."""
        unit = self.unit_caps
        for which in blocks([region.polygon.shape[0] for region in self.regions], self.y.size):
            regions = [self.regions[k] for k in which]
            costs = np.stack([region.polygon for region in regions])
            at = np.concatenate([np.ones((*costs.shape[:2], 1)), costs], axis=2)
            left = np.stack([region.sets == LEFT for region in regions])
            alpha = np.where(left[:, None], costs @ unit.T, 0.0)
            for mine, region, here in zip(alpha, regions, at, strict=True):
                mine[:, region.margin] = here @ region.alpha_map.T
            b = np.einsum("rmc,rc->rm", at, np.stack([region.b_map for region in regions]))
            yield Corners(which, costs, alpha, b)

    def error_map(self, X: Any, y: Any) -> ErrorMap:
        """False positives and false negatives on (held-out) samples over the whole map, exactly.

        Parameters
        ----------
        X : array of shape (m, d)
            As for `Classifier.decision_function`.
        y : array of shape (m,)
            Labels -1 and +1, both present.

        Examples
        --------
        >>> import paretoclf as pc
        >>> svm = pc.TwoCSVM([[0.0], [1.0], [2.0], [3.0]], [-1, 1, -1, 1])
        >>> pc.plane(svm, (0.05, 2), (0.05, 2)).error_map([[0.2], [2.4]], [-1, 1]).minimax().objective
        0.0
        """
        return error_map(self, X, y)

    def save(self, file: str | os.PathLike[str]) -> None:
        """Write the map to an npz file (to a temporary name first, then renamed); `load` reads it."""
        contacts = {
            "contacts": np.array([(each.first, each.second) for each in self.contacts], dtype=np.int64).reshape(-1, 2),
            "contact_ends": np.array([(each.start, each.stop) for each in self.contacts]).reshape(-1, 2, 2),
        }
        own = {"rectangle": np.array([self.C_plus, self.C_minus]), "sample_weight": self.sample_weight}
        write_arrays(file, self.gram, self.y, self.seconds, {**pack(self.regions), **contacts, **own})

    def plot(self, ax: Any = None) -> Any:
        """Draw the regions; see `paretoclf.plotting.plane.PlaneDisplay`."""
        from paretoclf.plotting.plane import PlaneDisplay  # matplotlib only when a picture is wanted

        return PlaneDisplay.from_plane(self).plot(ax=ax)


def map_costs(
    svm: Weighted, C_plus: Any, C_minus: Any, *, certify: bool = True, progress: bool | None = None
) -> CostPlane:
    """`paretoclf.plane` of a 2C-SVM on two ranges of costs."""
    lines_of(svm, only=LineOfCosts)
    refuse_weights_of_0(svm.sample_weight, "for a map")
    across, up = check_range(C_plus, "C_plus"), check_range(C_minus, "C_minus")
    began = time.perf_counter()
    frame = rectangle(across, up)
    bases = Bases(svm.gram, svm.y, svm.sample_weight, frame)
    corner, width = frame[0], frame[2] - frame[0]
    at = corner + np.array(_FIRST) * width
    path = trace_costs(svm, tuple(at), tuple(at + 1e-3 * width * _FIRST[::-1]), certify=False, progress=False)
    t = 0.5 * float(path.pieces.t[1])
    search = RegionSearch(svm.gram, svm.y, svm.sample_weight, bases)
    whole, shown = float(area(frame)), shows_progress(progress)
    with tqdm(total=whole, desc="plane", leave=False, disable=not shown, bar_format=_BAR) as meter:
        search.run(Sets(*path.basis(t)), np.array(tuple(path.costs(t))), meter.update if shown else None)
    found = CostPlane(
        svm.gram, svm.y, svm.sample_weight, across, up, tuple(search.regions),
        tuple(Contact(*each) for each in search.contacts), time.perf_counter() - began,
    )  # fmt: skip
    check_areas(found)
    if certify:
        check_proof(found)
    logger.info("mapped in %.2f s: %r", found.seconds, found)
    return found


def check_areas(found: CostPlane) -> None:
    """DegeneratePathError unless the regions are in the rectangle and have its area."""
    corners = np.concatenate([region.polygon for region in found.regions])
    low, _, high, _ = rectangle(found.C_plus, found.C_minus)
    slack = PLANE_SLIVER * float(np.hypot(*(high - low)))
    outside = np.flatnonzero(((corners < low - slack) | (corners > high + slack)).any(axis=1))
    if outside.size:
        raise _refuse("a region leaves the rectangle", found.regions[0], corners[outside[0]])
    missing = abs(1.0 - float(found.areas.sum() / area(rectangle(found.C_plus, found.C_minus))))
    if not missing <= PLANE_AREA:
        first = found.regions[0]
        raise _refuse(f"the regions miss or overlap on {missing:.1e} of the rectangle", first, first.centroid)


def check_proof(found: CostPlane) -> None:
    """DegeneratePathError unless every region is proved, and what is stored of the edges is so."""
    failed = found.proof.failures(CERTIFY)
    if failed.size:
        region, why = found.regions[failed[0]], found.proof[failed[0]].explain()
        raise _refuse(f"a region is not proved ({why})", region, region.centroid)
    frame = rectangle(found.C_plus, found.C_minus)
    wrong = contradiction(found.regions, found.contacts, frame) or wrong_facet(
        found.regions, frame, found.gram, found.y, found.unit_caps
    )
    if wrong is not None:
        raise _refuse(wrong.cause, found.regions[wrong.region], wrong.costs)


_BAR = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}"


def check_range(given: Any, name: str) -> tuple[float, float]:
    """Return a range of costs (lo, hi), or say what is wrong with it."""
    try:
        lo, hi = (float(v) for v in given)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be a pair (lo, hi) of costs, got {given!r}") from None
    if not 0.0 <= lo < hi < np.inf:
        raise InputError(f"{name} must be a pair with 0 <= lo < hi, both finite; got {given!r}")
    return lo, hi


def _refuse(cause: str, region: Region, costs: Array) -> DegeneratePathError:
    where = f"C_plus={costs[0]:.6g}, C_minus={costs[1]:.6g}"
    remedy = "Standardise the features, or use a smaller rectangle; no doubtful map is returned."
    return DegeneratePathError(cause, t=None, costs=where, n_margin=region.margin.size, remedy=remedy)
