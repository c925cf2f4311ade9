"""A formulation of one variable whose optimum is known in closed form: values, solvers, rescues, refusals and words."""

from __future__ import annotations

import pickle
from functools import cached_property

import cvxpy as cp
import numpy as np
import pytest

from paretoclf.common.errors import InputError, SolveError
from paretoclf.problem.lines import SampleLine
from paretoclf.solve import formulation as module
from paretoclf.solve.formulation import (
    NONNEGATIVE,
    POSITIVE,
    ByName,
    Formulation,
    Found,
    Range,
    checked_domain,
    found_of,
    solve_at,
    through_cvxpy,
    with_clarabel,
    within,
)
from paretoclf.solve.models.model import Claim
from paretoclf.solve.models.statement import Statement


class Nearest(Formulation):
    """The number next to 3 that is not far from c.

    min (x - 3)^2 / 2 + lam |x - c|: at 3 moved towards c by lam, and no further than c.
    """

    domain = {"lam": POSITIVE, "c": Range(-5, 5)}  # noqa: RUF012

    @cached_property
    def primal(self):
        x, t = cp.Variable(name="x"), cp.Variable(name="t")
        right = (x - self.parameters["c"] <= t).set_label("right")
        left = (self.parameters["c"] - x <= t).set_label("left")
        return cp.Problem(cp.Minimize(cp.square(x - 3) / 2 + self.parameters["lam"] * t), [right, left])


class Pair(Nearest):
    """The same with a dual by hand: max u (3 - c) - u^2 / 2 with |u| <= lam."""

    @cached_property
    def dual(self):
        u = cp.Variable(name="u")
        inside = (cp.abs(u) <= self.parameters["lam"]).set_label("inside")
        return cp.Problem(cp.Minimize(cp.square(u) / 2 - 3 * u + u * self.parameters["c"]), [inside])


def optimum(lam, c):
    move = float(np.clip(3 - c, -lam, lam))
    x = 3 - move
    return x, (x - 3) ** 2 / 2 + lam * abs(x - c)


POINTS = [(0.5, 1.0), (4.0, 1.0), (0.25, 5.0), (2.0, 3.5)]


class TestSolutions:
    @pytest.mark.parametrize(("lam", "c"), POINTS)
    @pytest.mark.parametrize("kind", [Nearest, Pair])
    @pytest.mark.parametrize("form", ["primal", "dual"])
    def test_they_are_those_of_the_closed_form(self, kind, form, lam, c):
        solution = kind().solve(lam, c, form=form)
        x, value = optimum(lam, c)
        assert solution.value == pytest.approx(value, abs=1e-8)
        assert solution.dual_value == pytest.approx(value, abs=1e-8)
        assert float(solution.numbers["x"]) == pytest.approx(x, abs=1e-5)
        assert solution.values == {"lam": lam, "c": c}
        assert solution.certificate.passes(1e-6)
        assert solution.source == "CLARABEL"
        assert solution.status == "optimal"

    @pytest.mark.parametrize("kind", [Nearest, Pair])
    def test_the_dual_is_a_minimisation_of_minus_the_value(self, kind):
        made = kind()
        for lam, c in POINTS:
            made.parameters["lam"].value, made.parameters["c"].value = lam, c
            assert isinstance(made.dual.objective, cp.Minimize)
            assert made.dual.solve("CLARABEL") == pytest.approx(-optimum(lam, c)[1], abs=1e-6)
        assert made.states_dual == (kind is Pair)
        assert made.model("dual") is made.dual_model
        assert made.model("primal").problem is made.primal

    def test_values_may_be_given_by_position_or_by_name_once(self):
        made = Nearest()
        expected = optimum(0.5, 1.0)[1]
        for args, given in (((0.5, 1.0), {}), ((0.5,), {"c": 1.0}), ((), {"c": 1.0, "lam": 0.5})):
            assert made.solve(*args, **given).value == pytest.approx(expected, abs=1e-8)
        for args, given, words in (
            ((1, 2, 3), {}, r"there are 2 parameters \(lam, c\), got 3 numbers"),
            ((1, 2), {"c": 1}, "c must be given once, got it by position and by name"),
            ((1,), {}, "c must be given: the parameters are lam, c"),
            ((-1, 2), {}, "lam must be a finite positive number, got -1"),
            ((1, 6), {}, r"c must be in \[-5, 5\], got 6"),
            ((1, "two"), {}, "c must be a number, got 'two'"),
            ((1, 2), {"form": "third"}, "form must be 'dual' or 'primal'"),
            ((1, 2), {"solver": "NOBODY"}, "solver must be one of the installed .*CLARABEL.*, got 'NOBODY'"),
            ((1, 2), {"warm_start": True}, "warm_start must be left out"),
            ((1, 2), {"accuracy": "high"}, "accuracy must be 'reference' or 'fast'"),
        ):
            with pytest.raises(InputError, match=words):
                made.solve(*args, **given)

    def test_options_and_solvers_pass_through(self, monkeypatch):
        asked = []
        solve = cp.Problem.solve

        def listening(self, *args, **options):
            asked.append(options)
            return solve(self, *args, **options)

        monkeypatch.setattr(cp.Problem, "solve", listening)
        made = Nearest()
        made.solve(0.5, 1.0, accuracy="fast")
        made.solve(0.5, 1.0, max_iter=77)
        made.solve(0.5, 1.0, solver="scs", eps_abs=1e-7)
        assert asked[0]["tol_gap_abs"] == asked[0]["tol_feas"] == 1e-8
        assert (asked[1]["max_iter"], asked[1]["tol_gap_rel"]) == (77, 1e-12)
        assert (asked[2]["solver"], asked[2]["eps_abs"]) == ("SCS", 1e-7)
        assert "tol_feas" not in asked[2]
        assert all(options["warm_start"] is False for options in asked)

    def test_the_time_of_building_and_of_solving_is_told(self):
        timing = Nearest().solve(0.5, 1.0).timing
        assert set(timing) == {"build", "solve"}
        assert all(0 <= seconds < 60 for seconds in timing.values())


