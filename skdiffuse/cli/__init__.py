"""The command line: ``skdiffuse``, with a command for each job."""

import sys
from collections.abc import Sequence

_EXTRA = {"typer", "rich", "polars"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 for success, 2 for an error.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        The words after the command's name; None for those of the process.
    """
    try:
        from skdiffuse.cli._app import run
    except KeyboardInterrupt:
        print("skdiffuse: error: interrupted", file=sys.stderr)
        sys.exit(2)
    except ModuleNotFoundError as error:
        if error.name not in _EXTRA:
            raise
        print(
            "skdiffuse: the command line needs its extra; install it with: "
            "pip install 'skdiffuse[cli]'",
            file=sys.stderr,
        )
        sys.exit(2)
    sys.exit(run(arguments))
