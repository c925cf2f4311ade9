"""No call from Python takes the interpreter down: arguments are checked, and so is what was called before."""

from __future__ import annotations

import ast
import contextlib
import re
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from paretoclf.engine.segments import Line
from paretoclf.problem.operator import Matrix
from paretoclf.problem.operator.signed import Signed
from paretoclf.problem.parametric_qp import ParametricQP

core = pytest.importorskip("paretoclf.engine._core", reason="built without a C++ compiler")
tracker = pytest.importorskip("paretoclf.engine.tracker")

N, D = 6, 2
rng = np.random.default_rng(0)
Z = rng.normal(size=(N, D))
K, ONES = Z @ Z.T + np.eye(N), np.ones(N)
GROUP, EMPTY = np.zeros(N, dtype=np.int64), np.zeros(0, dtype=np.int64)
KAPPA = np.where(np.arange(N) < 3, 1.0, -1.0)
STATE = np.zeros(N, dtype=np.int8)
NAN = np.full(N, np.nan)
ENDS = np.array([1.0, 1.0]), np.array([2.0, 1.0])
BASES = np.stack([KAPPA > 0, KAPPA < 0]).astype(float)
Q = Z * KAPPA[:, None]
VALUES = Q.ravel()
PTR, COLUMNS = np.arange(0, D * N + 1, D), np.tile(np.arange(D, dtype=np.int32), N)


def kernel(K=K, sign=KAPPA, p=ONES, kappa=KAPPA, group=GROUP, m=1):
    return core.KernelTracker(K, sign, p, kappa, group, m)


def dense(Z=Q, p=ONES, kappa=KAPPA, group=GROUP, m=1):
    return core.DenseTracker(Z, p, kappa, group, m)


def sparse(ptr=PTR, columns=COLUMNS, values=VALUES, d=D, p=ONES, m=1):
    return core.SparseTracker(ptr, columns, values, d, p, KAPPA, GROUP, m)


def whole_of(P=K, A=None):
    """The columns of H of a program, as a sparse walk has them: where each begins, rows, entries."""
    A = ROWS if A is None else A
    H = sp.csc_array(np.block([[P, A.T], [A, np.zeros((len(A), len(A)))]]))
    return H.indptr.astype(np.int32), H.indices.astype(np.int32), H.data


def factor(items):
    """Of a block that is a diagonal, whatever it is."""
    k, empty = len(items), np.zeros(0, dtype=np.int32)
    begin, own = np.arange(k + 1, dtype=np.int32), np.arange(k, dtype=np.int32)
    return (np.zeros(k + 1, dtype=np.int32), empty, np.zeros(0)), (begin, own, np.ones(k)), own, own


def on_sparse(begin=None, rows=None, values=None, n=N, make=factor, labels=None):
    usual = whole_of()
    given = [mine if mine is not None else its for mine, its in zip((begin, rows, values), usual, strict=True)]
    labels = LABELS if labels is None else labels
    return core.SparseWalk(core.Columns.sparse(*given, n), TERM, LINES, MASKS, labels, make)


ITEMS = N + 2  # of a program of N variables and two rows
LINES, MASKS = np.zeros((4, 2, ITEMS)), np.ones((5, ITEMS), dtype=bool)
NO_SQUARES = np.zeros((0, N))
LABELS, TERM, ROWS = np.zeros(ITEMS, dtype=np.int64), np.ones((2, N)), np.ones((2, 1)) * KAPPA


def program(P=K, A=ROWS, F=NO_SQUARES, q=TERM, sides=LINES, masks=MASKS, labels=LABELS, kind="Walk"):
    return getattr(core, kind)(core.Columns(P, A, F), q, sides, masks, labels)


MAKE = {"kernel": kernel, "dense": dense, "sparse": sparse}


def line(T, bases=BASES, start=ENDS[0], stop=ENDS[1], e0=(0.0,), e_end=(0.0,), end_tolerance=1e-12):
    T.set_line(bases, start, stop, np.asarray(e0), np.asarray(e_end), False, end_tolerance)
    return T


def on_line(T):
    """A tracker with a margin set that spans its row of A."""
    T.start(STATE, EMPTY)
    return line(T)


def ready(T):
    on_line(T)
    assert T.enter(0)
    assert T.enter(3)
    return T


