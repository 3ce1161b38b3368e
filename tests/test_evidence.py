"""The numbers of the evidence page are those of the committed results."""

import re
import sys
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evidence.md"
TEXT = PAGE.read_text(encoding="utf-8")
SPEED = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
pytest.importorskip("polars")


@pytest.fixture(scope="module", autouse=True)
def benchmarks():
    sys.path.append(str(ROOT))
    yield import_module("benchmarks")
    sys.path.remove(str(ROOT))


def all_tables(benchmarks):
    tables = {}
    for name in benchmarks.NAMES:
        tables |= import_module(f"benchmarks.{name}").tables()
    return tables


def test_every_table_of_the_pages_is_made_from_the_results(benchmarks):
    documents = import_module("benchmarks.documents")
    tables = all_tables(benchmarks)
    text = TEXT + SPEED
    assert documents.filled(text, tables) == text
    assert set(re.findall(r"<!-- table (\w+) -->", text)) == set(tables)


def test_a_table_that_differs_is_noticed(benchmarks):
    documents = import_module("benchmarks.documents")
    tables = all_tables(benchmarks)
    text = TEXT + SPEED
    wrong = text.replace("| 0.9", "| 0.8", 1)
    assert wrong != text
    assert documents.filled(wrong, tables) == text
    with pytest.raises(ValueError, match="0 tables named nothing"):
        documents.filled(TEXT, {"nothing": tables["large_n"]})


def test_every_picture_of_the_page_is_there():
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert len(pictures) >= 5
    for picture in pictures:
        assert (PAGE.parent / picture).is_file(), picture


def claims(tables, results):
    """Yield sentences of the page with the numbers that the results give."""
    errors = {row["labels"]: row for row in tables["mean_error"].to_dicts()}
    few = [errors[n] for n in (5, 10, 15)]
    worst = max(
        row[name] / row["Ridge plug-in"] for row in few for name in ("eq. 6", "Ridge")
    )
    yield "leave-one-out penalty err up to {:.0f} % more", 100 * (worst - 1)
    saved = max(1 - row["ols"] / row["eq. 6"] for row in errors.values())
    yield "never harms and saves up to {:.0f} %", 100 * saved
    for rival in ("eq. 6", "ppi++ clipped"):
        (row,) = (
            tables["mean_error_worst"]
            .filter(method="Ridge plug-in", against=rival)
            .rows(named=True)
        )
        counts = row["worse by 3 s.e."], row["cells"], row["better by 3 s.e."]
        if rival == "eq. 6":
            yield "clearly worse in {} of {} cells", *counts[:2]
            yield "(by {} % where that is clearest)", row["its loss, %"]
            yield "clearly better in {}. Against", counts[2]
        else:
            yield (
                "clearly worse in {} ({} % where clearest)",
                counts[0],
                row["its loss, %"],
            )
            yield "and better in {}: that", counts[2]
    useless = tables["mean_error_useless"]
    yield (
        "costs the plug-in {:.0f} % at most, and PPI with the weight 1 from {:.0f} to "
        "{:.0f} %",
        100 * (useless["Ridge plug-in"].max() - 1),
        100 * (useless["PPI"].min() - 1),
        100 * (useless["PPI"].max() - 1),
    )
    rates = tables["mean_coverage"]
    ours = rates.filter(method="ols (default)")
    reported = ours.filter(half="reported on")
    yield (
        "least coverage {:.2f}, mean {:.2f}, and {:.0f} % narrower",
        ours["least coverage"].min(),
        reported["mean coverage"].item(),
        100 * (1 - reported["relative width"].item()),
    )
    alone = rates.filter(method="labels alone Wilson")["below 0.93, %"]
    yield "falls below 0.93 in some {:.0f} % of the settings", alone.mean()
    papers = rates.filter(method="ppi-python")
    yield (
        "covers {:.2f} to {:.2f} on average and {:.2f} at worst",
        papers["mean coverage"].min(),
        papers["mean coverage"].max(),
        papers["least coverage"].min(),
    )
    grades = tables["mean_coverage_real_labels"].filter(method="ols (default)")
    yield "it covers {} at worst", grades["least coverage"].min()
    noise = results("many_judges").filter(method="Ridge plug-in", judges="8 of noise")
    yield (
        "The plug-in costs {:.0f} to {:.0f} % where all judges are noise",
        100 * (noise["ratio"].min() - 1),
        100 * (noise["ratio"].max() - 1),
    )
    large = tables["large_n"]
    less = [
        100 * (1 - curve / line)
        for curve, line in zip(
            *(
                large.filter(method=method)["mean ratio of errors"]
                for method in ("Sigmoid", "ols")
            ),
            strict=True,
        )
    ]
    yield "errs {:.0f} to {:.0f} % less on these judges", min(less), max(less)


