"""Cells: the labels and judge scores of one system, real or made here."""

import zlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

from skdiffuse.datasets import make_judged_pool

JUDGES = {"good": 0.9, "mediocre": 0.5, "useless": 0.0, "adverse": -0.7}
RATES = (0.03, 0.1, 0.5, 0.9, 0.97)
METRICS = ("rouge1", "rouge2", "rougeL", "bertscore")
# Mean and standard deviation of the latent score that is rounded to 1, ..., 5.
SHAPES = {
    "symmetric": (3.0, 1.0),
    "both ends": (3.0, 2.5),
    "skewed": (4.5, 1.0),
    "nearly all 1": (0.9, 0.6),
}


@dataclass(frozen=True)
class Sample:
    """Draws of n rows with a label and of N rows without, the pool.

    Attributes
    ----------
    scores : ndarray of shape (n_draws, n_labeled, n_judges)
    labels : ndarray of shape (n_draws, n_labeled)
    pool : ndarray of shape (n_draws, n_pool, n_judges)
    """

    scores: np.ndarray
    labels: np.ndarray
    pool: np.ndarray

    @classmethod
    def of(cls, scores, labels, n_labeled):
        """Keep the labels of the first rows of each draw."""
        return cls(scores[:, :n_labeled], labels[:, :n_labeled], scores[:, n_labeled:])

    def __len__(self):
        return len(self.labels)

    def __iter__(self):
        """Yield the labelled scores, labels and pool scores of each draw."""
        return zip(self.scores, self.labels, self.pool, strict=True)

    def take(self, draws):
        """Return some of the draws."""
        return Sample(self.scores[draws], self.labels[draws], self.pool[draws])


@dataclass(frozen=True)
class Cell:
    """The labels of all rows of one system, and the scores of its judges.

    Attributes
    ----------
    data, system, judge : str
    labels : ndarray of shape (n_rows,)
    scores : ndarray of shape (n_rows, n_judges)
    """

    data: str
    system: str
    judge: str
    labels: np.ndarray
    scores: np.ndarray

    @property
    def truth(self):
        """Mean of the labels over all rows."""
        return float(self.labels.mean())

    def draw(self, rng, n_draws, n_labeled, n_pool):
        """Draw rows with replacement."""
        rows = rng.integers(len(self.labels), size=(n_draws, n_labeled + n_pool))
        return self._sample(rows, n_labeled)

    def split(self, rng, n_draws, n_labeled, largest_pool):
        """Label rows without replacement; others of the cell are the pool."""
        n_rows = len(self.labels)
        rows = np.tile(np.arange(n_rows, dtype=np.int32), (n_draws, 1))
        rng.permuted(rows, axis=1, out=rows)
        return self._sample(rows[:, : n_labeled + largest_pool], n_labeled)

    def _sample(self, rows, n_labeled):
        labels = self.labels[rows[:, :n_labeled]]
        return Sample.of(self.scores[rows], labels, n_labeled)


@dataclass(frozen=True)
class RateCell:
    """Labels 0 and 1 with a known rate, and judges of known correlations."""

    data: str
    system: str
    judge: str
    truth: float
    correlations: tuple

    def draw(self, rng, n_draws, n_labeled, n_pool):
        """Draw fresh rows: independent ones, so all draws are made at once."""
        shape = n_draws, n_labeled + n_pool
        X, y = make_judged_pool(
            shape[0] * shape[1],
            None,
            rate=self.truth,
            judge=self.correlations,
            random_state=int(rng.integers(2**32)),
        )
        return Sample.of(X.reshape(*shape, -1), y.reshape(shape), n_labeled)


@dataclass(frozen=True)
class GaussCell:
    """Normal labels with mean 0, and judges of known correlations."""

    data: str
    system: str
    judge: str
    correlations: tuple
    truth: float = 0.0

    def draw(self, rng, n_draws, n_labeled, n_pool):
        """Draw fresh rows."""
        shape = n_draws, n_labeled + n_pool
        latent, seen = _latent(rng, shape, self.correlations)
        return Sample.of(seen, latent, n_labeled)


