"""Both jobs on the bundled data, beside the truth."""

from typing import Any

import numpy as np
import polars as pl

import skdiffuse
from skdiffuse.cli import _answers, _embed, _selectors
from skdiffuse.cli._pairs import Pairs


def run(budget: int, labels: int, seed: int, stage: _selectors.Stage) -> dict[str, Any]:
    """Compare the two captioners, then estimate the accuracy of the better one."""
    captions = skdiffuse.datasets.load_digit_captions()
    winner = skdiffuse.metrics.winner
    X = _selectors.vectors(
        "diffuse",
        Pairs(pl.DataFrame(), list(captions.text_a), list(captions.text_b), None),
        _embed.DEFAULT,
        seed,
        stage,
    )
    selector = _selectors.make("diffuse", budget, "ward", "cosine", seed).fit(X)
    selected = selector.selected_indices_
    verdict = _answers.fixed_verdict(captions.preference[selected], len(X), len(X))
    rng = np.random.default_rng(seed)
    random_winners = np.array(
        [
            winner(rng.choice(captions.preference, len(selected), replace=False))
            for _ in range(1000)
        ]
    )
    truth = winner(captions.preference)
    better = "b" if truth < 0 else "a"
    correct, judge = captions[f"correct_{better}"], captions[f"judge_{better}"]
    y = np.full(len(correct), np.nan)
    labeled = rng.choice(len(y), labels, replace=False)
    y[labeled] = correct[labeled]
    return {
        "winner": _answers.name_of(verdict.winner),
        "n_annotations": verdict.n_annotations,
        "n_pool": verdict.n_examples,
        "counts": verdict.counts,
        "full_judgement": _answers.name_of(truth),
        "random_order": _answers.name_of(random_winners[0]),
        "random_order_agrees": float(np.mean(random_winners == truth)),
        "captioner": better.upper(),
        "truth": float(correct.mean()),
        "accuracy": _answers.estimates(
            _answers.Judged(judge[:, np.newaxis], y, ["judge"], {"judge": judge}), 0.95
        ),
    }
