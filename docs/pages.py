"""What our pages need of Sphinx: formulas as MathML, old addresses, one page alone, and when a page is run again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path

#: Where pages stood before they were sorted by purpose: folder -> their names.
MOVED = {
    "tutorials": "tutorial play",
    "how_to": "install add_a_formulation verify_your_solver roc tuning estimators scale tradeoff",
    "reference": "api modules formulations compared gallery support",
    "explanation": "duality tracker asymmetry limits",
}
#: Pages of the reference that are research notes now.
NOTES = "benchmarks bach2006 errata maros_meszaros reproduced selection"
#: Pages that became a section of another: where they stood -> page and section.
MERGED = {
    "how_to/index": "index",
    "how_to/plane": "how_to/maps#rectangles-of-costs",
    "how_to/quantile": "how_to/other_machines#the-quantile-path",
    "how_to/nu": "how_to/other_machines#the-nu-plane",
    "how_to/carrizosa": "how_to/other_machines#two-margins",
    "how_to/kernels": "how_to/other_machines#kernels-and-sparse-samples",
    "how_to/empirical_tradeoff": "how_to/tradeoff#from-samples",
    "how_to/gaussian": "how_to/tradeoff#one-point-at-a-time-as-a-program",
    "tutorials/index": "index",
    "tutorials/trace": "tutorials/tutorial#from-the-command-line",
    "reference/questions": "reference/api",
}
MOVED_FOLDERS = {
    "lessons": "tutorials/lessons",
    "decisions": "research/decisions",
    "explanation/decisions": "research/decisions",
    "generated": "reference/generated",
    "_generated": "reference/_generated",
}
#: What people look for -> the page that answers it, which the search of the built pages has among its first three.
WORDS = {
    "explicit MPC": "how_to/maps",
    "control law": "how_to/maps",
    "SOCP": "how_to/within_eps",
    "second-order cone": "how_to/within_eps",
    "sensitivity": "how_to/ranges",
    "shadow price": "how_to/ranges",
    "reduced cost": "how_to/ranges",
    "allowable increase": "how_to/ranges",
    "IIS": "how_to/infeasible",
    "warm start": "how_to/any_problem",
    "regularization path": "how_to/any_problem",
    "solution path": "how_to/any_problem",
    "homotopy": "how_to/any_problem",
    "Pareto front": "examples/pareto_front",
    "efficient frontier": "examples/portfolio",
    "CVaR": "examples/cvar",
    "geometric program": "examples/geometric_program",
    "conjugate": "how_to/dual",
    "Slater": "how_to/dual",
    "Lagrangian": "how_to/dual",
    "saddle point": "how_to/dual",
    "what-if analysis": "how_to/ranges",
    "infeasible model": "how_to/infeasible",
    "multiple optima": "how_to/infeasible",
    "receding horizon": "how_to/maps",
    "critical region": "how_to/maps",
    "export C code": "how_to/maps",
    "MPS file": "how_to/files",
    "checkpoint": "how_to/scale",
    "differentiate": "how_to/derivatives",
    "student answers": "how_to/grade_homework",
    "imbalanced classes": "how_to/estimators",
    "class_weight": "how_to/estimators",
}
REDIRECT = """<!doctype html><meta charset="utf-8"><title>Moved</title>
<link rel="canonical" href="{0}"><meta http-equiv="refresh" content="0; url={0}">
<script>let to = "{0}".split("#"); location.replace(to[0] + (location.hash || (to[1] ? "#" + to[1] : "")))</script>
<a href="{0}">This page has moved.</a>
"""


def mathml(tex: str, block: bool) -> str:
    """A formula as MathML, which every browser draws; docutils knows LaTeX but for a few words."""
    from docutils.utils.math.latex2mathml import tex2mathml

    tex = re.sub(r"\\[bB]igg?(?![a-zA-Z])", "", tex)
    tex = re.sub(r"\\tag\*?\{([^}]*)\}", r"\\qquad(\1)", tex)
    tex = re.sub(r"\\(begin|end)\{(?:align|gather|equation)\*?\}", r"\\\1{aligned}", tex)
    tex = re.sub(r"\\([tdc]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", tex).replace(r"\dots", r"\ldots")
    # The bars of a norm do not know which of them opens: stretched, they hang from the exponent.
    return tex2mathml(tex.strip(), as_block=block).replace("<mo>‖</mo>", '<mo stretchy="false">‖</mo>')


def _inline(translator, node):
    from docutils.nodes import SkipNode

    translator.body.append(mathml(node.astext(), block=False))
    raise SkipNode


def _block(translator, node):
    from docutils.nodes import SkipNode

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
    from paretoclf.proof.files.check_page import check_page

    pc.plotting.duality_page(out / "duality.html")
    check_page(out / "check.html")
    data = pc.datasets.load("wdbc", features=["mean_radius", "mean_texture"])
    X, few, others = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0), slice(0, None, 24), slice(1, None, 3)
    path = pc.trace(pc.TwoCSVM(X[few], data.y[few]), (0.04, 1.96), (1.96, 0.04))
    path.page(out / "few.html", X=X[others], y=data.y[others], feature_names=data.feature_names)


def for_download(text: str) -> str:
    """An example without its index, and without its last line, which leads to this notebook and to pages elsewhere."""
    text = re.sub(r"^```\{index\}.*\n```\n", "", text, flags=re.MULTILINE)
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


def moved(out: Path) -> dict[str, str]:
    """Old address -> new one, of pages that are built in ``out``."""
    old = {f"{name}.html": f"{room}/{name}.html" for room, names in MOVED.items() for name in names.split()}
    for name in NOTES.split():
        old |= dict.fromkeys((f"{name}.html", f"reference/{name}.html"), f"research/{name}.html")
    for before, now in MERGED.items():
        page, _, section = now.partition("#")
        to = f"{page}.html#{section}".rstrip("#")
        old[f"{before}.html"] = to
        if not before.endswith("/index"):
            old[f"{Path(before).name}.html"] = to
    for before, now in MOVED_FOLDERS.items():
        for page in (out / now).rglob("*.html"):
            name = page.relative_to(out / now).as_posix()
            old[f"{before}/{name}"] = f"{now}/{name}"
    return old


def redirects(app, exception):
    """Leave a page at each old address that leads to the new one, with what stands behind the #."""
    if exception or app.builder.format != "html" or list(app.config.include_patterns) != ["**"]:
        return
    out = Path(app.outdir)
    for before, now in moved(out).items():
        (out / before).parent.mkdir(parents=True, exist_ok=True)
        (out / before).write_text(REDIRECT.format(os.path.relpath(now, Path(before).parent)), encoding="utf-8")


