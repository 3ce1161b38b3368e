"""Pairs of real generators with all preferences, from the files of judgements."""

import itertools
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed, parallel_config

from benchmarks.tables import JUDGES, RESULTS

LOWER_IS_BETTER = ("mqm",)
# Probabilities that an LLM prefers an answer differ by rounding where it does not care.
TIES = {"alpaca_eval": 0.02}
# What a cheap judge sees, beside the first of `JUDGES`.
PREDICTORS = {
    "alpaca_eval": "output_chars",
    "qa_eval_nq": "lexical_match",
    "openqa_nq": "lexical_match",
    "realsumm": "rouge1_recall",
    "wmt23_sxs_zhen": "chrf_consensus",
}


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
        self.predictor = _predictor(self.data, arrays)
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

    def judged(self):
        """Yield name, difference vectors, preferences and what a judge predicts."""
        judge = JUDGES[self.data][0]
        for (a, b), (name, X, preferences) in zip(self.pairs, self, strict=True):
            rows, _ = self._preferences(a, b)
            predicted = (self.predictor[a] - self.predictor[b])[rows]
            known = np.isfinite(predicted)
            predicted = np.where(known, predicted, 0.0)
            largest = np.abs(predicted).max()
            predicted = predicted / largest if largest else predicted
            yield name, X, preferences[judge], predicted

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


def _predictor(data, arrays):
    values = arrays[PREDICTORS[data]].astype(np.float64)
    if PREDICTORS[data] != "output_chars":
        return values
    # Twice the length counts alike for short and long answers; -1 is no answer.
    return np.log1p(np.where(values >= 0, values, np.nan))


def files(data):
    """Return the paths of one file, or of all that are in a folder."""
    path = Path(data)
    found = [path] if path.is_file() else [path / f"{name}.npz" for name in JUDGES]
    found = [path for path in found if path.exists()]
    if not found:
        raise SystemExit(f"no {data}, nor {', '.join(JUDGES)} .npz in it")
    return found


def of_each(study, pairs, repeats, jobs):
    """Return the records of ``study(number, *pair, repeats)`` for each judged pair."""
    tasks = (
        delayed(study)(number, *pair, repeats)
        for number, pair in enumerate(pairs.judged())
    )
    with parallel_config("loky", n_jobs=jobs, inner_max_num_threads=1):
        parts = Parallel(batch_size=1)(tasks)
    judge = JUDGES[pairs.data][0]
    return [{"judge": judge, **record} for part in parts for record in part]


def make(name, chosen, study, writing):
    """Make the tables of a study of each file; print that of few pairs if quick.

    `study(pairs, chosen)` returns rows, `writing(rows)` the tables by their names.

    Returns
    -------
    bool
        Whether there are summaries to make.
    """
    if chosen.summary_only:
        return True
    for path in files(chosen.data):
        pairs = Pairs(path, chosen.pairs)
        written = writing(study(pairs, chosen))
        if chosen.quick:
            print(pairs.data, written[name], sep="\n")
            continue
        RESULTS.mkdir(exist_ok=True)
        for table_name, table in written.items():
            table.write_csv(RESULTS / f"{table_name}_{pairs.data}.csv")
    return not chosen.quick