def claims_of_choosing(tables, results):
    """Yield the same for the last section."""
    needed = results("labels_to_rate").filter(selector="ward cosine", rate=0.85)

    def of_random(data, judge):
        row = needed.row(by_predicate=_is(data=data, judge=judge), named=True)
        return [round(float(row[c]), 2) for c in ("of_random", "low", "high")]

    answers = of_random("qa_eval_nq", "human")
    translations = of_random("wmt23_sxs_zhen", "mqm")
    summaries = of_random("realsumm", "human")
    yield "needs {} of the labels of random examples for answers ({} to {})", *answers
    yield "{} for translations ({} to {})", *translations
    yield "and {} for summaries ({} to {})", *summaries
    yield "no saving is seen ({}, from {} to {})", *of_random("alpaca_eval", "score")
    yield (
        "rate of 0.85: {:.0f} % (answers judged by people), {:.0f} % (translations), "
        "{:.0f} % (summaries)",
        *(100 * (1 - ratio[0]) for ratio in (answers, translations, summaries)),
    )
    gains = results("success_gains")

    def gain(arm):
        return gains.filter(selector=arm)["mean"]

    default = gain("ward cosine")
    assert not (gains.filter(selector="ward cosine")["high"] < 0).any()
    yield "none of the {} judges", len(default)
    yield "the worst is {:.3f}", default.min()
    yield "it is {:.2f} above on average", default.mean()
    for arm, text in (
        ("cosine cosine", " gains as much ({:.3f} on average, {:.3f} at worst)"),
        ("ward random", " ({:.3f}, {:.3f})"),
        ("ward centroid", " ({:.3f}, {:.3f})"),
    ):
        yield f'"{arm}"{text}', gain(arm).mean(), gain(arm).min()
    yield (
        "lose {:.2f} and {:.2f} for F1",
        -gain("ward max_norm").min(),
        -gain("maximum norm").min(),
    )
    five = results("success_curves").filter(data="qa_eval_nq", judge="human", budget=5)
    yield (
        "({:.2f} against {:.2f} on answers judged by people)",
        *(
            five.filter(selector=arm)["mean"].item()
            for arm in ("ward cosine", "random")
        ),
    )
    overall = tables["iterative_overall"]

    def stopped(examples, rule, risk="0.05"):
        return overall.row(
            by_predicate=_is(examples=examples, rule=rule, risk=risk), named=True
        )

    draws, drops = (stopped("ward cosine", f"ties {t}") for t in ("draw", "drop"))
    bold = stopped("ward cosine", "ties drop", "0.2")
    bets = stopped("random", "betting")
    yield "{} of the comparisons are inconclusive", draws["inconclusive"]
    yield (
        "ties dropped it is {} at the same risk, after {} judgements on average "
        "instead of {}, and {} are wrong",
        drops["inconclusive"],
        drops["annotations"],
        draws["annotations"],
        drops["error"],
    )
    assert bold["success"] == drops["success"]
    yield "At risk 0.2 it takes {} judgements", bold["annotations"]
    yield "but the undecided become wrong: {} of all", bold["error"]
    at_random = stopped("random", "ties drop")
    yield "examples take {} judgements under", at_random["annotations"]
    yield "less often, {} against {};", at_random["success"], drops["success"]
    stops = results("iterative")
    of_default = stops.filter(comparison="ward cosine; ties drop; risk 0.05")
    yield "are wrong ({:.2f} on the worst judge)", of_default["error"].max()
    strict = stops.filter(comparison="ward cosine; ties draw; risk 0.05")
    many_ties = strict.filter(strict["data"].is_in(["alpaca_eval", "openqa_nq"]))
    yield "and {:.2f} to all of them where", many_ties["inconclusive"].min()
    assert many_ties["inconclusive"].max() == 1
    betting = stops.filter(comparison="random; betting; risk 0.05")
    yield "no more than {:.3f} of the comparisons of any judge", betting["error"].max()
    yield (
        "but takes {} judgements and leaves {} inconclusive",
        bets["annotations"],
        bets["inconclusive"],
    )
    yield (
        "winning distance is {} on average, that of right ones {}.",
        drops["distance_wrong"],
        drops["distance_right"],
    )
    bins = tables["norm_bins"]

    def fifths(data, judge, share):
        return [
            bins.row(by_predicate=_is(data=data, judge=judge, fifth=f), named=True)[
                share
            ]
            for f in (1, 5)
        ]

    yield (
        "{:.2f} of the examples in the first fifth of the norms and still {:.2f} in",
        *fifths("alpaca_eval", "score", "tie"),
    )
    yield (
        "wins {} of the first fifth and {} of the last",
        *fifths("wmt23_sxs_zhen", "mqm", "winner"),
    )
    yield (
        "wins {} of the small differences and loses {}, but wins {} of the large ones "
        "and loses {}",
        *(
            fifths("qa_eval_nq", "f1", share)[end]
            for end in (0, 1)
            for share in ("winner", "loser")
        ),
    )
    short = gains.filter(data="openqa_nq", judge="f1", selector="ward random")
    yield "gain on short answers ({:.3f} for F1)", short["mean"].item()
    centroid = gains.filter(selector="ward centroid")
    yield (
        "so clearly on {} of 10 judges, and on average on {} of 10; clearly worse "
        "on {}",
        (centroid["low"] > 0).sum(),
        (centroid["mean"] > 0).sum(),
        (centroid["high"] < 0).sum(),
    )
    bias = tables["distance_bias"].filter(budget=20)
    people = bias.filter(bias["judge"].is_in(["human", "mqm"]))["ward cosine"]
    understated = bias.filter(judge="exact_match")["ward cosine"].item()
    yield (
        "({} to {} with 20 labels); under `exact_match` on short answers they "
        "understate it ({})",
        people.min(),
        people.max(),
        understated,
    )
    inputs = gains.filter(data="realsumm", selector="inputs ward centroid")
    yield (
        "summaries by ROUGE ({:.3f}, {:.2f})",
        *(inputs.filter(judge=j)["mean"].item() for j in ("rouge1", "rougeL")),
    )


