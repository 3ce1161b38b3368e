"""Parts of the benchmark of speed: starting up, in fresh processes."""

import subprocess
import sys
from functools import partial

from benchmarks.measure import Part


def python(*arguments):
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True)


def starts(quick):
    return {
        "import sklearn.linear_model": partial(
            python, "-c", "import sklearn.linear_model"
        ),
        "import skdiffuse": partial(python, "-c", "import skdiffuse"),
        "from skdiffuse import *": partial(python, "-c", "from skdiffuse import *"),
        "skdiffuse --help": partial(python, "-m", "skdiffuse", "--help"),
        "python alone": partial(python, "-c", "pass"),
    }


PARTS = [Part("start: a fresh process (memory without its own)", starts, 7)]