class TestForms:
    def test_a_formulation_without_a_judge_needs_every_form_that_was_written(self):
        assert Nearest().needs("primal") == ("primal",)
        assert Nearest().needs("dual") == ("primal", "dual")
        assert Pair().needs("primal") == Pair().needs("dual") == ("primal", "dual")
        assert not Pair().has_judge

        class Judging(Pair):
            def judge(self, values, point):
                return super().judge(values, point)

        assert Judging().needs("primal") == ("primal",)
        assert Judging().needs("dual") == ("dual",)
        assert Judging().has_judge

    def test_a_subclass_with_other_programs_has_no_line_of_its_parent(self):
        class Line(SampleLine):
            pass

        class Parent(Nearest):
            lines = Line

        class Renamed(Parent):
            title = "another"

        class Other(Parent):
            domain = {"lam": POSITIVE}  # noqa: RUF012

        class Again(Parent):
            domain = {"lam": POSITIVE}  # noqa: RUF012
            lines = Line

        assert (Parent.lines, Renamed.lines, Other.lines, Again.lines) == (Line, Line, None, Line)

    def test_a_line_is_that_of_its_kind_or_of_the_compiled_program(self):
        class Line:
            @classmethod
            def of(cls, formulation, *ends, **parameters):
                return formulation, ends, parameters

        class Lined(Nearest):
            lines = Line

        made = Lined()
        assert made.line(1, 2, c=3) == (made, (1, 2), {"c": 3})
        assert Nearest().line(lam=(0.5, 2.0), c=1.0).problem.n > 0


class TestClosedForms:
    class Known(Nearest):
        direct = "by hand"

        def closed_form(self, values):
            if values["lam"] < 1:
                return None
            x, _ = optimum(**values)
            return {"primal": {"x": x, "t": abs(x - values["c"]), "right": 0.0, "left": values["lam"]}}

        def judge(self, values, point):
            return super().judge(values, point)

    def test_where_there_is_one_no_solver_is_asked(self, monkeypatch):
        made = self.Known()
        by_solver = made.solve(0.5, 1.0)
        assert by_solver.source == "CLARABEL"
        monkeypatch.setattr(module, "through_cvxpy", None)
        solution = made.solve(4.0, 1.0)
        assert solution.source == solution.status == "by hand"
        assert solution.timing == {"solve": 0.0}
        assert solution.value == pytest.approx(optimum(4.0, 1.0)[1])


