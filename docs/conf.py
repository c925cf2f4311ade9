"""Sphinx configuration. The build needs no network."""

import inspect
import operator
import os
import re
import sys
from functools import cached_property
from pathlib import Path
from types import FunctionType, ModuleType

# The package is the one that is installed: the checkout beside these pages has no compiled tracker.
CHECKOUT = Path(__file__).resolve().parents[1]
sys.path[:] = [str(Path(__file__).parent), *(each for each in sys.path if Path(each or ".").resolve() != CHECKOUT)]

import furo
import numpydoc.docscrape_sphinx
import pages
import repository
import sphinx.pycode
import sphinx.util.inspect
from docutils import nodes
from jinja2.sandbox import SandboxedEnvironment
from jupyter_cache import get_cache
from sphinx import addnodes
from sphinx.util.nodes import make_refnode

import paretoclf
import paretoclf.plotting

# Pages are of names as users write them, `pc.deletion.deletions`, wherever a room stands in the package.
for each in paretoclf.__all__:
    if isinstance(getattr(paretoclf, each), ModuleType):
        sys.modules.setdefault(f"paretoclf.{each}", getattr(paretoclf, each))

project = "paretoclf"
author = "The paretoclf developers"
copyright = author
version = release = paretoclf.__version__

#: The one page to build, as `how_to/roc`: its links to others lead nowhere then.
ALONE = os.environ.get("PAGE", "")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "pages",
    "numpydoc",
    "myst_nb",
    "sphinx_design",
]
exclude_patterns = ["_build", "_templates", "paper"]  # paper/ is for a journal
if ALONE:
    root_doc, include_patterns = ALONE, [f"{ALONE}.md"]
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"  # of pages.py: browsers draw formulas themselves, without a network
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"paretoclf {release}"
html_theme_options = repository.theme(repository.REPOSITORY)
if repository.REPOSITORY:
    html_baseurl = repository.pages(repository.REPOSITORY)

myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence"]
myst_heading_anchors = 3

# The lessons are notebooks kept as text: run at every build, and shown with what they print and draw.
os.environ.pop("MPLBACKEND", None)  # a kernel then shows its figures
# What a page printed is kept for as long as neither its cells nor the package change.
nb_execution_mode = "cache"
nb_execution_cache_path = str(
    Path(__file__).parent / "_build" / "executed" / pages.of_sources(Path(paretoclf.__file__).parent)
)
nb_render_markdown_format = "myst"  # formulas and tables that a cell shows are those of a page
nb_execution_in_temp = True  # what a cell writes is not left in the sources
nb_execution_raise_on_error = True
nb_execution_timeout = 120  # seconds a cell, on a busy machine
nb_output_stderr = "warn"  # a lesson that warns fails the build
nb_merge_streams = True  # what a cell prints stays in one block
nb_code_prompt_show = "Show how this is drawn"  # of cells folded as hide-input; see `solutions`
nb_code_prompt_hide = "Hide how this is drawn"

# One page an object, made from reference/api.md and reference/modules.md. Types stand in the signatures, as links.
autosummary_generate = not ALONE
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
ALIASES = ("Array", "Mask", "Index", "Number", "State", "Samples", "Rows", "Rng")  # the docstrings say the shapes
autodoc_type_aliases = {name: name for name in ALIASES}
sphinx.util.inspect.TypeAliasForwardRef.__repr__ = lambda self: self.name  # else `Array | None` shows its name
maximum_signature_line_length = 90
numpydoc_show_class_members = False
# A page begins with one signature, that of the function itself; its overloads, up to eight, are for type checkers.
sphinx.pycode.ModuleAnalyzer.overloads = property(lambda self: {}, lambda self, value: None)
default_role = "py:obj"  # `trace` in a docstring is a link

# What took most of the build: furo's sidebar, anew for each of 450 generated pages; and numpydoc's template, compiled
# anew for every docstring. Once is enough.
pages.one_tree_a_folder(furo)
_environments = {}
numpydoc.docscrape_sphinx.SandboxedEnvironment = lambda loader: _environments.setdefault(
    "one", SandboxedEnvironment(loader=loader)
)

#: Type variables stand in signatures and have no page; whoever adds one need not come here.
TYPE_VARIABLES = {
    name
    for source in Path(paretoclf.__file__).parent.rglob("*.py")
    for name in re.findall(r"^(\w+) = TypeVar\(", source.read_text(encoding="utf-8"), re.MULTILINE)
}

#: Modules that have a page. A signature that names a class of another one has nowhere to lead.
WITH_PAGES = "|".join(
    re.escape(name.removeprefix("paretoclf."))
    for name in re.findall(
        r"^   (paretoclf\.[\w.]+)$",
        (Path(__file__).parent / "reference" / "modules.md").read_text(encoding="utf-8"),
        re.MULTILINE,
    )
)