#: Calls on a new tracker.
BEFORE_A_LINE = {
    "run": lambda T: T.run(10, 1.0),
    "quiet": lambda T: T.quiet(),
    "solution": lambda T: T.solution(0.0),
    "caps": lambda T: T.caps(0.5),
    "enter": lambda T: T.enter(0),
    "take": lambda T: T.take(np.array([0, 3])),
    "start, run": lambda T: (T.start(STATE, EMPTY), T.run(10, 1.0)),
    "line, start, enter": lambda T: (line(T), T.start(STATE, EMPTY), T.enter(0)),
    "line, load, run": lambda T: (line(T), T.load(T.save()), T.run(10, 1.0)),
}

#: Calls on a tracker that is ready to run.
ARGUMENTS = {
    "enter -1": lambda T: T.enter(-1),
    "enter n": lambda T: T.enter(N),
    "enter much": lambda T: T.enter(2**40),
    "enter twice": lambda T: T.enter(0),
    "enter nobody": lambda T: T.enter(None),
    "enter half": lambda T: T.enter(0.5),
    "take on top": lambda T: T.take(np.array([1])),
    "take -1": lambda T: on_line(T).take(np.array([-1])),
    "take n": lambda T: on_line(T).take(np.array([0, N])),
    "take twice": lambda T: on_line(T).take(np.array([0, 0])),
    "take floats": lambda T: on_line(T).take(np.array([[0.5]])),
    "take those at their cap": lambda T: (T.start(STATE + 1, EMPTY), line(T), T.take(np.array([0]))),
    "start short": lambda T: T.start(STATE[1:], EMPTY),
    "start long": lambda T: T.start(np.zeros(N + 1, dtype=np.int8), EMPTY),
    "start with other sets": lambda T: T.start(STATE + 7, EMPTY),
    "start in the margin set": lambda T: T.start(STATE + 2, EMPTY),
    "start with -1": lambda T: T.start(STATE, np.array([-1])),
    "start with n": lambda T: T.start(STATE, np.array([N])),
    "start with two alike": lambda T: T.start(STATE, np.array([1, 1])),
    "start with floats": lambda T: T.start(np.zeros((N, 2)), EMPTY),
    "run for nan": lambda T: T.run(10, np.nan),
    "run for less than nothing": lambda T: T.run(10, -1.0),
    "solution at nan": lambda T: T.solution(np.nan),
    "solution at inf": lambda T: T.solution(np.inf),
    "record wide": lambda T: T.record(True, 1000, np.zeros(0)),
    "record negative": lambda T: T.record(True, -1, np.zeros(0)),
    "record backwards": lambda T: T.record(True, 0, np.array([1.0, 0.0])),
    "record nan": lambda T: T.record(True, 0, np.array([np.nan])),
    "ahead nan": lambda T: setattr(T, "ahead", np.nan),
    "ahead of all": lambda T: setattr(T, "ahead", 1e300),
    "load nothing": lambda T: T.load(None),
    "load of another size": lambda T: T.load(other().save()),
    "load of another form": lambda T: T.load(ready(dense() if isinstance(T, core.KernelTracker) else kernel()).save()),
    "bases short": lambda T: line(T, bases=BASES[:, 1:].copy()),
    "one base": lambda T: line(T, bases=BASES[:1]),
    "bases nan": lambda T: line(T, bases=BASES * np.nan),
    "ends long": lambda T: line(T, start=np.ones(3)),
    "ends inf": lambda T: line(T, stop=np.array([np.inf, 1.0])),
    "right-hand sides long": lambda T: line(T, e0=(0.0, 0.0)),
    "right-hand sides none": lambda T: line(T, e_end=()),
    "right-hand sides nan": lambda T: line(T, e_end=(np.nan,)),
    "tolerance nan": lambda T: line(T, end_tolerance=np.nan),
}  # fmt: skip