class TestRefining:
    class Polished(Nearest):
        off = 0.0

        def refined(self, values, point, solution):
            x, _ = optimum(**values)
            t = abs(x - values["c"]) + self.off
            return {"primal": point["primal"] | {"x": np.asarray(x), "t": np.asarray(t)}}

    def test_the_better_of_two_points_is_returned(self):
        good, bad = self.Polished(), self.Polished()
        bad.off = 0.5
        assert good.solve(0.5, 1.0).status == "optimal, polished"
        assert float(good.solve(0.5, 1.0).numbers["x"]) == optimum(0.5, 1.0)[0]
        assert bad.solve(0.5, 1.0).status == "optimal"
        assert good.solve(0.5, 1.0, polish=False).status == "optimal"

    def test_a_point_that_is_taken_as_it_is_proves_nothing(self):
        made = Nearest()
        x, value = optimum(0.5, 1.0)
        claim = Claim({"lam": 0.5, "c": 1.0}, {"primal": {"x": x, "t": 1.5}}, False, "somebody", "said", {})
        solution = made.uncertified(claim)
        assert solution.value == pytest.approx(value)
        assert not solution.certificate.passes(1.0)
        assert (solution.source, solution.status) == ("somebody", "said")

    def test_several_claims_are_certified_one_after_the_other(self):
        made = Nearest()
        found = through_cvxpy(made, {"lam": 0.5, "c": 1.0}, ("primal",))
        claim = found.claim(made, {"lam": 0.5, "c": 1.0}, polish=False)
        one, other = made.complete_many([claim, claim])
        assert one.value == other.value == pytest.approx(optimum(0.5, 1.0)[1], abs=1e-8)


def failing(monkeypatch, times):
    """Let the solver fail so many times."""
    asked = []
    solve = module.through_cvxpy

    def through(formulation, numbers, forms, solver="CLARABEL", settings=None):
        asked.append(dict(settings or {}).get("tol_gap_abs"))
        if len(asked) <= times:
            raise SolveError(f"failure {len(asked)}")
        return solve(formulation, numbers, forms, solver, settings)

    monkeypatch.setattr(module, "through_cvxpy", through)
    return asked


class TestRescues:
    VALUES = {"lam": 0.5, "c": 1.0}  # noqa: RUF012

    def test_a_problem_that_fails_is_solved_in_other_units(self, monkeypatch):
        failing(monkeypatch, 1)
        solution = solve_at(Nearest(), self.VALUES)
        assert solution.status == "optimal, rescaled"
        assert solution.value == pytest.approx(optimum(**self.VALUES)[1], abs=1e-8)

    @pytest.mark.parametrize(("times", "tolerance"), [(1, 1e-10), (2, 1e-8)])
    def test_and_where_these_fail_too_less_accurately(self, monkeypatch, times, tolerance):
        asked = failing(monkeypatch, times)
        monkeypatch.setattr(module, "_rescaled", self.refuse)
        solution = solve_at(Nearest(), self.VALUES)
        assert solution.status == f"optimal, at {tolerance:.0e}"
        assert asked == [1e-12, 1e-10, 1e-8][: times + 1]

    def refuse(self, *given):
        raise SolveError("no units")

    def test_where_all_fail_the_last_failure_is_told(self, monkeypatch):
        monkeypatch.setattr(module, "_rescaled", self.refuse)
        failing(monkeypatch, 9)
        with pytest.raises(SolveError, match="failure 3"):
            solve_at(Nearest(), self.VALUES)

    def test_who_asked_for_less_or_for_a_solver_is_told_the_first(self, monkeypatch):
        monkeypatch.setattr(module, "_rescaled", self.refuse)
        for how in ({"accuracy": "fast"}, {"options": {"max_iter": 50}}, {"solver": "SCS"}):
            failing(monkeypatch, 9)
            with pytest.raises(SolveError, match="failure 1"):
                solve_at(Nearest(), self.VALUES, **how)
            monkeypatch.undo()
            monkeypatch.setattr(module, "_rescaled", self.refuse)

    def test_a_sweep_asks_for_one_accuracy_and_then_for_less(self, monkeypatch):
        asked = failing(monkeypatch, 1)
        found = with_clarabel(Nearest(), self.VALUES, ("primal",), "reference")
        assert found.status == "optimal, at 1e-10"
        assert asked == [1e-12, 1e-10]
        failing(monkeypatch, 99)
        with pytest.raises(SolveError, match="failure 1"):
            with_clarabel(Nearest(), self.VALUES, ("primal",), "fast")

    def test_a_certificate_that_does_not_hold_asks_for_a_second_try(self, monkeypatch):
        """Of two the better is returned, whichever it is; a rescue that fails changes nothing."""
        made, tries = Nearest(), []
        good = through_cvxpy(made, self.VALUES, ("primal",))

        def off(by):
            numbers = {"primal": dict(good.numbers["primal"]) | {"x": good.numbers["primal"]["x"] - by}}
            return Found(numbers, "CLARABEL", f"off by {by:g}", {})

        for first, second, expected in ((0.5, 0.1, 0.1), (0.1, 0.5, 0.1)):
            monkeypatch.setattr(module, "through_cvxpy", lambda *given, by=first: off(by))
            monkeypatch.setattr(module, "_rescaled", lambda *given, by=second: tries.append(by) or off(by))
            assert solve_at(made, self.VALUES).status == f"off by {expected:g}"
        assert tries == [0.1, 0.5]
        assert solve_at(made, self.VALUES, accuracy="fast").status == "off by 0.1"
        assert tries == [0.1, 0.5]
        monkeypatch.setattr(module, "_rescaled", self.refuse)
        assert solve_at(made, self.VALUES).status == "off by 0.1"


