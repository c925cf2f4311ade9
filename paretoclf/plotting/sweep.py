"""The picture of a sweep: coefficients above, the duality gap of each solution below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretoclf.errors import InputError
from paretoclf.plotting.path import FLOOR, GREY, NAMED
from paretoclf.solve.sweep import Sweep
from paretoclf.tolerances import CERTIFY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def plot_sweep(sweep: Sweep, parameter: str | None = None, figure: Figure | None = None) -> tuple[Axes, Axes]:
    """Draw a sweep against one of its parameters: coefficients (or the values, without w), and the duality gaps.

    Parameters
    ----------
    sweep : Sweep
        Of any formulation.
    parameter : str, optional
        Horizontal axis; by default the first parameter that moves.
    figure : matplotlib Figure, optional
        Where to draw; by default a new one.

    Returns
    -------
    tuple of two matplotlib Axes

    Raises
    ------
    InputError
        If the sweep is empty or has no such parameter.
    """
    columns = sweep.parameters
    if not columns:
        raise InputError("sweep must hold at least one solution, got none")
    if parameter is None:
        parameter = next((name for name, column in columns.items() if np.ptp(column) > 0), next(iter(columns)))
    if parameter not in columns:
        raise InputError(f"parameter must be one of {', '.join(columns)}, got {parameter!r}")
    if figure is None:
        from matplotlib import pyplot as plt

        figure = plt.figure(figsize=(6.4, 5.6), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    order = np.argsort(columns[parameter], kind="stable")
    at = columns[parameter][order]
    try:
        shown, label = np.array([s.classifier.w for s in sweep])[order], "coefficients"
    except InputError:
        shown, label = sweep.values[order, None], "optimal value"
    for j, curve in enumerate(shown.T):
        upper.plot(at, curve, color=NAMED[j] if j < len(NAMED) else GREY, lw=1.2, marker=".")
    upper.set_ylabel(label)
    gaps = np.maximum(np.abs([c.gap for c in sweep.certificates]), FLOOR)[order]
    lower.semilogy(at, gaps, color="black", lw=1, marker=".")
    lower.axhline(CERTIFY, color="0.6", ls="--", lw=1)
    lower.set(xlabel=parameter, ylabel="relative gap")
    if at[0] > 0 and at[-1] > 100 * at[0]:
        upper.set_xscale("log")
    return upper, lower