#: Calls that make a tracker.
CONSTRUCTORS = {
    "no samples": lambda: kernel(np.zeros((0, 0)), *(np.zeros(0),) * 3, EMPTY, 0),
    "no samples, dense": lambda: dense(np.zeros((0, D)), *(np.zeros(0),) * 2, EMPTY, 0),
    "no samples, sparse": lambda: core.SparseTracker(
        np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int32), np.zeros(0), D, np.zeros(0), np.zeros(0), EMPTY, 0
    ),
    "K is no square": lambda: kernel(K[:, 1:].copy()),
    "K is a column": lambda: kernel(K[:, 0].copy()),
    "K is of small floats": lambda: kernel(K.astype(np.float32)),
    "K is a view": lambda: kernel(np.eye(2 * N)[::2, ::2]),
    "K is nan": lambda: kernel(K * np.nan),
    "K is nobody": lambda: kernel(None),
    "signs are short": lambda: kernel(sign=KAPPA[1:]),
    "signs are nan": lambda: kernel(sign=NAN),
    "p is short": lambda: kernel(p=ONES[1:]),
    "p is nan": lambda: dense(p=NAN),
    "kappa is long": lambda: dense(kappa=np.ones(N + 1)),
    "kappa is inf": lambda: kernel(kappa=ONES * np.inf),
    "groups are short": lambda: dense(group=GROUP[1:]),
    "groups beyond m": lambda: kernel(group=GROUP + 1),
    "groups below -1": lambda: kernel(group=GROUP - 2),
    "groups of floats": lambda: kernel(group=GROUP + 0.5),
    "m negative": lambda: kernel(group=GROUP - 1, m=-1),
    "m large": lambda: dense(m=2**31 - 1),
    "m larger": lambda: dense(m=2**62),
    "Z is flat": lambda: dense(Q.ravel()),
    "Z is nan": lambda: dense(Q * np.nan),
    "Z is short": lambda: dense(Q[1:]),
    "columns >= d": lambda: sparse(d=1),
    "columns < 0": lambda: sparse(columns=COLUMNS - 1),
    "d negative": lambda: sparse(d=-1),
    "ptr is empty": lambda: sparse(ptr=EMPTY),
    "ptr beyond": lambda: sparse(ptr=PTR * 100),
    "ptr goes back": lambda: sparse(ptr=np.concatenate([PTR[:2], PTR[1:-1][::-1], PTR[-1:]])[: N + 1]),
    "ptr from 1": lambda: sparse(ptr=np.maximum(PTR, 1)),
    "ptr is short": lambda: sparse(ptr=PTR[:-1]),
    "values are short": lambda: sparse(values=Q.ravel()[1:]),
    "values are nan": lambda: sparse(values=Q.ravel() * np.nan),
    "sets by hand": lambda: core.Sets(),
    "P is no square": lambda: program(P=K[:, 1:].copy()),
    "P is nan": lambda: program(P=K * np.nan),
    "A of other columns": lambda: program(A=np.ones((2, N + 1))),
    "A is flat": lambda: program(A=np.ones(N)),
    "A is inf": lambda: program(A=np.full((2, N), np.inf)),
    "F of other columns": lambda: program(F=np.ones((1, N + 1))),
    "F of more rows than columns": lambda: program(F=np.ones((N + 1, N))),
    "F is nan": lambda: program(F=np.full((1, N), np.nan)),
    "q is short": lambda: program(q=np.ones((2, N - 1))),
    "q is one row": lambda: program(q=np.ones((1, N))),
    "q is nan": lambda: program(q=TERM * np.nan),
    "sides are short": lambda: program(sides=LINES[:, :, 1:].copy()),
    "sides are three": lambda: program(sides=LINES[1:]),
    "sides are inf": lambda: program(sides=LINES + np.inf),
    "masks are short": lambda: program(masks=MASKS[:, 1:].copy()),
    "masks are four": lambda: program(masks=MASKS[1:]),
    "labels are short": lambda: program(labels=LABELS[1:]),
    "labels beyond": lambda: program(labels=LABELS + 3),
    "labels far below": lambda: program(labels=LABELS - 2**40, kind="TwiceWalk"),
    "labels of floats": lambda: program(labels=LABELS + 0.5),
    "columns that go back": lambda: on_sparse(begin=whole_of()[0][::-1].copy()),
    "columns beyond the entries": lambda: on_sparse(begin=whole_of()[0] + 1),
    "rows beyond": lambda: on_sparse(rows=whole_of()[1] + 3),
    "rows below 0": lambda: on_sparse(rows=whole_of()[1] - 1),
    "rows twice": lambda: on_sparse(rows=0 * whole_of()[1]),
    "entries are short": lambda: on_sparse(values=whole_of()[2][1:]),
    "entries are nan": lambda: on_sparse(values=whole_of()[2] * np.nan),
    "more variables than items": lambda: on_sparse(n=ITEMS + 1),
    "a factor of nobody": lambda: on_sparse(make=lambda items: ()).solve(0.0),
    "a factor of others": lambda: on_sparse(make=lambda items: factor(items[1:])).solve(0.0),
    "a factor without a diagonal": lambda: on_sparse(
        make=lambda items: (factor(items)[0],) * 2 + factor(items)[2:]
    ).solve(0.0),
    "a factor with rows beyond": lambda: on_sparse(
        make=lambda items: (*factor(items)[:2], *(i + 1 for i in factor(items)[2:]))
    ).solve(0.0),
    "a factor that goes back": lambda: on_sparse(
        make=lambda items: (tuple(each[::-1].copy() for each in factor(items)[1]), *factor(items)[1:])
    ).solve(0.0),
    "no factor at all": lambda: on_sparse(make=None),
    "a walk on nothing": lambda: core.Walk(None, TERM, LINES, MASKS, LABELS),
    "a walk of nobody": lambda: core.Walk.__new__(core.Walk).run(1, True, 1),
    "columns of nobody": lambda: core.Walk(core.Columns.__new__(core.Columns), TERM, LINES, MASKS, LABELS),
    "nobody": lambda: core.KernelTracker.__new__(core.KernelTracker).run(1, 1.0),
}

