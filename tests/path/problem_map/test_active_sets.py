"""Active sets of small programs against all subsets of their rows, and rays against what they have to fulfil."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from paretoclf.common.errors import DegeneratePathError
from paretoclf.path.problem_map import active_sets
from paretoclf.path.problem_map.active_sets import ActiveSets, Inverted, Ray, Singular
from paretoclf.path.regions.polygon import borders, cut, rectangle, without_short_edges
from paretoclf.problem.parametric_qp import ParametricQP

NEAR = 1e-9


class Program:
    """Costs and bounds by the corners (0, 0), (1, 0) and (0, 1); the first rows may be equations."""

    def __init__(self, P, A, q, b, equations=0):
        self.P, self.A, self.q, self.b = (np.array(each, dtype=float) for each in (P, A, q, b))
        m, n = self.A.shape
        self.equal = np.arange(m) < equations
        upper = np.hstack([np.full((3, n), np.inf), self.b])
        lower = np.where(np.append(np.zeros(n, dtype=bool), self.equal), upper, -np.inf)
        self.bases = ActiveSets(ParametricQP.hard(self.P, self.A, self.q, lower, upper), self.equal)

    def at(self, place):
        weights = np.array([1.0 - sum(place), *place])
        return weights @ self.q, weights @ self.b

    def value(self, place):
        """Optimal value by trying all subsets of active rows; None where no subset is optimal."""
        n, (q, b) = self.A.shape[1], self.at(place)
        always, other = np.flatnonzero(self.equal).tolist(), np.flatnonzero(~self.equal).tolist()
        for k in range(min(n, len(other)) + 1):
            for some in combinations(other, k):
                rows = [*always, *some]
                matrix = np.zeros((n + len(rows), n + len(rows)))
                matrix[:n, :n], matrix[n:, :n], matrix[:n, n:] = self.P, self.A[rows], self.A[rows].T
                right = np.concatenate([-q, b[rows]])
                found = np.linalg.lstsq(matrix, right)[0]
                if np.abs(matrix @ found - right).max() > 1e-9 or (found[n + len(always) :] < -1e-9).any():
                    continue
                x = found[:n]
                if (self.A @ x - b)[other].max(initial=0.0) <= 1e-9:
                    return 0.5 * x @ self.P @ x + q @ x
        return None

    def check_basis(self, basis):
        """The stored columns solve the system, perturbations included."""
        columns, bases = self.bases.columns, self.bases
        x = basis.x[columns]
        assert bases.P @ x + bases.A.T @ basis.z == pytest.approx(-bases.q, abs=1e-9)
        assert bases.A[basis.rows] @ x == pytest.approx(bases.b[basis.rows], abs=1e-9)
        active = np.isin(np.arange(len(self.A)), basis.rows)
        expected = np.where(active[:, None], basis.z, bases.b - bases.A @ x)
        assert basis.conditions[~self.equal] == pytest.approx(expected[~self.equal], abs=1e-9)
        assert not basis.conditions[self.equal].any()
        assert not basis.z[~active].any()
        assert (basis.room < 1e-9).all()
        least = 15.9 * 2.0**-50 * (np.abs(bases.b) + np.abs(bases.A) @ np.abs(x))
        assert (basis.room[~active] >= least[~active]).all()

    def check_optimal(self, basis, place):
        """KKT conditions at a point, and signs of perturbations where they hold with equality."""
        self.check_basis(basis)
        (q, b), one = self.at(place), np.array([1.0, *place])
        x, z = basis.x[:, :3] @ one, basis.z[:, :3] @ one
        assert self.P @ x + self.A.T @ z == pytest.approx(-q, abs=1e-8)
        assert (self.A @ x - b).max() <= 1e-9
        assert np.abs((self.A @ x - b)[self.equal]).max(initial=0.0) <= 1e-9
        assert z[~self.equal].min(initial=0.0) >= -1e-9
        value = self.value(place)
        assert value is not None
        assert 0.5 * x @ self.P @ x + q @ x == pytest.approx(value, abs=1e-8)

    def check_ray(self, ray, place):
        """No optimum at a point, by what the ray fulfils."""
        q, b = self.at(place)
        if ray.status == "infeasible":
            assert np.abs(self.A.T @ ray.vector).max() <= 1e-9
            assert ray.vector[~self.equal].min(initial=0.0) >= 0.0
            assert b @ ray.vector < 0
        else:
            assert np.abs(self.P @ ray.vector).max() <= 1e-9
            assert (self.A @ ray.vector).max() <= 1e-9
            assert np.abs((self.A @ ray.vector)[self.equal]).max(initial=0.0) <= 1e-9
            assert q @ ray.vector < 0
        assert self.value(place) is None


def random_program(seed):
    """Small numbers, whole ones half of the time; P of any rank."""
    rng = np.random.default_rng(seed)
    n, m, rank = int(rng.integers(1, 4)), int(rng.integers(2, 7)), int(rng.integers(0, 4))

    def draw(*shape):
        return rng.integers(-2, 3, shape).astype(float) if seed % 2 else rng.normal(size=shape)

    A, B = draw(m, n), draw(rank, n)
    if seed % 3 == 0 and n > 1:
        A[:, -1], B[:, -1] = A[:, 0], B[:, 0]  # columns alike
    q = draw(3, n) @ (np.eye(n) if seed % 5 else np.zeros((n, n)))
    if seed % 3 == 0 and n > 1:
        q[:, -1] = q[:, 0]
    b = draw(3, m) + 1.5
    equations = int(seed % 4 == 1)
    return Program(B.T @ B, A, q, b, equations)


def edges_of(program, basis):
    """Middles of the edges of the region of a basis inside the square, and directions out of it."""
    own = basis.conditions[:, :3]
    size = np.hypot(own[:, 1], own[:, 2])
    rows = np.flatnonzero(size > 1e-9)
    if not rows.size:
        return
    polygons, labels = cut(rectangle((0.0, 1.0), (0.0, 1.0)), (own[rows] / size[rows, None]).T[None], 1e-7)
    polygons, labels = without_short_edges(polygons, labels, 1e-3)
    polygon = polygons[0]
    if len(polygon) < 3:
        return
    for j, (_, u, v) in enumerate(borders(polygon)):
        if labels[0, j] >= 0:
            stop = polygon[(j + 1) % len(polygon)]
            yield polygon[j] + 0.4731 * (stop - polygon[j]), -np.array([u, v])


PLACES = ((0.3127, 0.2713), (0.7131, 0.1557), (0.2214, 0.8419), (0.83, 0.7261))


def test_optimal_sets_and_those_across_edges_against_all_subsets():
    kinds = {"optimal": 0, "infeasible": 0, "unbounded": 0, "across": 0, "infeasible across": 0, "unbounded across": 0}
    for seed in range(48):
        program = random_program(seed)
        for place in map(np.array, PLACES[: 2 + seed % 3]):
            found = program.bases.optimal(place, NEAR)
            if isinstance(found, Ray):
                kinds[found.status] += 1
                program.check_ray(found, place)
                continue
            kinds["optimal"] += 1
            program.check_optimal(found, place)
            own = found.conditions[:, :3] @ [1.0, *place]
            assert (found.conditions[(np.abs(own) < 1e-9) & ~program.equal, 3] > -1e-9).all()
            for middle, outwards in edges_of(program, found):
                beyond, behind = program.bases.across(found, middle, outwards, NEAR), middle + 1e-5 * outwards
                if isinstance(beyond, Ray):
                    kinds[f"{beyond.status} across"] += 1
                    program.check_ray(beyond, behind)
                    continue
                kinds["across"] += 1
                program.check_optimal(beyond, behind)
                back = program.bases.across(beyond, middle, -outwards, NEAR)
                assert back.key == found.key
    assert min(kinds.values()) >= 3, kinds


def test_a_basis_is_found_once_and_its_rows_increase():
    bases = box(2).bases
    one = bases.optimal(np.array(PLACES[0]), NEAR)
    assert one.rows.tolist() == [2, 3]
    assert bases.basis(one.rows[::-1]) is one
    assert one.key == one.rows.tobytes()
    assert one.system is bases.system(one.rows)


def box(n):
    A = np.vstack([np.eye(n), -np.eye(n)])
    return Program(np.zeros((n, n)), A, np.ones((3, n)), np.ones((3, 2 * n)))


def test_rows_that_are_no_basis():
    bases = box(2).bases
    for rows in ([0], [0, 2], [0, 1, 2]):
        with pytest.raises(Singular):
            bases.basis(rows)
    nearly = Program(np.zeros((2, 2)), [[1, 0], [1, 1e-15], [1, 1e-12]], np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(Singular):
        nearly.bases.basis([0, 1])


def test_the_last_systems_are_kept():
    bases = box(5).bases
    first = np.arange(5)
    system = bases.system(first)
    others = [np.array([k if i & (1 << k) else k + 5 for k in range(5)]) for i in range(1, 16)]
    for rows in others:
        bases.system(rows)
    assert bases.system(first) is system
    bases.system(np.arange(5, 10))
    assert len(bases._systems) == 16
    assert bases.system(first) is not system


def test_rounding_of_a_solution_is_bounded_against_fractions():
    rng = np.random.default_rng(0)
    for _ in range(20):
        lower, x = np.tril(rng.normal(size=(4, 4))), rng.normal(size=4)
        matrix = lower @ lower.T
        found, error = Inverted(matrix, np.linalg.inv(matrix)).solve(x)
        exact = exact_solution(matrix, x)
        away = np.array([abs(float(Fraction(a) - b)) for a, b in zip(found.tolist(), exact, strict=True)])
        assert (away <= error).all()
        size = np.abs(np.linalg.inv(matrix)) @ (np.abs(matrix) @ np.abs(found) + np.abs(x))
        assert error == pytest.approx(2.0**-50 * size, rel=1e-6)
    rough = np.linalg.inv(matrix) * (1 + 1e-6)
    assert Inverted(matrix, rough).solve(x)[0] == pytest.approx([float(each) for each in exact], rel=1e-9)


def exact_solution(matrix, right):
    """Gauss's elimination in fractions."""
    rows = [[Fraction(a) for a in [*row, r]] for row, r in zip(matrix.tolist(), right.tolist(), strict=True)]
    for k in range(len(rows)):
        for i in range(len(rows)):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


