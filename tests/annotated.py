"""Files of outputs to annotate, and the answers that were kept."""

import json

import polars as pl

from skdiffuse.datasets import load_digit_captions


def write_outputs(folder, n):
    """Write the captions of the first digits as a file of outputs."""
    captions = load_digit_captions()
    path = folder / "outputs.jsonl"
    pl.DataFrame(
        {
            "input": [f"image {i}" for i in range(n)],
            "output_a": list(captions.text_a[:n]),
            "output_b": list(captions.text_b[:n]),
        }
    ).write_ndjson(path)
    return path


def log_of(file):
    """Return where the answers to a file are kept."""
    return file.with_suffix(".annotations.jsonl")


def answers_of(file):
    """Return the answers to a file, as they are kept."""
    lines = log_of(file).read_text().splitlines()[1:]
    return [json.loads(line) for line in lines]
