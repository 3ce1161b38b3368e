"""Options that the commands share."""

import argparse
import os


def positive(text):
    """Return a number of at least 1 from the command line."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is less than 1")
    return number


def parser(documentation, data=None):
    """Return a parser; `data` says what `--data` names, if there is such an option."""
    result = argparse.ArgumentParser(description=documentation.splitlines()[0])
    if data:
        result.add_argument("--data", default=data_folder(), help=data)
    result.add_argument("--jobs", type=positive, default=2, help="processes")
    either = result.add_mutually_exclusive_group()
    either.add_argument(
        "--quick", action="store_true", help="a small part; writes nothing"
    )
    either.add_argument(
        "--summary-only", action="store_true", help="from the results that are there"
    )
    return result


def parse(parser, arguments, **quick):
    """Return the options; `quick` are their values under `--quick`."""
    options = parser.parse_args(arguments)
    if options.quick:
        vars(options).update(quick)
    if not options.summary_only and not getattr(options, "data", "nothing to name"):
        parser.error("name the real judgements: --data or SKDIFFUSE_DATA")
    return options


def data_folder():
    """Return the folder of real judgements that the environment names, or None."""
    return os.environ.get("SKDIFFUSE_DATA")
