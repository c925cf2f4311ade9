"""Proofs of paths that were falsified on purpose; `tests/benchmarks/falsified.py` has thousands."""

from __future__ import annotations

from tests.benchmarks import falsified as benchmark


def test_the_benchmark_runs(capsys):
    assert benchmark.main(["--smoke"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line[:20].strip() for line in lines[2:-1]} == {*benchmark.KINDS}