def claims_of_guarantees(tables, results):
    """Yield the same for what a guarantee costs."""
    promise = import_module("benchmarks.promise")
    cells = promise.with_promises(results("promise"))
    worst = cells.sort("over").row(-1, named=True)
    assert worst["over"] <= 3
    assert cells["runs"].min() >= 5000
    yield (
        "In {} cells the largest share of wrong names beside its promise is {:.3f} "
        "where {} is promised",
        len(cells),
        worst["wrong"],
        worst["promised"],
    )
    labels = results("guarantee_labels")

    def row(data, arm, alpha=0.05):
        return labels.row(by_predicate=_is(data=data, arm=arm, alpha=alpha), named=True)

    def share(data, arm, alpha=0.05):
        found = row(data, arm, alpha)
        return [round(found[c], 2) for c in ("of_base", "low", "high")]

    answers, judged = "qa_eval_nq", "random, judge"
    yield (
        "{} of the judgements of the same rule without it on answers judged by people "
        "at alpha 0.05 ({} to {}) and {} at 0.2 ({} to {})",
        *share(answers, judged),
        *share(answers, judged, 0.2),
    )
    yield "and {} on short answers ({} to {})", *share("openqa_nq", judged)
    yield (
        "{} for summaries, {} for translations, and {} for `alpaca_eval`",
        *(share(d, judged)[0] for d in ("realsumm", "wmt23_sxs_zhen", "alpaca_eval")),
    )
    yield (
        "They need {} of the judgements of random draws on short answers ({} to {})",
        *share("openqa_nq", "weighted"),
    )
    others = [
        share(data, "weighted", alpha)[0]
        for data in ("qa_eval_nq", "realsumm", "wmt23_sxs_zhen", "alpaca_eval")
        for alpha in (0.05, 0.2)
    ]
    yield "from {} to {} of them elsewhere", min(others), max(others)
    both = row("openqa_nq", "weighted, judge")["labels"]
    yield (
        "with a judge too it is {:.2f} there",
        both / row("openqa_nq", "random")["labels"],
    )
    bets, heuristic = row(answers, "random"), row(answers, "heuristic, DiffUse")
    yield (
        "{:.0f} judgements on average for answers judged by people, and {:.2f} of the "
        "comparisons are open at 200",
        bets["labels"],
        bets["open_at_200"],
    )
    yield (
        "ends after {:.0f}, at 200 at the latest, with {:.2f} right, {:.2f} wrong and "
        "{:.2f} open",
        heuristic["labels"],
        heuristic["success"],
        heuristic["error"],
        heuristic["open_at_200"],
    )
    summaries = [row("realsumm", arm) for arm in ("random", "heuristic, DiffUse")]
    yield "For summaries it is {:.0f} against {:.0f}", *(r["labels"] for r in summaries)
    cells = results("winning_distance")
    drawn = cells.filter(cells["arm"] != "one a cluster")
    yield (
        "Biases beyond three Monte-Carlo errors: {} in {} cells of draws (chance gives "
        "{:.0f})",
        (drawn["bias_errors"].abs() > 3).sum(),
        len(drawn),
        0.0027 * len(drawn),
    )
    coverage = drawn["coverage"]
    yield (
        "covers {:.3f} at least and {:.3f} on average, and .93 or more in {:.1f} % of "
        "the cells",
        coverage.min(),
        coverage.mean(),
        100 * (coverage >= 0.93).mean(),
    )
    widths = drawn.group_by("data", "budget", "arm").agg(pl_mean("of_random_width"))
    plain = widths.filter(arm="weighted")["of_random_width"]
    yield "Weighted draws give {:.2f} to {:.2f} of its width", plain.min(), plain.max()
    helped = widths.filter(
        (widths["arm"] == judged) & widths["data"].is_in([answers, "openqa_nq"])
    )["of_random_width"]
    yield (
        "{:.2f} to {:.2f} with the lexical match as a judge",
        helped.min(),
        helped.max(),
    )
    useless = widths.filter(arm=judged, data="alpaca_eval")["of_random_width"]
    yield "and a judge that does not help costs {:.1f} %", 100 * (useless.max() - 1)
    strata = cells.filter(arm="one a cluster")
    yield (
        "is {:.1f} to {:.1f} times as wide (covering {:.3f} at least)",
        strata["of_random_width"].min(),
        strata["of_random_width"].max(),
        strata["coverage"].min(),
    )
    ridge = (
        drawn.filter(arm="random")
        .group_by("data", "budget")
        .agg(pl_mean("predicts"))["predicts"]
    )
    yield "explains {:.2f} to {:.2f} of the preferences", ridge.min(), ridge.max()


