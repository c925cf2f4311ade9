"""What does not fit in memory is refused before it is allocated, by name and with a remedy."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import paretoclf as pc
from paretoclf.common import memory
from paretoclf.common.errors import InputError
from paretoclf.problem.gram import Gram
from paretoclf.problem.kernels import RBF, Polynomial

GIB = 2**30


@pytest.fixture
def limit(monkeypatch):
    """Pretend that so many bytes are available (None: not known), and that none are too few to ask."""
    monkeypatch.setattr(memory, "_NEGLIGIBLE", 0)
    return lambda size: monkeypatch.setattr(memory, "available_memory", lambda: size)


def samples(n, d=2):
    return np.random.default_rng(0).normal(size=(n, d))


class TestRefusal:
    def test_it_says_what_is_needed_and_what_helps(self, limit):
        limit(3 * GIB)
        gram = Gram(samples(40_000), RBF(1.0))
        with pytest.raises(InputError) as error:
            _ = gram.matrix
        for word in ("40000 samples", "12.1 GiB", "3 GiB are available", "low_rank=", "linear kernel", "fewer samples"):
            assert word in str(error.value)

    def test_wherever_the_matrix_is_needed(self, limit, gaussians):
        X, y = gaussians(300, 2)
        svm = pc.TwoCSVM(X, y, RBF(1.0))
        limit(10**5)
        for attempt in (lambda: svm.solve(1.0, 1.0), lambda: svm.gram.factor, lambda: Gram(X, "laplacian")):
            with pytest.raises(InputError, match="the kernel matrix of 300 samples needs"):
                attempt()

    def test_the_remedies_help(self, limit, gaussians):
        X, y = gaussians(300, 2)
        limit(2 * 10**5)
        assert pc.TwoCSVM(X, y, RBF(1.0), low_rank=10).solve(1.0, 1.0).certificate.passes()
        assert pc.TwoCSVM(X, y).solve(1.0, 1.0).certificate.passes()
        assert pc.TwoCSVM(X[::10], np.where(np.arange(30) < 9, 1, -1), RBF(1.0)).solve(1.0, 1.0).certificate.passes()

    def test_features_and_the_median_are_looked_at_too(self, limit):
        limit(10**6)
        with pytest.raises(InputError, match=r"low_rank: 64 features of 2000 samples needs .* lower rank"):
            Gram(samples(2000), RBF(0.01), low_rank=1e-6)
        with pytest.raises(InputError, match=r"X has 2000 samples: the median .* RBF.median"):
            RBF.median(samples(2000))

    def test_a_small_matrix_is_not_worth_asking_for(self, monkeypatch):
        monkeypatch.setattr(memory, "available_memory", lambda: pytest.fail("asked"))
        assert Gram(samples(300), RBF(1.0)).matrix.shape == (300, 300)

    def test_nothing_is_refused_where_nothing_is_known(self, limit):
        limit(None)
        assert Gram(samples(300), RBF(1.0)).matrix.shape == (300, 300)


@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(2), None], ids=str)
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_a_kernel_matrix_costs_little_more_than_itself(kernel, form):
    n = 2200
    X = samples(n, 5) if form == "dense" else sp.random_array((n, 50), density=0.1, rng=np.random.default_rng(0))
    gram = Gram(X, kernel)
    tracemalloc.start()
    try:
        K = gram.matrix
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak <= 1.25 * K.nbytes
    assert (K == K.T).all()


class TestAvailable:
    def test_this_machine(self):
        size = memory.available_memory()
        assert size is None or size > 0

    def test_linux(self, tmp_path):
        file = tmp_path / "meminfo"
        file.write_text("MemTotal:  100 kB\nMemFree:   10 kB\nMemAvailable:   70 kB\n")
        assert list(memory._of_machine(file)) == [70 * 1024]

    def test_elsewhere(self, tmp_path, monkeypatch):
        pages = {"SC_PHYS_PAGES": 5, "SC_PAGE_SIZE": 4096}
        monkeypatch.setattr(memory.os, "sysconf", pages.__getitem__)
        assert list(memory._of_machine(tmp_path / "none")) == [5 * 4096]

        def unknown(name):
            raise ValueError("unrecognized configuration name")

        monkeypatch.setattr(memory.os, "sysconf", unknown)
        assert list(memory._of_machine(tmp_path / "none")) == []

    @staticmethod
    def group(folder, limit, used, cache, names):
        folder.mkdir(parents=True, exist_ok=True)
        for name, value in zip(names, (limit, used), strict=True):
            (folder / name).write_text(f"{value}\n")
        (folder / "memory.stat").write_text(f"anon 3\ninactive_file {cache}\ntotal_inactive_file {cache}\n")

    @pytest.mark.parametrize(
        ("line", "top", "names"),
        [
            ("0::/user/job", "", ("memory.max", "memory.current")),
            ("4:cpu,memory:/user/job", "memory", ("memory.limit_in_bytes", "memory.usage_in_bytes")),
        ],
    )
    def test_groups_and_those_above_them(self, tmp_path, line, top, names):
        groups, root = tmp_path / "cgroup", tmp_path / "fs"
        groups.write_text(f"7:blkio:/elsewhere\n{line}\n")
        self.group(root / top / "user" / "job", 1000, 400, 50, names)
        self.group(root / top / "user", 900, 500, 0, names)
        self.group(root / top, "max", 10_000, 0, names)
        assert sorted(memory._of_groups(groups, root)) == [400, 650]

    def test_a_container_that_sees_its_own_group_as_the_root(self, tmp_path):
        groups, root = tmp_path / "cgroup", tmp_path / "fs"
        groups.write_text("0::/not/seen/from/here\n")
        self.group(root, 1000, 300, 0, ("memory.max", "memory.current"))
        assert list(memory._of_groups(groups, root)) == [700]

    @pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limits")
    @pytest.mark.parametrize(("most", "left"), [(10**6, [10**6 - 7 * 4096]), (-1, [])])
    def test_the_address_space_of_a_process(self, tmp_path, monkeypatch, most, left):
        statm = tmp_path / "statm"
        statm.write_text("7 5 3 1 0 2 0\n")
        monkeypatch.setattr(memory.resource, "RLIM_INFINITY", -1)
        monkeypatch.setattr(memory.resource, "getrlimit", lambda which: (most, most))
        monkeypatch.setattr(memory.resource, "getpagesize", lambda: 4096)
        assert list(memory._of_process(statm)) == left
        assert list(memory._of_process(tmp_path / "none")) == []

    def test_no_groups(self, tmp_path):
        assert list(memory._of_groups(tmp_path / "none", tmp_path)) == []
