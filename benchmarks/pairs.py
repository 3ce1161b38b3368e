"""Pairs of real generators with all preferences, from the files of judgements."""

import itertools
import os
from pathlib import Path

import numpy as np

# The scores by which one output is better than another, by file; MQM counts errors.
JUDGES = {
    "alpaca_eval": ("score",),
    "qa_eval_nq": ("human", "f1"),
    "openqa_nq": ("f1", "em", "exact_match"),
    "realsumm": ("human", "rouge1", "rougeL"),
    "wmt23_sxs_zhen": ("mqm",),
}
LOWER_IS_BETTER = ("mqm",)
# Probabilities that an LLM prefers an answer differ by rounding where it does not care.
TIES = {"alpaca_eval": 0.02}


class Pairs:
    """All pairs of the systems of a file, or a random part of them.

    Iterating yields (name, X, preferences by judge); `inputs` does so with the
    embeddings of the inputs instead of the differences of the outputs.
    """

    def __init__(self, path, most=None, seed=0):
        path = Path(path)
        self.data = path.stem
        if self.data not in JUDGES:
            raise SystemExit(f"{path} is none of {', '.join(JUDGES)} (.npz)")
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files if name != "ids"}
        self.embeddings = arrays["embeddings"]
        kept = np.ones(len(self.embeddings), dtype=bool)
        if "special" in arrays:
            kept = arrays["special"] == ""
        self.systems = arrays["systems"]
        self.scores = {
            judge: arrays[judge] * (-1 if judge in LOWER_IS_BETTER else 1)
            for judge in JUDGES[self.data]
        }
        self.of_inputs = arrays.get("input_embeddings", arrays.get("source_embeddings"))
        pairs = list(itertools.combinations(np.flatnonzero(kept), 2))
        if most is not None and most < len(pairs):
            rng = np.random.default_rng(seed)
            pairs = [pairs[i] for i in np.sort(rng.permutation(len(pairs))[:most])]
        self.pairs = pairs

    def __len__(self):
        """Return the number of pairs."""
        return len(self.pairs)

    def __iter__(self):
        """Yield name, difference vectors and preferences of each pair."""
        for a, b in self.pairs:
            rows, preferences = self._preferences(a, b)
            first, second = self.embeddings[a][rows], self.embeddings[b][rows]
            X = first.astype(np.float32) - second.astype(np.float32)
            yield f"{self.systems[a]} {self.systems[b]}", X, preferences

    def inputs(self):
        """Yield the same with the embeddings of the inputs."""
        for a, b in self.pairs:
            rows, preferences = self._preferences(a, b)
            X = self.of_inputs[rows].astype(np.float32)
            yield f"{self.systems[a]} {self.systems[b]}", X, preferences

    def _preferences(self, a, b):
        differences = {j: s[a] - s[b] for j, s in self.scores.items()}
        rows = np.all([np.isfinite(d) for d in differences.values()], axis=0)
        tie = TIES.get(self.data, 0.0)
        preferences = {
            judge: np.where(np.abs(d[rows]) > tie, np.sign(d[rows]), 0.0)
            for judge, d in differences.items()
        }
        return np.flatnonzero(rows), preferences

    def smallest(self):
        """Return the number of examples of the smallest pair."""
        return min(len(self._preferences(a, b)[0]) for a, b in self.pairs)


def add_data(parser):
    """Add the option that names the file."""
    parser.add_argument(
        "--data",
        required=True,
        help=f"{' or '.join(JUDGES)} .npz; a bare name is looked up in SKDIFFUSE_DATA",
    )


def find(name):
    """Return the path of a file, or of a name in the folder of the data."""
    path = Path(name)
    if path.exists():
        return path
    return Path(os.environ.get("SKDIFFUSE_DATA", ".")) / f"{path.stem}.npz"