def pl_mean(name):
    import polars as pl

    return pl.col(name).mean()


def _is(**values):
    import polars as pl

    return pl.all_horizontal(pl.col(name) == value for name, value in values.items())


# What the text says of the settings, and of what papers say.
SETTINGS = {
    "8",
    "50",
    "42",
    "95",
    ".93",
    "75",
    "450",
    "0.05",
    "0.1",
    "0.2",
    "0.85",
    "0.93",
    "0.95",
    "200",
    "10",
    "20",
    "5",
    "15",
    "30",
    "1",
    "6",
    "3",
    "0",
    "40",
}


def test_every_number_of_the_prose_is_made_from_the_results(benchmarks):
    results = import_module("benchmarks.tables")
    runs = import_module("benchmarks.runs")

    def read(name):
        single = name in ("many_judges", "promise")
        return runs.read(name) if single else results.of_all(name)

    tables = all_tables(benchmarks)
    prose = " ".join(TEXT.split())
    backed = set()
    for text, *numbers in [
        *claims(tables, read),
        *claims_of_choosing(tables, read),
        *claims_of_guarantees(tables, read),
    ]:
        sentence = text.format(*numbers)
        assert sentence in prose, sentence
        backed |= set(re.findall(r"\d[\d.]*\d|\d", sentence))
    findings = re.findall(r"What it says.*?(?=\n## |\Z)", TEXT, flags=re.DOTALL)
    assert len(findings) >= 5
    stated = {n for part in findings for n in _numbers(part)}
    assert stated <= backed | SETTINGS, sorted(stated - backed - SETTINGS)


def _numbers(part):
    part = re.sub(r"<!-- table.*?<!-- end \w+ -->", "", part, flags=re.DOTALL)
    part = re.sub(r"`[^`]*`|\]\([^)]*\)|eq\. 6|F1", "", part)
    return re.findall(r"(?<![\w.])\d[\d.]*\d|(?<![\w.])\d", part)


def test_the_readme_says_how_often_the_default_is_wrong(benchmarks):
    table = import_module("benchmarks.tables").of_all("iterative")
    default = table.filter(comparison="ward cosine; ties drop; risk 0.05")
    wrong, nobody = (default[name].mean() for name in ("error", "inconclusive"))
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert f"named the worse one in {100 * wrong:.0f} % of the" in readme
    assert f"and nobody in {100 * nobody:.0f} % (" in readme