class TestSolverFailures:
    def test_a_solver_that_stops_is_named_with_the_point(self, monkeypatch):
        def stop(self, *args, **options):
            raise cp.SolverError("no memory")

        monkeypatch.setattr(cp.Problem, "solve", stop)
        words = r"SCS failed on the primal at \{'lam': 0.5, 'c': 1.0\}: no memory. Try another solver or form"
        with pytest.raises(SolveError, match=words):
            through_cvxpy(Nearest(), {"lam": 0.5, "c": 1.0}, ("primal",), "SCS")

    def test_no_point_is_told_with_what_it_means(self):
        class Empty(Formulation):
            domain = {"c": Range(-5, 5)}  # noqa: RUF012

            @cached_property
            def primal(self):
                w = cp.Variable(name="w")
                low = (w >= self.parameters["c"]).set_label("low")
                return cp.Problem(cp.Minimize(w), [low, (w <= 0).set_label("high")])

        with pytest.raises(SolveError, match=r"status 'infeasible' and no value of w.* no point satisfies"):
            Empty().solve(1.0)

    def test_a_parameter_of_nobody_must_have_a_value(self):
        class Stray(Formulation):
            domain = {"c": POSITIVE}  # noqa: RUF012

            @cached_property
            def primal(self):
                w = cp.Variable(name="w")
                return cp.Problem(cp.Minimize(cp.square(w - self.parameters["c"]) + cp.Parameter(name="odd") * w))

        with pytest.raises(InputError, match="parameter odd of the primal must have a value"):
            Stray().solve(1.0)

    def test_different_claims_of_two_forms_are_both_told(self):
        class Raw:
            def __init__(self, status, seconds):
                self.numbers, self.status, self.seconds = {"x": 1.0}, status, seconds

        found = found_of({"primal": Raw("optimal", 1.5), "dual": Raw("inaccurate", 0.25)}, ", so")
        assert found.status == "optimal and inaccurate, so"
        assert found.timing == {"solve": 1.75}
        assert found.source == "CLARABEL"
        assert found_of({"primal": Raw("optimal", 1), "dual": Raw("optimal", 1)}).status == "optimal"
        assert found.numbers == {"primal": {"x": 1.0}, "dual": {"x": 1.0}}