nitpicky = not ALONE
suppress_warnings = [
    *(["ref", "toc", "myst"] if ALONE else []),
    "ref.python",
]  # two rooms may have protocols of one name
nitpick_ignore_regex = [
    ("py:class", "|".join(ALIASES)),
    # Imported for type checkers only:
    ("py:class", r"AnyBox|Axes|CoreTracker|Figure|Fraction|ProgramPoints|ProvedRay|SubFigure|.*\[.*"),
    ("py:class", rf"(.*\.)?({'|'.join(sorted(TYPE_VARIABLES))})"),
    ("py:class", rf"paretoclf\.(?!({WITH_PAGES})\.).*"),  # of modules that have no page: of no interest outside
    ("py:class", r"paretoclf\.(checking\.rows\.Row|solve\.compiled\.Raw|.*\._\w+)"),
    ("py:obj", r"paretoclf\.proof"),  # a room, whose modules have the pages
    # Other people's pages: a link needs their inventories, and the build has no network.
    (
        "py:.*",
        r"(abc|contextlib|cp|cvxpy|collections|fractions|functools|joblib|matplotlib|np|npt|numpy|os|pathlib|scipy|sklearn|typing)\..*",
    ),
]


def _statements() -> None:
    """Write the statement of every formulation to a page of its own."""
    from paretoclf.formulations.registry import OURS, formulations

    folder = Path(__file__).parent / "reference" / "_generated"
    folder.mkdir(exist_ok=True)
    for name, cls in formulations().items():
        if name in OURS:
            text = cls.describe().replace("\n# ", "\n## ")  # one title a page
            (folder / f"{name}.md").write_text(text, encoding="utf-8")


_statements()

API = (Path(__file__).parent / "reference" / "api.md").read_text(encoding="utf-8")
#: What reference/api.md lists, and so has a page of its own: name, as one writes it after ``pc.``, and what it is.
OWN_PAGE = {
    name: operator.attrgetter(name)(paretoclf) for name in re.findall(r"^   ([a-z_]*\.?\w+)$", API, re.MULTILINE)
}
#: The last word of a name, which is how a text speaks of it -> the name. Data sets and figures are named in full.
SHORT = {name.rpartition(".")[2]: name for name in OWN_PAGE if not name.startswith(("datasets.", "plotting."))}
ROOMS = {name.rpartition(".")[0] for name in SHORT.values()} - {""}


#: Members that have a docstring of their own, where attributes of a dataclass stand in that of their class.
DOCUMENTED = (FunctionType, classmethod, property, cached_property)


def skip_member(app, what, name, obj, skip, options):
    """Pages of modules leave out what has a page of its own; classes, what others wrote that they inherit."""
    if what == "module" and any(obj is value for value in OWN_PAGE.values()):
        return True
    inner = getattr(obj, "fget", None) or getattr(obj, "func", None) or obj  # of a property, and of a cached one
    ours = getattr(inner, "__module__", None) or "paretoclf"
    return True if not ours.startswith("paretoclf") or name.endswith("_request") else None


def find(env, target):
    """The documented object that a short name in a docstring means, if there is exactly one."""
    objects = env.domains.python_domain.objects
    if target.startswith("paretoclf."):  # where it is defined, or a room that has it: its page has another name
        target = target.rpartition(".")[2]
    if f"paretoclf.{target}" in objects:
        return f"paretoclf.{target}"
    ends = {name for name, entry in objects.items() if name.endswith(f".{target}") and not entry.aliased}
    return ends.pop() if len(ends) == 1 else None


def short_names(app, env, node, contnode):
    """Resolve `Path.at` from anywhere; a word in small letters that is no object is the name of a parameter."""
    if node.get("refdomain") != "py":
        return None
    target = node["reftarget"]
    found = find(env, target)
    if found is not None:
        entry = env.domains.python_domain.objects[found]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, found)
    return contnode if node["reftype"] == "obj" and target.islower() and "." not in target else None


def link_literals(app, doctree):
    """Make ``Path`` or ``trace(...)`` in the text of a page a link."""
    for node in list(doctree.findall(nodes.literal)):
        name = node.astext().split("(")[0].removeprefix("pc.")
        room, _, rest = name.partition(".")
        owner, _, member = (rest if room in ROOMS else name).partition(".")
        linked = isinstance(node.parent, nodes.reference | addnodes.pending_xref)
        if linked or owner not in SHORT:
            continue
        name, value = f"{SHORT[owner]}.{member}".rstrip("."), OWN_PAGE[SHORT[owner]]
        if member and not isinstance(inspect.getattr_static(value, member, None), DOCUMENTED):
            continue
        link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=f"paretoclf.{name}", refwarn=True)
        link["refdoc"] = app.env.docname
        node.replace_self(link)
        link += node


def prose(app, doctree):
    """Let outputs wrap whose long lines are sentences; a broken row of a table is none, and is scrolled to."""
    for node in doctree.findall(nodes.literal_block):
        longer = [line.strip() for line in node.astext().splitlines() if len(line) > 90]
        if longer and not any("  " in line for line in longer):
            node["classes"].append("prose")


def solutions(app, doctree):
    """Say what a wholly folded cell is: the solution of an exercise."""
    for node in doctree.findall(nodes.container):
        if node.get("hide_mode") == "all":
            node["prompt_show"], node["prompt_hide"] = "Show the solution", "Hide the solution"


def setup(app):
    # Pages are read by several processes at once: the database of what they printed is there before the first begins.
    get_cache(nb_execution_cache_path).db  # noqa: B018
    app.connect("autodoc-skip-member", skip_member)
    app.connect("missing-reference", short_names)
    app.connect("doctree-read", link_literals)
    app.connect("doctree-read", solutions)
    app.connect("doctree-read", prose)