def ranked(index: dict, query: str) -> list[str]:
    """Pages in the order in which the search of the built pages shows them, as searchtools.js of Sphinx ranks."""
    from sphinx.search.en import SearchEnglish

    docs, titles, asked = index["docnames"], index["titles"], query.lower()
    scores: list[tuple[float, str, str]] = []
    for title, places in index["alltitles"].items():
        if asked in title.lower() and len(asked) >= len(title) / 2:
            score = round(15 * len(asked) / len(title))
            scores += [(score + (titles[page] == title), title, docs[page]) for page, _ in places]
    for entry, places in index["indexentries"].items():
        if asked in entry and len(asked) >= len(entry) / 2:
            score = round(100 * len(asked) / len(entry))
            scores += [(score, titles[page], docs[page]) for page, _, main in places if main]
    words = asked.split()
    for prefix, objects in index["objects"].items():
        for page, kind, priority, _, name in objects:
            full = f"{prefix}.{name}".strip(".").lower()
            described = f"{prefix} {name} {index['objnames'][str(kind)][2]} {titles[page]}".lower()
            for word in (word for word in words if word in full):
                if all(other in described for other in words):
                    last = full.rpartition(".")[2]
                    score = 11 * (word in (full, last)) or 6 * (word in last)
                    scores.append((score + {0: 15, 1: 5, 2: -5}.get(priority, 0), full, docs[page]))
    stemmed = [SearchEnglish({}).stem(word) for word in words]
    found = {}
    for terms, score in ((index["terms"], 5), (index["titleterms"], 15)):
        for word in stemmed:
            pages = terms.get(word, [])
            for page in pages if isinstance(pages, list) else [pages]:
                found.setdefault(page, {})[word] = score
    scores += [(max(of.values()), titles[page], docs[page]) for page, of in found.items() if len(of) == len(stemmed)]
    scores.sort(key=lambda each: (-each[0], each[1].lower()))
    return list(dict.fromkeys(page for _, _, page in scores))


def findable(app, exception):
    """Warn of words whose page is not among the first three that the search finds."""
    if exception or app.builder.format != "html" or list(app.config.include_patterns) != ["**"]:
        return
    from sphinx.util import logging

    text = Path(app.outdir, "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    for word, page in WORDS.items():
        first = ranked(index, word)[:3]
        if page not in first:
            logging.getLogger(__name__).warning("who looks for %r does not find %s but %s", word, page, first)


def setup(app):
    """Register the formulas, the old addresses, and the pages to play with."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.connect("build-finished", redirects)
    app.connect("build-finished", to_play_with)
    app.connect("build-finished", notebooks)
    app.connect("build-finished", findable)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
