"""All benchmarks, one after the other.

    python -m benchmarks --quick [--data FOLDER]
    python -m benchmarks --summary-only

The first runs a small part of each and writes nothing: do they still work? The second
makes all tables and pictures of the documents from the committed results.
"""

import argparse
import time
from importlib import import_module

from benchmarks import NAMES
from benchmarks.options import data_folder


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", default=data_folder(), help="folder of the files")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--quick", action="store_true")
    what.add_argument("--summary-only", action="store_true")
    options = parser.parse_args()
    shared = ["--quick" if options.quick else "--summary-only"]
    for name in NAMES:
        module = import_module(f"benchmarks.{name}")
        if not options.quick or not module.NEEDS_DATA:
            data = []
        elif not options.data:
            print(f"{name}: left out, it needs --data or SKDIFFUSE_DATA")
            continue
        else:
            data = ["--data", options.data]
        start = time.monotonic()
        module.main([*shared, *data])
        print(f"{name}: {time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