HI, OUT = np.ones((1, 2, 3)), np.zeros((1, 2, 4))
FIXED = np.zeros((1, 2, 4))
FIXED.flags.writeable = False

#: Calls of functions.
FUNCTIONS = {
    "products of other shapes": lambda: core.add_product(HI, HI, np.ones((1, 2, 4)), OUT, OUT.copy()),
    "products of another stack": lambda: core.add_product(HI, HI, np.ones((3, 3, 4)), OUT, OUT.copy()),
    "products into less": lambda: core.add_product(HI, HI, np.ones((1, 3, 4)), OUT[:, :1].copy(), OUT.copy()),
    "products into what is fixed": lambda: core.add_product(HI, HI, np.ones((1, 3, 4)), FIXED, OUT.copy()),
    "products into a view": lambda: core.add_product(HI, HI, np.ones((1, 3, 2)), OUT[:, :, ::2], OUT[:, :, ::2]),
    "products into integers": lambda: core.add_product(HI, HI, np.ones((1, 3, 4)), OUT.astype(int), OUT.copy()),
    "accumulate": lambda: core.parts.accumulate(np.ones(1), np.ones(1), 1.0, np.ones(5000)),
    "accumulate a row": lambda: core.parts.accumulate_row(np.ones(9), np.ones(1), np.ones(9), 1.0, 0.0),
    "combine": lambda: core.parts.combine(np.ones((2, 2)), np.ones((2, 3)), np.ones((2, 3)), np.ones(9), np.ones(9)),
    "combine one": lambda: core.parts.combine(np.ones((1, 2)), np.ones((1, 3)), np.ones((1, 3)), *np.ones((2, 3))),
    "dot": lambda: core.parts.dot(np.ones(5000), np.ones(1)),
    "add rows beyond": lambda: core.parts.add_rows(np.ones(4), [3], np.ones((1, 1)), 4, np.ones(4), 4),
    "add rows before": lambda: core.parts.add_rows(np.ones(4), [-3], np.ones((1, 1)), 4, np.ones(4), 4),
    "add rows into less": lambda: core.parts.add_rows(np.ones(4), [0], np.ones((3, 1)), 4, np.ones(4), 4),
    "add a negative row": lambda: core.parts.add_rows(np.ones(4), [0], np.ones((1, 1)), -4, np.ones(4), 4),
    "reachable": lambda: core.parts.reachable([0] * 9, [0], np.ones((4, 9)), [1.0] * 5),
    "reachable rows": lambda: core.parts.reachable([0] * 9, [0] * 9, np.ones((1, 9)), [1.0] * 5),
    "reachable limits": lambda: core.parts.reachable([0], [0], np.ones((4, 1)), []),
    "a factor of no square": lambda: core.parts.Factor().whole(np.eye(3)[:, :2].copy(), np.eye(3)),
    "a factor of two sizes": lambda: core.parts.TwiceFactor().whole(np.eye(3), np.eye(2)),
    "a factor with a long column": lambda: core.parts.Factor().append([1.0] * 500, 1.0),
    "no row to remove": lambda: core.parts.Factor().remove(0),
    "nothing to solve": lambda: core.parts.Factor().solve([1.0, 2.0]),
    "no entry": lambda: core.parts.TwiceFactor().entry(7, 7),
}  # fmt: skip

