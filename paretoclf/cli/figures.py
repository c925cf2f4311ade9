"""Figures that belong to no window: made for files."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.figure import Figure

from paretoclf.plotting import RocDisplay
from paretoclf.plotting.path import plain
from paretoclf.roc import RocCurve

#: Curves this good live in the corner of the picture, which is then enlarged.
CROWDED = 0.95
CORNER = 0.15


def roc_figure(curves: Mapping[str, RocCurve], title: str) -> Figure:
    """Draw ROC curves and their hulls, with the upper left corner enlarged where all of them crowd there.

    Parameters
    ----------
    curves : mapping from str to RocCurve
        Curves by what varies along them.
    title : str
    """
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")  # not one of pyplot: nothing is left open
    ax = figure.subplots()
    display = RocDisplay({f"varying {name}": curve for name, curve in curves.items()}).plot(ax, title=plain(title))
    if min(curve.auc for curve in curves.values()) > CROWDED:
        inset = ax.inset_axes((0.36, 0.33, 0.58, 0.5))
        display.plot(inset)
        if (legend := inset.get_legend()) is not None:
            legend.remove()
        inset.set(xlim=(-0.003, CORNER), ylim=(1 - CORNER, 1.003), xlabel="", ylabel="", aspect="auto")
        inset.tick_params(labelsize="small")
        ax.indicate_inset_zoom(inset, edgecolor="0.5")
    return figure
