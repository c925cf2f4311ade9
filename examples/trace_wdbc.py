"""Every cost-optimal linear SVM along two lines of the cost plane, on wdbc, each proved optimal.

Run it with ``python examples/trace_wdbc.py``. Nothing is written.
"""

from __future__ import annotations

from sklearn.preprocessing import scale

import paretoclf as pc


def main() -> None:
    """Trace both lines and print what is known about them."""
    data = pc.datasets.load("wdbc")
    svm = pc.TwoCSVM(scale(data.X), data.y)
    print(data)

    # The ray: C_plus n_plus = C_minus n_minus, from zero costs (where the solution is known) to mean cost 1.
    share = svm.n_minus / (svm.n_plus + svm.n_minus)
    # The asymmetry line: C_plus + C_minus = 2, from almost all cost on false positives to the opposite.
    lines = {
        "ray": ((0.0, 0.0), (2 * share, 2 * (1 - share))),
        "asymmetry line": ((0.04, 1.96), (1.96, 0.04)),
    }
    for name, (start, stop) in lines.items():
        path = pc.trace(svm, start=start, stop=stop)
        print(f"\n{name}: {path}")
        print(f"worst certificate: {path.worst_certificate}")
        print(pc.compare(path, svm, n=5, rng=0))


if __name__ == "__main__":
    main()