ERRORS = (ValueError, TypeError, IndexError, RuntimeError, OverflowError)


def other():
    """A tracker of another size."""
    few = N - 1
    T = kernel(K[:few, :few].copy(), KAPPA[:few], ONES[:few], KAPPA[:few], GROUP[:few], 1)
    T.start(STATE[:few], EMPTY)
    return line(T, BASES[:, :few].copy())


def refused():
    """Every odd call that is answered by no exception, or by one that says nothing."""
    calls = {**CONSTRUCTORS, **FUNCTIONS}
    for kind, make in MAKE.items():
        for name, call in BEFORE_A_LINE.items():
            calls[f"{kind}: {name}"] = lambda make=make, call=call: call(make())
        for name, call in ARGUMENTS.items():
            calls[f"{kind}: {name}"] = lambda make=make, call=call: call(ready(make()))
    wrong = []
    for name, call in calls.items():
        print(name, flush=True)
        try:
            call()
        except ERRORS as error:
            if str(error):
                continue
        wrong.append(name)
    assert len(calls) >= 200
    return wrong


def test_odd_calls_are_refused_in_words():
    # In a process of its own: what takes an interpreter down must not take the tests along.
    code = "import sys; sys.path.insert(0, sys.argv[1]); import test_core_misuse as t; print('WRONG', t.refused())"
    done = subprocess.run(
        [sys.executable, "-c", code, str(Path(__file__).parent)], capture_output=True, text=True, check=False
    )
    *_, last = done.stdout.splitlines() or [""]
    assert (done.returncode, last) == (0, "WRONG []"), done.stderr


def walk(seed):
    """Some hundred calls at random; whatever each of them answers."""
    r = np.random.default_rng(seed)
    T = list(MAKE.values())[seed % 3]()
    kept = [T.save()]
    calls = [
        lambda: T.start(r.integers(0, 4, N).astype(np.int8), r.integers(0, N, r.integers(4))),
        lambda: T.start(STATE, EMPTY),
        lambda: line(T),
        lambda: line(T, BASES * r.choice([0.0, 1e-300, 1e300, -1.0], size=N), e_end=r.normal(size=1)),
        lambda: line(T, start=r.choice([0.0, 1.0, -1.0, 1e300], size=2), stop=r.choice([0.0, 1.0, 1e300], size=2)),
        lambda: T.enter(int(r.integers(-1, N + 1))),
        lambda: T.enter(int(r.integers(N))),
        lambda: T.take(r.permutation(N)[: r.integers(N + 1)]),
        lambda: T.run(int(r.integers(-2, 40)), float(r.choice([0.0, 0.01]))),
        lambda: T.quiet(),
        lambda: T.solution(float(r.choice([0.0, 0.5, 1.0, -3.0, 1e300]))),
        lambda: T.record(bool(r.integers(2)), int(r.choice([0, D])), np.sort(r.random(r.integers(3)))),
        lambda: T.take_log(),
        lambda: kept.append(T.save()),
        lambda: T.load(kept[r.integers(len(kept))]),
        lambda: setattr(T, "ahead", float(r.random())),
        lambda: setattr(T, "doubles", bool(r.integers(2))),
        lambda: (T.state, T.margin, T.segments, T.counts, T.drift, T.watched, T.t, T.exchanges, T.caps(0.5)),
    ]
    for _ in range(150):
        with contextlib.suppress(*ERRORS):
            calls[r.integers(len(calls))]()