@dataclass(frozen=True)
class LikertCell:
    """Grades 1 to 5 by people and by a judge: rounded latent scores."""

    data: str
    system: str
    judge: str
    centre: float
    spread: float
    correlations: tuple

    @cached_property
    def truth(self):
        """Expected grade: one more for each bound that is passed."""
        bounds = np.arange(1.5, 5)
        return 1 + float(stats.norm.sf((bounds - self.centre) / self.spread).sum())

    def draw(self, rng, n_draws, n_labeled, n_pool):
        """Draw fresh rows."""
        shape = n_draws, n_labeled + n_pool
        latent, seen = _latent(rng, shape, self.correlations)
        return Sample.of(self._grade(seen), self._grade(latent), n_labeled)

    def _grade(self, latent):
        return np.clip(np.round(self.centre + self.spread * latent), 1, 5)


def _latent(rng, shape, correlations):
    """Return standard normal values, and what each judge sees of them."""
    correlations = np.asarray(correlations)
    latent = rng.normal(size=shape)
    error = rng.normal(size=(*shape, len(correlations)))
    noise = np.sqrt(1 - correlations**2) * error
    return latent, correlations * latent[..., np.newaxis] + noise


def generator(cell, *numbers):
    """Return the random generator of all draws of a setting, whoever runs it."""
    name = f"{cell.data}/{cell.system}/{cell.judge}".encode()
    return np.random.default_rng([zlib.crc32(name), *numbers])


def xstest_cells(folder):
    """Return refusals of three chat models by two judges (XSTest)."""
    table = pl.read_csv(Path(folder) / "xstest_refusal.csv")
    cells = []
    for (model,), rows in table.group_by("model", maintain_order=True):
        labels = _as_float(rows["refusal"].to_numpy())
        for judge in ("judge_gpt4", "judge_string"):
            scores = _as_float(rows[[judge]].to_numpy())
            cells.append(Cell("XSTest", model, judge, labels, scores))
    return cells


def qa_cells(folder):
    """Return correct answers of five systems by two judges (QA-Eval)."""
    return _npz_cells("QA-Eval", folder, "qa_eval_nq.npz", ("lexical_match", "f1"))


def summary_cells(folder):
    """Return the pyramid recall of 24 summarisers by four metrics (REALSumm)."""
    return _npz_cells("REALSumm", folder, "realsumm.npz", METRICS)


def pooled_summary_cells(folder):
    """Return the cells of REALSumm with the rows of all systems together."""
    cells = summary_cells(folder)
    for metric in METRICS:
        of_metric = [cell for cell in cells if cell.judge == metric]
        labels = np.concatenate([cell.labels for cell in of_metric])
        scores = np.concatenate([cell.scores for cell in of_metric])
        yield Cell("REALSumm", "all", metric, labels, scores)


def rate_cells():
    """Return made cells: five rates by four judges."""
    for rate in RATES:
        for judge, correlation in JUDGES.items():
            yield RateCell("made", f"rate {rate}", judge, rate, (correlation,))


def likert_cells():
    """Return made cells: four shapes of grades by three judges."""
    for shape, (centre, spread) in SHAPES.items():
        for judge in ("good", "mediocre", "useless"):
            seen = (JUDGES[judge],)
            yield LikertCell("made grades", shape, judge, centre, spread, seen)


def _npz_cells(data, folder, file, judges):
    with np.load(Path(folder) / file) as arrays:
        cells = []
        for judge in judges:
            for number, system in enumerate(arrays["systems"]):
                labels = _as_float(arrays["human"][number])
                scores = _as_float(arrays[judge][number])[:, np.newaxis]
                cells.append(Cell(data, str(system), judge, labels, scores))
        return cells


def _as_float(values):
    return np.ascontiguousarray(values, dtype=np.float64)
