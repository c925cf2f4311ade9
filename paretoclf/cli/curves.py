"""ROC curves for people: their picture, their numbers and their text. What was chosen by looking is called so."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from paretoclf.plotting import NestedRocDisplay, RocDisplay
from paretoclf.plotting.base import plain
from paretoclf.roc.curve import RocCurve
from paretoclf.roc.empirical.nested import NestedRoc

#: Curves this good live in the corner of the picture, which is then enlarged.
CROWDED = 0.95
CORNER = 0.15
SHADE = "#fdf3dc"


def roc_figure(curves: Mapping[str, RocCurve], nested: Mapping[str, NestedRoc], title: str) -> Figure:
    """Draw nested curves with their bands and the upper envelope beside them; the upper left corner enlarged.

    Nested ones are by what was chosen, curves on the labels that judge them by what varies; without nested ones all of
    these are drawn.
    """
    figure = Figure(figsize=(6.4, 6.4), layout="constrained")  # not one of pyplot: nothing is left open
    ax = figure.subplots()
    display: NestedRocDisplay | RocDisplay
    if nested:
        display = NestedRocDisplay({f"choosing {_CHOSEN[name]}": each for name, each in nested.items()}, curves["both"])
        worst = min(each.auc for each in nested.values())
    else:
        display = RocDisplay({f"varying {name}": curve for name, curve in curves.items()})
        worst = min(curve.auc for curve in curves.values())
    display.plot(ax, title=plain(title))
    if worst > CROWDED:
        inset = ax.inset_axes((0.36, 0.33, 0.58, 0.5))
        display.plot(inset)
        if (legend := inset.get_legend()) is not None:
            legend.remove()
        inset.set(xlim=(-0.003, CORNER), ylim=(1 - CORNER, 1.003), xlabel="", ylabel="", aspect="auto")
        inset.tick_params(labelsize="small")
        _mark_corner(ax, inset)
    return figure


def _mark_corner(ax: Axes, inset: Axes) -> None:
    """Tell by a shade, not by lines that could be curves, which part of a picture its inset enlarges."""
    ax.axhspan(1 - CORNER, 1.003, 0, (CORNER + 0.01) / 1.02, facecolor=SHADE, edgecolor="none", zorder=-1)
    inset.set_facecolor(SHADE)
    inset.set_title("the shaded corner, enlarged", fontsize="small", pad=3)


_CHOSEN = {"intercept": "the threshold", "asymmetry": "t", "both": "both"}


def summary(curves: Mapping[str, RocCurve], nested: Mapping[str, NestedRoc]) -> dict[str, Any]:
    """Numbers for a report, by what varies."""
    found: dict[str, Any] = {}
    for name, curve in curves.items():
        envelope = curve if curve.chosen else curve.hull()
        judged = nested.get(name)
        row: dict[str, Any] = {"nested": None, "every_point": None}
        if judged is not None:
            row["nested"] = {"auc": judged.auc, "areas": judged.areas}
        if not curve.chosen:
            row["every_point"] = {"auc": curve.auc, "points": len(curve)}
        row["envelope"] = {"auc": envelope.auc, "points": len(envelope), "optimistic": True}
        found[name] = row
    return found


def table(report: Mapping[str, Any]) -> list[str]:
    """Lines of text for `summary`."""
    nested = any(row["nested"] is not None for row in report.values())
    lines = [
        f"  {'':<13}{'chosen elsewhere' if nested else '':<27}{'every point':<14}chosen here (optimistic)".rstrip()
    ]
    for name, row in report.items():
        judged, curve = row["nested"], row["every_point"]
        text = ""
        if judged is not None:
            text = f"{judged['auc']:.4f} ({min(judged['areas']):.4f} to {max(judged['areas']):.4f})"
        points = "" if curve is None else f"{curve['auc']:.4f}"
        lines.append(f"  {name:<13}{text:<27}{points:<14}{row['envelope']['auc']:.4f}")
    return lines


def legend(report: Mapping[str, Any], how: str, repeats: int) -> list[str]:
    """Lines of text that say what the columns of `table` are; how: the samples that classifiers are chosen on."""
    if all(row["nested"] is None for row in report.values()):
        return ["Too few samples of a class to choose t or threshold on some and judge the choice on others."]
    return [
        f"Chosen elsewhere: t and threshold, for every ratio of costs, on {how}:",
        f"mean, least and largest of {repeats} partitions. Every point: nothing is chosen. Chosen here: the upper",
        "envelope, on the labels that judge it.",
    ]