class TestRanges:
    @pytest.mark.parametrize(
        ("allowed", "inside", "outside", "words"),
        [
            (Range(0), [0, 1e9], [-1e-9, np.inf, np.nan], "a finite nonnegative number"),
            (POSITIVE, [1e-300], [0, -1, np.inf], "a finite positive number"),
            (Range(0, 1), [0, 0.5, 1], [-0.1, 1.1], "in [0, 1]"),
            (Range(0, 1, closed=False), [0.5], [0, 1], "strictly between 0 and 1"),
            (Range(0, 1, open_low=True), [1e-9, 1], [0, 1.1], "greater than 0 and at most 1"),
            (Range(2), [2, 3], [1.9], "at least 2"),
            (Range(2, closed=False), [2.1], [2], "greater than 2"),
            (Range(high=2), [2, -9], [2.1], "at most 2"),
            (Range(high=2, closed=False), [1.9], [2], "less than 2"),
            (Range(), [0, -1e9], [np.inf, -np.inf], "finite"),
        ],
    )
    def test_a_range_says_what_it_holds(self, allowed, inside, outside, words):
        assert all(value in allowed for value in inside)
        assert not any(value in allowed for value in outside)
        assert str(allowed) == words

    def test_values_are_floats_in_the_order_of_the_domain(self):
        found = within({"b": 2, "a": 1}, {"a": POSITIVE, "b": NONNEGATIVE})
        assert list(found.items()) == [("a", 1.0), ("b", 2.0)]
        assert all(isinstance(value, float) for value in found.values())
        with pytest.raises(InputError, match="c must be one of the parameters a, b"):
            within({"c": 1}, {"a": POSITIVE, "b": POSITIVE})
        with pytest.raises(InputError, match="the size of a"):
            within({"a": -1e200}, {"a": Range()})

    @pytest.mark.parametrize("domain", [None, ["c"], {"c": (0, 1)}])
    def test_a_domain_maps_names_to_ranges(self, domain):
        with pytest.raises(InputError, match="domain must map names of parameters to their Range"):
            checked_domain(domain)

    def test_parameters_have_the_signs_of_their_ranges(self):
        class Signs(Nearest):
            domain = {"a": NONNEGATIVE, "b": Range(high=0), "c": Range(-1, 1)}  # noqa: RUF012

        parameters = Signs().parameters
        signs = [(p.is_nonneg(), p.is_nonpos()) for p in parameters.values()]
        assert signs == [(True, False), (False, True), (False, False)]
        assert [p.name() for p in parameters.values()] == ["a", "b", "c"]
        assert Signs().accepted == ("a", "b", "c")

    def test_a_name_that_is_none_is_told_with_those_there_are(self):
        made = ByName({"w": 1})
        assert made["w"] == 1
        with pytest.raises(InputError, match="b must be one of w"):
            made["b"]
        with pytest.raises(InputError, match="b must be one of none: there are no names"):
            ByName()["b"]


class TestWords:
    def test_without_a_page_the_statement_has_parameters_and_programs(self):
        said = Pair().statement()
        assert said.startswith("# Pair\n\nThe same with a dual by hand: max u (3 - c) - u^2 / 2 with |u| <= lam.\n\n")
        assert "## Parameters\n\n- `lam`: a finite positive number\n- `c`: in [-5, 5]\n" in said
        assert said.index("## Primal\n\n```text\nminimize") < said.index("## Dual\n\n```text\nminimize")
        assert said == Pair()._repr_markdown_()
        assert "## Dual" not in Nearest().statement()
        assert Nearest.describe().splitlines()[2] == "The number next to 3 that is not far from c."

    def test_with_pages_it_has_these(self):
        class Paged(Nearest):
            page = Statement("One", "", "", "", "", {}, {}, "")
            pages = (page, Statement("Two", "", "", "", "", {}, {}, ""))

        assert Paged().statement() == Paged.page.markdown()
        assert Paged.describe() == "\n".join(page.markdown() for page in Paged.pages)

    def test_one_that_was_solved_can_be_copied_to_another_process(self):
        made = Pair()
        made.kept, made.held = 5, (cp.Variable(), cp.Parameter())
        before = made.solve(0.5, 1.0)
        copy = pickle.loads(pickle.dumps(made))
        assert copy.kept == 5
        assert not hasattr(copy, "held")
        assert copy.solve(0.5, 1.0).value == pytest.approx(before.value, abs=1e-9)
        assert made.names is None