def follow(seed):
    """Some calls on a program at random, semidefinite or not; whatever each of them answers."""
    r = np.random.default_rng(seed)
    P, A = r.integers(-2, 3, (N, N)).astype(float), r.integers(-1, 2, (2, N)).astype(float)
    sides, masks = r.integers(-2, 3, LINES.shape).astype(float), r.random(MASKS.shape) < 0.5
    P = P @ P.T if seed % 3 else P
    q, labels = r.normal(size=(2, N)), r.integers(-2, 3, ITEMS)
    if seed % 5 == 4:
        given = sp.csc_array((whole := whole_of(P, A))[::-1], shape=(ITEMS, ITEMS))

        def make(items):
            if (lucky := r.random()) < 0.1:
                raise ValueError
            if lucky < 0.2:
                return None
            if lucky < 0.3:
                return factor(items)
            found = splu(sp.csc_array(given[items][:, items]))
            return *((each.indptr, each.indices, each.data) for each in (found.L, found.U)), found.perm_r, found.perm_c

        T = core.SparseWalk(core.Columns.sparse(*whole, N), q, sides, masks, labels, make)
        T.border = int(r.integers(-1, 5))
    else:
        T = program(P, A, P[: r.integers(0, 3)].copy(), q, sides, masks, labels, ("Walk", "TwiceWalk")[seed % 2])
    calls = [
        lambda: T.run(int(r.integers(0, 40)), bool(r.integers(2)), int(r.integers(-1, 20))),
        lambda: T.run(2**62, True, 30),
        lambda: T.solve(float(r.choice([0.0, 0.5, 1.0, -3.0, 1e300, np.nan]))),
        lambda: T.segments(),
        lambda: (T.labels, T.ray, T.now, T.t, T.why, T.exchanges, T.crossed, T.members),
    ]
    for _ in range(30):
        with contextlib.suppress(*ERRORS):
            calls[r.integers(len(calls))]()


WALK = (
    "import sys; sys.path.insert(0, sys.argv[1]); import test_core_misuse as t; "
    "[t.walk(k) for k in range(300)]; [t.follow(k) for k in range(1000)]"
)


def test_calls_in_any_order():
    done = subprocess.run(
        [sys.executable, "-c", WALK, str(Path(__file__).parent)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_tracker_is_of_one_thread_at_a_time():
    n = 400
    X = np.random.default_rng(0).normal(size=(n, 4))
    y = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    T = core.KernelTracker(
        np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=2)), y, np.ones(n), y, np.zeros(n, dtype=np.int64), 1
    )
    T.start(np.ones(n, dtype=np.int8), EMPTY)
    line(T, np.stack([y > 0, y < 0]).astype(float), np.array([1e-3, 1e-3]), np.array([9.0, 9.0]))
    T.enter(0), T.enter(n - 1)

    def work():
        for _ in range(20):
            with contextlib.suppress(RuntimeError):  # "the tracker is at work in another thread"
                T.run(10**6, 0.01)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert T.state.shape == (n,)  # whatever was answered, by whom it was done
    assert 0.0 <= T.t <= 1.0


def test_the_face_in_python():
    T = tracker.CoreTracker(ParametricQP.box(Signed(Matrix(K), KAPPA), ONES, KAPPA[None], np.ones((2, N))))
    with pytest.raises(RuntimeError, match="on no line yet"):
        T.follow()
    with pytest.raises(RuntimeError, match="on no line yet"):
        T.weights(0.0)
    there = Line(BASES, *ENDS, np.zeros(1), np.zeros(1))
    with pytest.raises(ValueError, match="members of the margin set"):
        T.start(STATE, [N], there)
    T.start(STATE, [0, 3], there)
    assert not T.start_on(STATE, [], there) or T.index.size == 0


# ---- the stub -------------------------------------------------------------------------------------------------------


def test_the_stub_says_what_there_is():
    tree = ast.parse((Path(tracker.__file__).parent / "_core.pyi").read_text(encoding="utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}

    def fits(thing, node):
        found = re.search(r"\((.*?)\)(?: ->|$)", thing.__doc__.splitlines()[0])
        names = re.findall(r"(\w+)(?=: )", re.sub(r"\[[^\]]*\]", "", found[1]))
        wanted = [each.arg for each in node.args.args]
        assert [name for name in names if name != "self"] == [name for name in wanted if name != "self"], node.name

    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            fits(getattr(core, node.name), node)
    for name, kind in vars(core).items():
        if not isinstance(kind, type) or name not in classes:
            assert name.startswith("_") or name in ("add_product", "extremes", "parts"), f"{name} is not in the stub"
            continue
        members = {each.name: each for base in ("_Tracker", name) for each in classes[base].body
                   if base in classes and hasattr(each, "name") and (base == name or "Tracker" in name)}  # fmt: skip
        plain = {each.target.id for each in classes["_Tracker"].body if isinstance(each, ast.AnnAssign)}
        there = {each for each in vars(kind) if not each.startswith("_")}
        if "Tracker" in name:
            assert there == {each for each in members if each != "__init__"} | plain
        for each, node in members.items():
            if not any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list):
                fits(getattr(kind, each), node)
