"""What our pages need of Sphinx: formulas as MathML, old addresses, one page alone, and when a page is run again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

from docutils.nodes import SkipNode
from docutils.utils.math.latex2mathml import tex2mathml

#: Where pages stood before they were sorted by purpose: folder -> their names.
MOVED = {
    "tutorials": "tutorial trace play",
    "how_to": "install add_a_formulation verify_your_solver roc tuning estimators kernels scale plane quantile nu "
    "tradeoff empirical_tradeoff gaussian carrizosa",
    "reference": "questions api modules formulations benchmarks compared maros_meszaros gallery reproduced errata "
    "bach2006 support",
    "explanation": "duality tracker asymmetry limits",
}
MOVED_FOLDERS = {
    "lessons": "tutorials/lessons",
    "decisions": "explanation/decisions",
    "generated": "reference/generated",
    "_generated": "reference/_generated",
}
REDIRECT = """<!doctype html><meta charset="utf-8"><title>Moved</title>
<link rel="canonical" href="{0}"><meta http-equiv="refresh" content="0; url={0}">
<script>location.replace("{0}" + location.hash)</script><a href="{0}">This page has moved.</a>
"""


def mathml(tex: str, block: bool) -> str:
    """A formula as MathML, which every browser draws; docutils knows LaTeX but for a few words."""
    tex = re.sub(r"\\[bB]igg?(?![a-zA-Z])", "", tex)
    tex = re.sub(r"\\tag\*?\{([^}]*)\}", r"\\qquad(\1)", tex)
    tex = re.sub(r"\\(begin|end)\{(?:align|gather|equation)\*?\}", r"\\\1{aligned}", tex)
    tex = re.sub(r"\\([tdc]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", tex).replace(r"\dots", r"\ldots")
    # The bars of a norm do not know which of them opens: stretched, they hang from the exponent.
    return tex2mathml(tex.strip(), as_block=block).replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')


def _inline(translator, node):
    translator.body.append(mathml(node.astext(), block=False))
    raise SkipNode


def _block(translator, node):
    translator.body.append(f'<div class="formula">{mathml(node.astext(), block=True)}</div>')
    raise SkipNode


def of_sources(package: Path) -> str:
    """A name for the sources of a package: another where one of them has changed."""
    known = hashlib.sha256()
    for file in sorted(package.rglob("*")):
        if file.suffix in (".py", ".hpp", ".cpp", ".html", ".js"):
            known.update(file.read_bytes())
    return known.hexdigest()[:16]


def one_tree_a_folder(furo):
    """Make the sidebar of generated pages once a folder, and mark each page in it: anew, it was most of a build."""
    whole, trees = furo._compute_navigation_tree, {}

    def tree(context):
        folder, _, name = context["pagename"].rpartition("/")
        if not folder.startswith("reference/generated"):
            return whole(context)
        plain = f'"><a class="reference internal" href="{name}.html"'
        marked = ' current current-page"><a class="current reference internal" href="#"'
        if folder not in trees:
            trees[folder] = whole(context).replace(marked, plain)
        return trees[folder].replace(plain, marked)

    furo._compute_navigation_tree = tree


def to_play_with(app, exception):
    """Leave the pages to play with beside the others, so that they are one click away."""
    if exception or app.builder.format != "html" or list(app.config.include_patterns) != ["**"]:
        return
    import paretoclf as pc

    out = Path(app.outdir)
    pc.plotting.duality_page(out / "duality.html")
    data = pc.datasets.load("wdbc", features=["mean_radius", "mean_texture"])
    X, few, others = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), slice(0, None, 24), slice(1, None, 3)
    path = pc.trace(pc.TwoCSVM(X[few], data.y[few]), (0.04, 1.96), (1.96, 0.04))
    path.page(out / "few.html", X=X[others], y=data.y[others], feature_names=data.feature_names)


def for_download(text: str) -> str:
    """An example without its last line, which leads to this very notebook and to pages that are not beside it."""
    return re.sub(r'^<a href="\w+\.ipynb" download>.*\n?', "", text, flags=re.MULTILINE)


def notebooks(app, exception):
    """Leave each example beside its page as a notebook to be downloaded."""
    if exception or app.builder.format != "html" or list(app.config.include_patterns) != ["**"]:
        return
    from paretoclf.cli.lesson import cells_of, notebook

    for page in sorted(Path(app.srcdir, "examples").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if text.startswith("---\nfile_format: mystnb"):
            made = json.dumps(notebook(cells_of(for_download(text))), indent=1)
            Path(app.outdir, "examples", f"{page.stem}.ipynb").write_text(made, encoding="utf-8")


def redirects(app, exception):
    """Leave a page at each old address that leads to the new one, with what stands behind the #."""
    if exception or app.builder.format != "html" or list(app.config.include_patterns) != ["**"]:
        return
    out = Path(app.outdir)
    old = {f"{name}.html": f"{room}/{name}.html" for room, names in MOVED.items() for name in names.split()}
    for before, now in MOVED_FOLDERS.items():
        for page in (out / now).rglob("*.html"):
            name = page.relative_to(out / now).as_posix()
            old[f"{before}/{name}"] = f"{now}/{name}"
    for before, now in old.items():
        (out / before).parent.mkdir(parents=True, exist_ok=True)
        (out / before).write_text(REDIRECT.format(os.path.relpath(now, Path(before).parent)), encoding="utf-8")


def setup(app):
    """Register the formulas, the old addresses, and the pages to play with."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("build-finished", redirects)
    app.connect("build-finished", to_play_with)
    app.connect("build-finished", notebooks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
