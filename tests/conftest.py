"""Deterministic property tests, and the data that many tests share."""

from __future__ import annotations

import os
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy is there: workers are as many as processors, and threads of BLAS would wait for each other.
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

#: Examples of a property test that does not say how many: in the default run, and with ``-m ''``, or as
#: PARETOCLF_EXAMPLES says.
EXAMPLES = {"default": 10, "everything": 25}
for name, count in EXAMPLES.items():
    settings.register_profile(
        name,
        derandomize=True,
        database=None,
        deadline=None,
        max_examples=count,
        suppress_health_check=[HealthCheck.too_slow],
    )


def pytest_configure(config):
    """Fewer examples where slow tests are left out, too, unless the environment asks for all."""
    usual = "default" if "not slow" in config.option.markexpr else "everything"
    settings.load_profile(os.environ.get("PARETOCLF_EXAMPLES", usual))


@pytest.fixture
def gaussians():
    """Two overlapping Gaussian classes: a function of (n, d, seed, share of positives)."""
    import numpy as np  # after the threads are set

    def make(n=40, d=3, seed=0, positives=0.4):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(n) < max(1, round(positives * n)), 1.0, -1.0)
        return rng.normal(size=(n, d)) + 0.6 * y[:, None], y

    return make


LEFT_OUT = pytest.StashKey[dict[str, int]]()  # of each test function that is left out as slow, how many tests


def pytest_deselected(items):
    """Count what the default run leaves out: a test function once, and how many tests it makes."""
    for item in items:
        if "not slow" in item.config.option.markexpr and item.get_closest_marker("slow"):
            left_out, name = item.config.stash.setdefault(LEFT_OUT, {}), item.nodeid.partition("[")[0]
            left_out[name] = left_out.get(name, 0) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Each worker leaves out the same: what the last one to end says."""
    node.config.stash[LEFT_OUT] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_sessionfinish(session):
    """A run of everything that leaves out more tests than PARETOCLF_MOST_SKIPS has failed: tests go missing quietly."""
    if hasattr(session.config, "workerinput"):
        session.config.workeroutput["left_out"] = session.config.stash.get(LEFT_OUT, {})
        return
    most = os.environ.get("PARETOCLF_MOST_SKIPS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if most is None or reporter is None:
        return
    skipped = len(reporter.stats.get("skipped", []))
    if skipped > int(most):
        reporter.write_line(f"{skipped} tests were skipped, more than PARETOCLF_MOST_SKIPS={most}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    """Say what was left out, and how to run it; and how many tests had no browser, or no Node, to run in."""
    reasons = Counter(str(each.longrepr[2]) for each in terminalreporter.stats.get("skipped", []))
    for reason, number in reasons.items():
        if reason.endswith("on this machine"):
            terminalreporter.write_line(f"{number} tests {reason.replace('Skipped', 'skipped')}")
    left_out = config.stash.get(LEFT_OUT, {})
    if left_out:
        files = Counter(name.partition("::")[0] for name, count in left_out.items() for _ in range(count))
        where = ", ".join(f"{file} ({count})" for file, count in sorted(files.items()))
        terminalreporter.section("left out")
        terminalreporter.write_line(f"{sum(files.values())} slow tests, of {len(left_out)} functions: {where}.")
        few, many = EXAMPLES.values()
        if settings.default.max_examples == few:
            terminalreporter.write_line(f"Property tests tried {few} examples each in place of {many}.")
        terminalreporter.write_line("Everything: python -m pytest -q -n auto -m ''")
