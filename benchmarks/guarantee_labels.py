"""What a guarantee costs, and what a judge and weighted draws save of it.

The betting rule in random order and in weighted draws, each with and without a cheap
judge, run to a decision or to the last example, with the heuristic rule beside it. From
each pair of systems 80 % of the examples are drawn again and again.

    python -m benchmarks.guarantee_labels --data FILE.npz [--pairs 45] [--repeats 10]

The table goes to `benchmarks/results/guarantee_labels_DATA.csv`, and that of all data
sets so far into `docs/evidence.md`. `--quick` takes few pairs and draws and writes
nothing; `--summary-only` makes the tables from the files.
"""

import numpy as np
import polars as pl

from benchmarks import options
from benchmarks.documents import fill
from benchmarks.pairs import make, of_each
from benchmarks.tables import of_all, rounded, with_ends
from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    HypergeometricRule,
    NormSelector,
    PreferenceComparison,
    RandomSelector,
)
from skdiffuse.metrics import winner

NAME, NEEDS_DATA = "guarantee_labels", True
ALPHAS = (0.05, 0.2)
MOST = 200
DRAWN = {
    "random": RandomSelector(),
    "weighted": NormSelector(probability=True),
}
HEURISTICS = {
    "heuristic, random": RandomSelector(),
    "heuristic, DiffUse": DiffUseSelector(),
}
ARMS = (
    "random",
    "random, judge",
    "weighted",
    "weighted, judge",
    *HEURISTICS,
)


def study(pairs, chosen):
    """Return labels and verdicts, a record for each pair, arm and alpha."""
    return of_each(of_pair, pairs, chosen.repeats, chosen.jobs)


def of_pair(number, name, X, y, predicted, repeats):
    """Return the means over the draws of a pair."""
    records = {}
    for repeat in range(repeats):
        rng = np.random.default_rng([number, repeat])
        rows = np.sort(rng.permutation(len(y))[: int(0.8 * len(y))])
        seed = int(rng.integers(2**31))
        for arm, alpha, labels, named in verdicts(
            X[rows], y[rows], predicted[rows], seed
        ):
            truth = winner(y[rows])
            record = records.setdefault((arm, alpha), [])
            right = named != 0 and named == truth
            record.append((labels, right, named != 0 and not right, labels > MOST))
    return [
        {
            "pair": name,
            "arm": arm,
            "alpha": alpha,
            **dict(
                zip(
                    ("labels", "success", "error", "open_at_200"),
                    np.mean(values, axis=0).tolist(),
                    strict=True,
                )
            ),
        }
        for (arm, alpha), values in records.items()
    ]


def verdicts(X, y, predicted, seed):
    """Yield arm, alpha, number of labels and whom it names."""
    norms = np.linalg.norm(X.astype(np.float64), axis=1, keepdims=True)
    for arm, selector in DRAWN.items():
        for judged in (False, True):
            selector.set_params(random_state=seed)
            # The draws look at the norms alone.
            comparison = PreferenceComparison(
                selector, BettingRule(min(ALPHAS)), 1, len(y)
            ).start(norms, judge=predicted if judged else None)
            answer(comparison, y)
            for alpha in ALPHAS:
                below = np.flatnonzero(comparison.path_["risk"] < alpha)
                labels = below[0] + 1 if len(below) else len(y)
                seen = comparison.verdict_.preferences[:labels]
                rule = comparison.stopping_rule_
                named = rule.assess(seen, len(y)).leader if len(below) else winner(y)
                yield f"{arm}, judge" if judged else arm, alpha, labels, named
    for arm, selector in HEURISTICS.items():
        selector.set_params(random_state=seed)
        for alpha in ALPHAS:
            comparison = PreferenceComparison(
                selector, HypergeometricRule(alpha), max_annotations=MOST
            ).start(X)
            answer(comparison, y)
            labels = comparison.n_annotations_
            # Beyond the budget, so that what is open at 200 counts as such.
            labels += comparison.winner_ == 0
            yield arm, alpha, labels, comparison.winner_


def answer(comparison, y):
    """Answer until the comparison ends."""
    order = comparison.ask(len(y))
    comparison.tell(order, y[order])


def writing(rows):
    """Return the table that is written: means over the pairs, with their ratios."""
    table = pl.DataFrame(rows)
    records = []
    for (judge, alpha, arm), part in table.group_by(
        "judge", "alpha", "arm", maintain_order=True
    ):
        base = "random" if arm in ("random, judge", "weighted") else arm.split(",")[0]
        base = table.filter((pl.col("arm") == base) & (pl.col("alpha") == alpha))
        record = {"judge": judge, "alpha": alpha, "arm": arm, "n": len(part)}
        for column in ("labels", "success", "error", "open_at_200"):
            record[column] = float(part[column].mean())
        if len(base):
            record |= ratio(part["labels"].to_numpy(), base["labels"].to_numpy())
        records.append(record)
    return {NAME: rounded(records)}


def ratio(labels, base):
    """Return the ratio of two means over the pairs, with a bootstrap interval."""
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(labels), size=(2000, len(labels)))
    ratios = labels[drawn].mean(axis=1) / base[drawn].mean(axis=1)
    low, high = np.quantile(ratios, [0.025, 0.975])
    return {"of_base": labels.mean() / base.mean(), "low": low, "high": high}


def tables():
    """Return the tables of the documents by their names."""
    table = of_all(NAME)
    cell = pl.format(
        "{} ({} / {} / {})",
        pl.col("labels").round(0).cast(int),
        *(pl.col(c).round(2) for c in ("success", "error", "open_at_200")),
    )
    shown = table.with_columns(cell=cell).pivot(
        "arm", index=["data", "judge", "alpha"], values="cell"
    )
    saved = table.filter(pl.col("arm").is_in(ARMS[1:4])).with_columns(
        share=with_ends("of_base", "low", "high", 2)
    )
    return {
        NAME: shown.select("data", "judge", "alpha", *ARMS),
        "guarantee_saved": saved.pivot(
            "arm", index=["data", "judge", "alpha"], values="share"
        ).select("data", "judge", "alpha", *ARMS[1:4]),
    }


def main(arguments=None):
    parse = options.parser(__doc__, "the file, or a folder of several")
    parse.add_argument(
        "--pairs", type=options.positive, default=45, help="at most so many"
    )
    parse.add_argument("--repeats", type=options.positive, default=10)
    chosen = options.parse(parse, arguments, pairs=2, repeats=1)
    if make(NAME, chosen, study, writing):
        fill(tables())


if __name__ == "__main__":
    main()
