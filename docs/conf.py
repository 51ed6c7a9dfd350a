"""Sphinx configuration: `sphinx-build -W -b html docs docs/_build/html`."""

from __future__ import annotations

import dataclasses
import inspect
import logging
import os
import re
import sys
from functools import partialmethod
from pathlib import Path
from typing import Any

from docutils import nodes
from nbclient import NotebookClient
from sphinx.errors import ExtensionError
from sphinx.util.inspect import stringify_signature

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))

from denseflip import Request, __version__  # noqa: E402  (found through the line above)

project = "denseflip"
author = "The denseflip developers"
copyright = author
version = release = __version__

extensions = [
    "myst_nb",  # Markdown, and the tutorials as notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = [
    *("_build", "gallery", "reference/generated", "**/.ipynb_checkpoints"),
    "**sg_execution_times.rst",
    *(f"auto_gallery/*.{ending}" for ending in ("ipynb", "py", "md5", "json", "zip")),
]

# Commands in the tutorials are those of this environment; no kernel starts threads of its own.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ.setdefault("OMP_NUM_THREADS", "1")
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 600
# What a command prints arrives in pieces; they are put together as they were printed.
NotebookClient.__init__ = partialmethod(NotebookClient.__init__, coalesce_streams=True)
logging.getLogger("traitlets").setLevel(logging.ERROR)  # it reports every notebook


def saved_figures(block: Any, block_vars: dict[str, Any], conf: dict[str, Any]) -> str:
    """Save the figures that a block of a gallery script made.

    The figures of denseflip are not registered with pyplot, where sphinx-gallery would look.
    """
    from matplotlib.figure import Figure
    from sphinx_gallery.scrapers import figure_rst

    seen = block_vars.setdefault("seen", set())
    paths = []
    for value in block_vars["example_globals"].values():
        if isinstance(value, Figure) and id(value) not in seen:
            seen.add(id(value))
            path = next(block_vars["image_path_iterator"])
            value.savefig(path, dpi=150, bbox_inches="tight")
            paths.append(path)
    return str(figure_rst(paths, conf["src_dir"]))


sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "image_scrapers": (saved_figures,),
    "abort_on_example_error": True,
    "capture_repr": (),
    "within_subsection_order": "FileNameSortKey",
    "min_reported_time": 1000,
    "download_all_examples": False,
    "remove_config_comments": True,
}
smartquotes = False  # "--out" in a text stays as it is typed
html_theme = "furo"
html_title = f"denseflip {__version__}"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f4e8c",
        "color-brand-content": "#1f5fae",
        "color-brand-visited": "#1f5fae",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ab4f0",
        "color-brand-content": "#8ab4f0",
        "color-brand-visited": "#8ab4f0",
    },
}
maximum_signature_line_length = 100  # a longer one has a line for each parameter

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]

default_role = "py:obj"  # `Graph` in a docstring is a link where it can be one
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True  # attributes as a list, not a second description of each field
# A name such as `distance` is a function, a property and a method: any of them will do.
# The gallery's own function for figures cannot be kept between builds, which costs nothing.
suppress_warnings = ["ref.python", "config.cache"]

_SECTION = re.compile(r"^\s*(Parameters|Attributes)\s*$")
_ENTRY = re.compile(r"^(\s*)([\w*][\w, .*]*) : (.+)$")


def tidy_docstring(
    app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Adapt our docstrings to napoleon, which expects a type behind the colon.

    Ours have types in the annotations and plain words in the docstring: ``name : what it is``.
    """
    out: list[str] = []
    inside = False
    for i, line in enumerate(lines):
        underlined = i + 1 < len(lines) and set(lines[i + 1].strip()) == {"-"}
        if underlined:
            inside = bool(_SECTION.match(line))
        entry = _ENTRY.match(line) if inside else None
        if entry and not entry[1]:
            out += [entry[2], f"    {_escape(entry[3])}"]
        else:
            out.append(_escape(line))
    lines[:] = out


def _escape(line: str) -> str:
    """Keep |E| from being read as a substitution, outside literals."""
    if "|" not in line or ">>>" in line:
        return line
    parts = re.split(r"(``.*?``)", line)
    return "".join(p if p.startswith("``") else p.replace("|", r"\|") for p in parts)


def short_signature(
    app: Any,
    what: str,
    name: str,
    obj: Any,
    options: Any,
    signature: str | None,
    returns: str | None,
) -> tuple[str, str | None] | None:
    """Write ``**options`` for the fields of a request, which every parameter list explains."""
    if what != "function" or not callable(obj):
        return None
    shown = inspect.signature(obj)
    if "request" not in shown.parameters:
        return None
    fields = {field.name for field in dataclasses.fields(Request)} - {"method"}
    kept = [p for p in shown.parameters.values() if p.name not in fields | {"request"}]
    rest = inspect.Parameter("options", inspect.Parameter.VAR_KEYWORD)
    short = shown.replace(parameters=[*kept, rest], return_annotation=shown.empty)
    return stringify_signature(short, unqualified_typehints=True), returns


def write_dashes(app: Any, doctree: Any) -> None:
    """Put a dash between a parameter and its meaning, where Sphinx writes two hyphens.

    Its smart quotes would do so, but they would also change options such as --out.
    """
    for text in list(doctree.findall(nodes.Text)):
        if text.astext() == " -- ":
            text.parent.replace(text, nodes.Text(" – "))


def check_pictures(app: Any, problem: Exception | None) -> None:
    """Fail the build if a script of the gallery made no picture."""
    if problem or str(getattr(app.config, "plot_gallery", True)) in {"0", "False"}:
        return
    pages = Path(app.srcdir)
    made = pages / "auto_gallery" / "images"
    scripts = sorted((pages / "gallery").glob("plot_*.py"))
    if missing := [p.name for p in scripts if not (made / f"sphx_glr_{p.stem}_001.png").exists()]:
        msg = f"no picture was made by {', '.join(missing)}: keep the figure in a variable"
        raise ExtensionError(msg)


def setup(app: Any) -> None:
    app.connect("build-finished", check_pictures)
    app.connect("doctree-read", write_dashes)
    app.connect("autodoc-process-signature", short_signature)
    # Before napoleon, which is connected with the usual priority of 500.
    app.connect("autodoc-process-docstring", tidy_docstring, priority=400)
