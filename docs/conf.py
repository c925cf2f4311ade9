"""Sphinx configuration. The build needs no network."""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import paretoclf

project = "paretoclf"
author = "The paretoclf developers"
copyright = author
version = release = paretoclf.__version__

extensions = ["sphinx.ext.autodoc", "sphinx.ext.mathjax", "numpydoc", "myst_nb"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"paretoclf {release}"

myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3

# The lessons are notebooks kept as text: run at every build, and shown with what they print and draw.
os.environ.pop("MPLBACKEND", None)  # a kernel then shows its figures
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 120  # seconds a cell, on a busy machine
nb_output_stderr = "warn"  # a lesson that warns fails the build
nb_merge_streams = True  # what a cell prints stays in one block
nb_code_prompt_show = "Show the solution"  # only solutions are folded
nb_code_prompt_hide = "Hide the solution"

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types
autodoc_default_options = {"members": True, "show-inheritance": False}
numpydoc_show_class_members = False


def _statements() -> None:
    """Write the statement of every formulation to a page of its own."""
    from paretoclf.formulations.registry import OURS, formulations

    folder = Path(__file__).parent / "_generated"
    folder.mkdir(exist_ok=True)
    for name, cls in formulations().items():
        if name in OURS:
            text = cls.describe().replace("\n# ", "\n## ")  # one title a page
            (folder / f"{name}.md").write_text(text, encoding="utf-8")


_statements()


def setup(app):
    """Leave out what scikit-learn writes into every estimator: its text points into its own glossary."""

    def skip(app, what, name, obj, skip, options):
        return True if name.startswith("set_") and name.endswith("_request") else skip

    app.connect("autodoc-skip-member", skip)