def test_independent_rows_and_null_vectors():
    rng = np.random.default_rng(0)
    for rank in range(5):
        M = rng.normal(size=(7, rank)) @ rng.normal(size=(rank, 4))
        rows = active_sets._independent(M)
        assert rows.size == rank == np.linalg.matrix_rank(M[rows]) if rank else rows.size == 0
        assert (np.diff(rows) > 0).all()
        along = active_sets._null(M)
        assert (along is None) == (rank == 4)
        if along is not None:
            assert np.linalg.norm(along) == pytest.approx(1.0)
            assert M @ along == pytest.approx(np.zeros(7), abs=1e-12)
    assert active_sets._independent(np.zeros((0, 3))).size == active_sets._independent(np.zeros((3, 0))).size == 0
    assert active_sets._null(np.zeros((3, 0))) is None
    assert np.abs(active_sets._null(np.array([[1.0, 1.0]]))) == pytest.approx([np.sqrt(0.5)] * 2)
    for small, size in ((1e-10, 2), (1e-12, 1)):
        assert active_sets._independent(np.diag([1.0, small])).size == size
        assert (active_sets._null(np.diag([1.0, small])) is None) == (size == 2)


def test_the_first_row_to_fall_and_what_decides_among_equal_ones():
    rows, speed = np.array([1, 2, 4]), np.array([2.0, 1.0, 4.0])
    value, small = np.array([0.0, 1.0, 3.0, 0.0, 2.0]), np.array([0.0, 1.0, -9.0, 0.0, 1.0])
    assert active_sets._smallest(rows, speed, value, small) == 4  # 1 and 4 are equal; 1/2 > 1/4
    assert active_sets._smallest(rows, speed, value, -small) == 1
    assert active_sets._smallest(rows, speed, np.array([0, 3.0, 1.0, 0, 5.0]), small) == 2
    assert active_sets._smallest(rows, speed, np.array([0, -3.0, 1.0, 0, -1.0]), small) == 4


def test_a_ray_is_cleared_of_rounding():
    assert active_sets._cleared(np.array([-4.0, 1e-17, -1e-17, 1.0])).tolist() == [-4.0, 0.0, 0.0, 1.0]
    assert active_sets._cleared(np.array([-1.0, 1e-17, -1e-17])).tolist() == [-1.0, 0.0, 0.0]
    assert active_sets._cleared(np.zeros(2)).tolist() == [0.0, 0.0]


def test_dependent_rows_are_refused(monkeypatch):
    def singular(self, rows):
        raise Singular

    program = box(2)
    monkeypatch.setattr(ActiveSets, "basis", singular)
    with pytest.raises(DegeneratePathError, match="the active rows at a point are dependent"):
        program.bases.optimal(np.array(PLACES[0]), NEAR)
