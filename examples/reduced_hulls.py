"""Two classes in the plane and their reduced convex hulls, from the whole hulls to the class means."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

import paretoclf as pc
from paretoclf.plotting import plot_hulls


def main() -> None:
    """Draw the hulls at four shares, and print what the 2nu-SVM says of each."""
    rng = np.random.default_rng(1)
    y = np.repeat([1.0, -1.0], [25, 40])
    X = rng.normal(size=(y.size, 2)) + 0.9 * y[:, None]
    svm = pc.TwoNuSVM(X, y)

    figure = Figure(figsize=(11, 9), layout="constrained")
    for ax, share in zip(figure.subplots(2, 2).flat, (0.1, 0.3, 0.6, 1.0), strict=True):
        hulls = svm.hulls(share, share)
        plot_hulls(hulls, ax)
        said = hulls.solution.notes[0] if hulls.solution.notes else "one classifier"
        print(f"nu = {share}: distance {hulls.distance:.4f}; {said}")
    figure.savefig("reduced_hulls.png", dpi=120)
    print("wrote reduced_hulls.png")

    # Shares of 1: the means, and the nearest-mean rule.
    means = svm.hulls(1.0, 1.0)
    assert np.allclose(means.point_plus, X[y > 0].mean(axis=0))
    assert np.allclose(means.point_minus, X[y < 0].mean(axis=0))


if __name__ == "__main__":
    main()
