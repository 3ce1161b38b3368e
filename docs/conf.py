"""How the documentation is built: ``sphinx-build -W docs docs/_build/html``."""

import importlib
import inspect
import textwrap
from pathlib import Path

import typer

import skdiffuse
from skdiffuse.cli import _app

HERE = Path(__file__).parent

project = "skdiffuse"
author = "The skdiffuse developers"
copyright = author
version = release = skdiffuse.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples", "**/README.rst"]
templates_path = ["_templates"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
toc_object_entries_show_parents = "hide"
autodoc_typehints = "none"
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = "skdiffuse"
html_static_path = ["_static"]
html_css_files = ["skdiffuse.css"]
html_show_sourcelink = False
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "show_prev_next": False,
}
_WITHOUT = ("index", "guide", "evidence", "peers", "glossary", "api/commands")
html_sidebars = {page: [] for page in _WITHOUT}

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "ignore_repr_types": r"skdiffuse\.plotting",
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 10,
    "remove_config_comments": True,
}

# The rooms with public names, in the order of the pages.
ROOMS = {
    "skdiffuse": "Everything that most people need",
    "skdiffuse.selection": "Which examples to judge",
    "skdiffuse.comparison": "Who wins, and when to stop",
    "skdiffuse.ppi": "Means from few labels and a judge",
    "skdiffuse.plotting": "Displays",
    "skdiffuse.evaluation": "Studies on data of your own",
    "skdiffuse.metrics": "Winners and winning distances",
    "skdiffuse.datasets": "Data",
}


def write_reference() -> None:
    """Write a page for each room, with all its public names."""
    folder = HERE / "api"
    folder.mkdir(exist_ok=True)
    pages, seen = [], set()
    for room, title in ROOMS.items():
        module = importlib.import_module(room)
        names = [n for n in module.__all__ if n != "__version__"]
        new = [n for n in names if id(getattr(module, n)) not in seen]
        seen |= {id(getattr(module, n)) for n in new}
        if new:
            _write_if_new(folder / f"{room}.rst", _page(module, title, new))
            pages.append(room)
    listed = "\n   ".join(pages)
    toctree = f".. toctree::\n   :maxdepth: 1\n\n   {listed}\n"
    title = "API reference\n=============\n"
    _write_if_new(folder / "index.rst", f"{title}\n{toctree}")


def _page(module, title: str, names: list[str]) -> str:
    kinds = {
        "Classes": [n for n in names if inspect.isclass(getattr(module, n))],
        "Functions": [n for n in names if not inspect.isclass(getattr(module, n))],
    }
    head = f"{module.__name__}: {title[0].lower()}{title[1:]}"
    parts = [head, "=" * len(head), f"\n.. currentmodule:: {module.__name__}\n"]
    for kind, some in kinds.items():
        if some:
            listed = "\n   ".join(sorted(some))
            parts.append(
                f"{kind}\n{'-' * len(kind)}\n\n.. autosummary::\n"
                f"   :toctree: generated\n\n   {listed}\n"
            )
    return "\n".join(parts)


def _write_if_new(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_commands() -> None:
    """Write a page with what each command says of itself."""
    command = typer.main.get_command(_app.app)
    parts = [
        "Command line",
        "============\n",
        "``skdiffuse COMMAND --help`` says the same.",
    ]
    for name, one in command.commands.items():
        context = command.context_class(command, info_name="skdiffuse")
        inner = one.context_class(one, parent=context, info_name=name)
        text = textwrap.indent(one.get_help(inner), "   ")
        parts.append(f"\n{name}\n{'-' * len(name)}\n\n.. code-block:: text\n\n{text}\n")
    _write_if_new(HERE / "api" / "commands.rst", "\n".join(parts))


write_reference()
write_commands()
