"""What is imported when, and that every public name is found."""

import subprocess
import sys

import pytest

import skdiffuse


@pytest.mark.parametrize(
    "code",
    [
        "import skdiffuse",
        "from skdiffuse.cli import main; main(['--help'])",
        "from skdiffuse.cli import main; main(['annotate', '--help'])",
        "from skdiffuse.cli import main; main(['--version'])",
    ],
)
def test_starts_without_scikit_learn(code):
    show = (
        "import atexit, sys; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    )
    done = subprocess.run(
        [sys.executable, "-c", show + code], capture_output=True, text=True, check=True
    )
    assert "skdiffuse" in done.stderr.split()
    assert not {"sklearn", "scipy", "matplotlib"} & set(done.stderr.split())


def test_public_names_are_found():
    for name in skdiffuse.__all__:
        assert getattr(skdiffuse, name) is not None
        assert name in dir(skdiffuse)
    code = (
        "import skdiffuse; skdiffuse.datasets.read_pairs; skdiffuse.ppi.LabelPlan; "
        "skdiffuse.evaluation; skdiffuse.plotting; skdiffuse.metrics.winner"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
    with pytest.raises(AttributeError, match="has no attribute 'Winner'"):
        skdiffuse.Winner  # noqa: B018
