"""Deterministic property tests, and the data that many tests share."""

from __future__ import annotations

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "deterministic",
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("deterministic")


@pytest.fixture
def gaussians():
    """Two overlapping Gaussian classes: a function of (n, d, seed, share of positives)."""

    def make(n=40, d=3, seed=0, positives=0.4):
        rng = np.random.default_rng(seed)
        y = np.where(np.arange(n) < max(1, round(positives * n)), 1.0, -1.0)
        return rng.normal(size=(n, d)) + 0.6 * y[:, None], y

    return make


def pytest_sessionfinish(session):
    """A run of everything that leaves out more tests than PARETOCLF_MOST_SKIPS has failed: tests go missing quietly."""
    most = os.environ.get("PARETOCLF_MOST_SKIPS")
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if most is None or reporter is None or hasattr(session.config, "workerinput"):
        return
    skipped = len(reporter.stats.get("skipped", []))
    if skipped > int(most):
        reporter.write_line(f"{skipped} tests were skipped, more than PARETOCLF_MOST_SKIPS={most}", red=True)
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
