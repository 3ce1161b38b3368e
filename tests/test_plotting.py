"""The artists of each display have the numbers of the object that is drawn."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex, to_rgb
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline

from skdiffuse import (
    BettingRule,
    DiffUseSelector,
    FixedBudget,
    HypergeometricRule,
    NormSelector,
    PPIMeanEstimator,
    PreferenceComparison,
    RandomSelector,
    RidgePPIMeanEstimator,
    SigmoidPPIMeanEstimator,
)
from skdiffuse.comparison import Assessment, StoppingRule
from skdiffuse.datasets import make_judged_pool, make_preference_pool
from skdiffuse.evaluation import (
    distance_bias,
    norm_agreement,
    success_curve,
    summarise,
)
from skdiffuse.plotting import (
    BudgetCurveDisplay,
    CalibrationDisplay,
    DecisionPathDisplay,
    MeanComparisonDisplay,
    NormAgreementDisplay,
    SelectionMapDisplay,
)
from skdiffuse.ppi._intervals import wilson_interval

X, y = make_preference_pool(120, 5, identical_rate=0.1, random_state=0)
JUDGED, LABELS = make_judged_pool(300, 40, judge=[0.9, 0.5], random_state=0)
PAIRS = [
    (f"pair {seed}", *make_preference_pool(60, 4, random_state=seed))
    for seed in range(3)
]
SELECTORS = {"diffuse": DiffUseSelector(), "random": RandomSelector()}
ROWS = success_curve(SELECTORS, PAIRS, budgets=[20, 5], n_repeats=2)
NORMS = norm_agreement(PAIRS, n_bins=6)


@pytest.fixture
def comparison():
    return PreferenceComparison().fit(X, y)


def drawn(display):
    """Render it, so that what is wrong in an artist comes out."""
    display.figure_.canvas.draw()
    return display


def offsets(scatter):
    return np.asarray(scatter.get_offsets())


def ends_of(errorbar):
    """Return the ends of the bars of an ErrorbarContainer."""
    return np.array(errorbar[2][0].get_segments())


# What all have in common


def examples():
    fitted = {"PPI": PPIMeanEstimator().fit(JUDGED, LABELS)}
    yield SelectionMapDisplay.from_estimator, (DiffUseSelector(5).fit(X), X)
    yield DecisionPathDisplay.from_estimator, (PreferenceComparison().fit(X, y),)
    yield BudgetCurveDisplay.from_results, (ROWS,)
    yield NormAgreementDisplay.from_results, (NORMS,)
    yield MeanComparisonDisplay.from_estimators, (fitted,)
    yield CalibrationDisplay.from_estimator, (fitted["PPI"], JUDGED, LABELS)


EXAMPLES = list(examples())
NAMES = [make.__self__.__name__ for make, _ in EXAMPLES]


@pytest.mark.parametrize(("make", "arguments"), EXAMPLES, ids=NAMES)
@pytest.mark.parametrize("style", ["default", "dark_background"])
def test_draws_in_light_and_dark(make, arguments, style):
    with plt.style.context(style):
        display = drawn(make(*arguments))
    # Nothing is written outside of the figure.
    written = display.figure_.get_tightbbox()
    width, height = display.figure_.get_size_inches()
    assert min(written.x0, written.y0) > -0.01
    assert written.x1 < width + 0.01
    assert written.y1 < height + 0.01


@pytest.mark.parametrize(("make", "arguments"), EXAMPLES, ids=NAMES)
def test_own_axes_and_again(make, arguments):
    figure, ax = plt.subplots()
    display = make(*arguments, ax=ax)
    assert display.figure_ is figure
    again = display.plot()
    assert again is display
    assert display.figure_ is not figure


@pytest.mark.parametrize(("make", "arguments"), EXAMPLES, ids=NAMES)
def test_refuses_what_is_no_axes(make, arguments):
    with pytest.raises(ValueError, match=r"ax of .*plot is a str; pass matplotlib"):
        make(*arguments, ax="axes")
    assert not plt.get_fignums()


@pytest.mark.parametrize(("make", "arguments"), EXAMPLES, ids=NAMES)
def test_says_what_to_install(make, arguments, monkeypatch):
    display = make(*arguments)
    for name in [name for name in sys.modules if name.startswith("matplotlib")]:
        monkeypatch.setitem(sys.modules, name, None)
    for call in (lambda: make(*arguments), display.plot):
        with pytest.raises(ImportError, match=r"pip install 'skdiffuse\[plot\]'"):
            call()


def test_importing_does_not_import_matplotlib():
    code = (
        "import sys, skdiffuse, skdiffuse.plotting; "
        "sys.exit(any(name.startswith('matplotlib') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Maps of selections


def test_map_of_clusters():
    selector = DiffUseSelector(9).fit(X)
    display = drawn(SelectionMapDisplay.from_estimator(selector, X))
    places = PCA(2).fit_transform(X)
    chosen = selector.selected_indices_
    np.testing.assert_allclose(offsets(display.scatter_), places, atol=1e-9)
    np.testing.assert_allclose(
        offsets(display.selected_scatter_), places[chosen], atol=1e-9
    )
    sizes = np.bincount(selector.labels_)
    np.testing.assert_array_equal(display.cluster_sizes_, sizes)
    areas = display.selected_scatter_.get_sizes()
    np.testing.assert_array_equal(np.argsort(areas), np.argsort(sizes))
    assert (np.diff(areas[np.argsort(sizes)]) > 0).sum() == len(set(sizes)) - 1
    # A representative has the colour of its cluster.
    of_rows = display.scatter_.get_facecolors()[:, :3]
    of_chosen = display.selected_scatter_.get_facecolors()[:, :3]
    np.testing.assert_array_equal(of_rows, of_chosen[selector.labels_])
    shares = PCA(2).fit(X).explained_variance_ratio_
    np.testing.assert_allclose(display.variance_shares, shares)
    assert f"({100 * shares[0]:.0f} % of" in display.ax_.get_xlabel()
    zero = np.flatnonzero(~X.any(axis=1))
    place = np.ravel(display.origin_.get_data())
    np.testing.assert_allclose(place, places[zero[0]], atol=1e-9)
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert f"equal outputs ({len(zero)} rows)" in texts
    assert f"selected, for {sizes.max()} rows" in texts
    assert len(texts) <= 4


@pytest.mark.parametrize(
    "selector",
    [RandomSelector(7, random_state=0), NormSelector(7), NormSelector(200)],
    ids=repr,
)
def test_map_without_clusters(selector):
    selector.fit(X)
    display = drawn(SelectionMapDisplay.from_estimator(selector, X))
    assert display.cluster_sizes_ is None
    assert len(offsets(display.selected_scatter_)) == selector.n_selected_
    assert len(set(display.selected_scatter_.get_sizes())) == 1


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((4, 3)),
        np.ones((1, 3)),
        [[1.0], [2.0], [5.0]],
        np.repeat([[1.0, 2.0]], 5, axis=0),
        1e200 * X,
        np.float32(X),
    ],
    ids=["zeros", "one row", "one feature", "equal rows", "huge", "single precision"],
)
def test_map_of_odd_vectors(vectors):
    selector = DiffUseSelector(3).fit(vectors)
    display = drawn(SelectionMapDisplay.from_estimator(selector, vectors))
    assert np.isfinite(display.points).all()
    assert np.isfinite(display.variance_shares).all()


def test_map_from_data():
    labels = np.array(list("aab"))
    display = SelectionMapDisplay.from_data(
        [[0.0, 1.0], [0.0, 2.0], [3.0, 0.0]], [2, 0], labels=labels, color="red", s=3
    )
    np.testing.assert_array_equal(display.selected_indices, [0, 2])
    np.testing.assert_array_equal(display.cluster_sizes_, [2, 1])
    assert to_hex(display.scatter_.get_facecolors()[0]) == "#ff0000"
    assert display.scatter_.get_sizes() == [3]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: (RandomSelector(), X), "not fitted"),
        (lambda: (RandomSelector().fit(X), X[:50]), "50 rows, but the selector"),
        (lambda: (NormSelector(5).fit(X), X[::-1]), "is not what the selector was"),
        (lambda: (RandomSelector().fit(X), X[:, :2]), "features"),
        (lambda: (LinearRegression().fit(X, y), X), "no selected_indices_"),
        (lambda: (RandomSelector().fit(X), np.where(X > 3, np.nan, X)), "NaN"),
    ],
)
def test_map_refuses(call, message):
    with pytest.raises(ValueError, match=message):
        SelectionMapDisplay.from_estimator(*call())
    assert not plt.get_fignums()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, [500], None), "selected_indices"),
        ((X, [0], [1, 2]), r"labels has shape \(2,\), but X has 120 rows"),
    ],
)
def test_map_of_data_refuses(arguments, message):
    vectors, rows, labels = arguments
    with pytest.raises(ValueError, match=message):
        SelectionMapDisplay.from_data(vectors, rows, labels=labels)


# Paths of comparisons


@pytest.mark.parametrize("rule", [HypergeometricRule(0.02), BettingRule(0.1)], ids=repr)
def test_path(rule):
    comparison = PreferenceComparison(RandomSelector(random_state=0), rule).fit(X, y)
    display = drawn(DecisionPathDisplay.from_estimator(comparison))
    path = comparison.path_
    for side, line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), path["n_annotations"])
        np.testing.assert_array_equal(line.get_ydata(), path[side])
    np.testing.assert_array_equal(display.risk_line_.get_ydata(), path["risk"])
    expected = rule.risk if hasattr(rule, "risk") else rule.alpha
    assert display.threshold_line_.get_ydata()[0] == expected
    assert display.first_look_line_.get_xdata()[0] == comparison.min_annotations
    title = display.ax_.get_title()
    assert comparison.verdict_.headline in title
    assert comparison.verdict_.details["status"] in title
    assert f"{comparison.n_annotations_} of 120 examples" in title
    low, high = display.risk_ax_.get_ylim()
    assert low < expected < 1 < high
    assert display.ax_.get_xlim() == display.risk_ax_.get_xlim()


def test_path_marks_who_is_named(comparison):
    display = DecisionPathDisplay.from_estimator(comparison)
    side = {1: "A", -1: "B"}[comparison.winner_]
    count = comparison.path_[side][-1]
    assert display.end_.get_xydata().tolist() == [[comparison.n_annotations_, count]]
    assert display.end_.get_label() == f"{side} is named"
    mirrored = PreferenceComparison().fit(X, -y)
    display = DecisionPathDisplay.from_estimator(mirrored)
    assert display.end_.get_label() == f"{'B' if side == 'A' else 'A'} is named"


def test_path_without_a_risk():
    budget = PreferenceComparison(RandomSelector(random_state=0), FixedBudget(), 5, 20)
    display = drawn(DecisionPathDisplay.from_estimator(budget.fit(X, y)))
    assert display.risk_ax_ is None
    assert display.risk_line_ is None
    assert "the budget is spent" in display.ax_.get_title()
    # When every example is judged there is one risk, of zero.
    everything = budget.set_params(max_annotations=120).fit(X, y)
    display = drawn(DecisionPathDisplay.from_estimator(everything))
    assert display.risk_ax_ is None
    assert "every example is judged" in display.ax_.get_title()


def test_path_of_one_annotation():
    comparison = PreferenceComparison().start(X)
    comparison.tell(comparison.ask(), [1])
    display = drawn(DecisionPathDisplay.from_estimator(comparison))
    assert list(display.lines_) == ["A", "B"]
    assert display.lines_["A"].get_xydata().tolist() == [[1, 1]]
    assert display.end_ is None
    assert display.first_look_line_ is None
    assert display.ax_.get_title().startswith("Not decided yet.")


def test_path_down_to_a_risk_of_zero():
    comparison = PreferenceComparison(min_annotations=10).fit(X[:10], np.ones(10))
    display = drawn(DecisionPathDisplay.from_estimator(comparison))
    assert display.risk_line_.get_ydata()[-1] == 0
    assert comparison.termination_condition_ == "all_annotated"


def test_path_of_only_ties():
    comparison = PreferenceComparison(min_annotations=3).fit(X[:8], np.zeros(8))
    display = drawn(DecisionPathDisplay.from_estimator(comparison))
    assert display.lines_["tie"].get_ydata()[-1] == 8
    assert display.ax_.get_title().startswith("Neither is better.")


class LeadRule(StoppingRule):
    """A rule without a number for its risk."""

    def assess(self, preferences, n_examples):
        ahead = int(preferences.sum())
        risk = None if len(preferences) < 3 else 1 / len(preferences)
        return Assessment(int(np.sign(ahead)), risk, abs(ahead) >= 5)


def test_path_of_a_rule_without_a_threshold():
    comparison = PreferenceComparison(stopping_rule=LeadRule()).fit(X, y)
    display = drawn(DecisionPathDisplay.from_estimator(comparison))
    assert display.threshold_line_ is None
    assert np.isnan(display.risk_line_.get_ydata()[:2]).all()


def test_path_on_two_axes_and_with_a_style(comparison):
    _, (above, below) = plt.subplots(2)
    display = DecisionPathDisplay.from_estimator(comparison, ax=[above, below], lw=4)
    assert display.ax_ is above
    assert display.risk_ax_ is below
    assert {line.get_linewidth() for line in display.lines_.values()} == {4}
    with pytest.raises(ValueError, match="holds 3 Axes; pass one, or two"):
        display.plot(ax=[above, below, above])


def test_path_refuses():
    with pytest.raises(NotFittedError, match="has no path yet; call fit"):
        DecisionPathDisplay.from_estimator(PreferenceComparison())
    with pytest.raises(ValueError, match="no answer that counts yet"):
        DecisionPathDisplay.from_estimator(PreferenceComparison().start(X))
    with pytest.raises(ValueError, match="comparison is a Pipeline"):
        DecisionPathDisplay.from_estimator(make_pipeline(PreferenceComparison()))
    assert not plt.get_fignums()


# Curves of studies


def test_budget_curve():
    display = drawn(BudgetCurveDisplay.from_results(ROWS, confidence_level=0.8))
    summary = summarise(ROWS, by=["selector", "budget"], confidence_level=0.8)
    for name in SELECTORS:
        rows = [row for row in summary if row["selector"] == name]
        rows.sort(key=lambda row: row["budget"])
        line = display.lines_[name]
        np.testing.assert_array_equal(line.get_xdata(), [5, 20])
        np.testing.assert_array_equal(line.get_ydata(), [r["mean"] for r in rows])
        assert line.get_label() == name
        corners = display.bands_[name].get_paths()[0].vertices
        for row in rows:
            heights = corners[corners[:, 0] == row["budget"], 1]
            assert heights.min() == row["low"]
            assert heights.max() == row["high"]
    assert display.ax_.get_title() == "shaded: 80 % interval over 3 pairs"
    assert display.ax_.get_xlabel() == "budget (judged examples)"
    assert display.chance_line_.get_ydata()[0] == 0.5


def test_budget_curve_of_one_pair_has_the_error_of_its_draws():
    rows = success_curve(SELECTORS, PAIRS[:1], budgets=[10], n_repeats=4)
    display = drawn(BudgetCurveDisplay.from_results(rows))
    curve = display.curves["random"]
    mean = next(row["success"] for row in rows if row["selector"] == "random")
    expected = wilson_interval(mean, 4, 0.95, "two-sided")
    assert (curve["low"][0], curve["high"][0]) == expected


def test_budget_curve_of_a_summary_and_of_frames():
    bias = distance_bias(SELECTORS, PAIRS, budgets=[5, 20], n_repeats=2)
    display = BudgetCurveDisplay.from_results(bias, score_name="bias")
    np.testing.assert_array_equal(
        display.lines_["random"].get_ydata(),
        [row["mean"] for row in bias if row["selector"] == "random"],
    )
    assert display.chance_line_ is None
    assert display.ax_.get_ylabel() == "bias"
    frame = BudgetCurveDisplay.from_results(pd.DataFrame(ROWS))
    listed = BudgetCurveDisplay.from_results(iter(ROWS))
    for name, line in frame.lines_.items():
        np.testing.assert_array_equal(line.get_ydata(), listed.lines_[name].get_ydata())


def test_many_selectors_are_told_apart():
    rows = [row | {"selector": f"number {i}"} for i in range(12) for row in ROWS[:2]]
    display = drawn(BudgetCurveDisplay.from_results(rows))
    looks = {(i.get_color(), i.get_linestyle()) for i in display.lines_.values()}
    assert len(looks) == 12


def test_equal_curves_are_both_seen():
    rows = [row | {"selector": name} for name in "ab" for row in ROWS[:2]]
    first, second = BudgetCurveDisplay.from_results(rows).lines_.values()
    assert first.get_markersize() > second.get_markersize()
    assert first.get_linestyle() != second.get_linestyle()


@pytest.mark.parametrize(
    ("display", "results", "message"),
    [
        (BudgetCurveDisplay, [], "results is empty; pass the rows of success_curve"),
        (BudgetCurveDisplay, [{"budget": 1}], "row 0 of results has no column 'pair'"),
        (BudgetCurveDisplay, NORMS, "no column 'selector'"),
        (BudgetCurveDisplay, "rows", "a str that holds no dictionaries"),
        (BudgetCurveDisplay, 3, "a int that holds no dictionaries"),
        (
            BudgetCurveDisplay,
            2 * summarise(ROWS, by=["selector", "budget"]),
            "two rows of the selector 'diffuse' and the budget",
        ),
        (NormAgreementDisplay, [], "results is empty; pass the rows of norm_agree"),
        (NormAgreementDisplay, ROWS, "no column 'bin'"),
        (NormAgreementDisplay, NORMS[:-1], "between 5 and 6 bins"),
    ],
)
def test_curves_refuse(display, results, message):
    with pytest.raises(ValueError, match=message):
        display.from_results(results)
    assert not plt.get_fignums()


def test_norm_agreement():
    display = drawn(NormAgreementDisplay.from_results(NORMS))
    np.testing.assert_allclose(display.percentiles, 100 * (np.arange(6) + 0.5) / 6)
    total = 0
    for name, line in display.lines_.items():
        means = [
            np.mean([row[name] for row in NORMS if row["bin"] == number])
            for number in range(6)
        ]
        np.testing.assert_allclose(line.get_ydata(), means)
        np.testing.assert_array_equal(line.get_xdata(), display.percentiles)
        total = total + line.get_ydata()
    np.testing.assert_allclose(total, 1)
    assert display.n_pairs == 3


def test_norm_agreement_of_one_pair():
    rows = norm_agreement(PAIRS[:1], n_bins=4)
    display = drawn(NormAgreementDisplay.from_results(rows[::-1], confidence_level=0.9))
    for name, line in display.lines_.items():
        assert line.get_ydata().tolist() == [row[name] for row in rows]
    ends = wilson_interval(rows[0]["tie"], rows[0]["n_examples"], 0.9, "two-sided")
    tie = display.shares["tie"]
    assert (tie["low"][0], tie["high"][0]) == ends


# Means


FITTED = {
    "PPI": PPIMeanEstimator().fit(JUDGED, LABELS),
    "ridge": RidgePPIMeanEstimator(penalty="plugin").fit(JUDGED, LABELS),
    "sigmoid": SigmoidPPIMeanEstimator(Cs=[0, 1]).fit(JUDGED, LABELS),
}


def test_means():
    display = drawn(
        MeanComparisonDisplay.from_estimators(FITTED, confidence_level=0.9, truth=0.4)
    )
    alone = PPIMeanEstimator(0.0).fit(JUDGED, LABELS)
    for name, estimator in {"labels alone": alone, **FITTED}.items():
        bar = display.errorbars_[name]
        assert bar[0].get_xdata() == [estimator.mean_]
        low, high = estimator.confidence_interval(0.9)
        np.testing.assert_allclose(ends_of(bar)[0, :, 0], [low, high])
        assert display.texts_[name].get_text() == f"width {high - low:.3g}"
    for column in range(2):
        bar = display.errorbars_[f"judge {column} alone"]
        np.testing.assert_allclose(
            bar[0].get_xdata()[0], FITTED["PPI"].judge_mean_[column]
        )
        assert not bar[2]
        assert display.texts_[f"judge {column} alone"].get_text() == "no interval"
    assert len(display.errorbars_) == 6
    names = [label.get_text() for label in display.ax_.get_yticklabels()]
    assert names == list(display.errorbars_)
    assert display.truth_line_.get_xdata()[0] == 0.4
    assert display.ax_.get_xlabel() == "mean (90 % interval)"
    # The first one stands on top.
    bottom, top = display.ax_.get_ylim()
    assert bottom > top


@pytest.mark.parametrize("design", ["weights", "groups"])
def test_labels_alone_have_the_design_of_the_estimators(design):
    rng = np.random.default_rng(0)
    known = {
        "weights": {"sample_weight": rng.uniform(1, 3, size=len(LABELS))},
        "groups": {"groups": rng.integers(60, size=len(LABELS))},
    }[design]
    fitted = {"PPI": PPIMeanEstimator().fit(JUDGED, LABELS, **known)}
    display = MeanComparisonDisplay.from_estimators(fitted, method="t")
    alone = PPIMeanEstimator(0.0).fit(JUDGED, LABELS, **known)
    np.testing.assert_allclose(display.means[0], alone.mean_)
    ends = (display.lows[0], display.highs[0])
    np.testing.assert_allclose(ends, alone.confidence_interval(method="t"), rtol=1e-6)


def test_judges_have_their_names_and_other_scales_are_left_out():
    frame = pd.DataFrame({"llm": JUDGED[:, 0], "length": 500 * JUDGED[:, 1]})
    fitted = {"PPI": PPIMeanEstimator().fit(frame, LABELS)}
    display = MeanComparisonDisplay.from_estimators(fitted)
    assert display.names == ["labels alone", "llm alone", "PPI"]
    bare = MeanComparisonDisplay.from_estimators(fitted, baselines=False)
    assert bare.names == ["PPI"]
    assert bare.n_baselines == 0


def test_mean_of_graded_labels_in_a_range():
    grades = np.where(np.isnan(LABELS), np.nan, 1 + np.arange(300) % 5)
    fitted = {"PPI": PPIMeanEstimator().fit(JUDGED, grades)}
    display = MeanComparisonDisplay.from_estimators(fitted, label_range=(1, 5))
    ends = (display.lows[-1], display.highs[-1])
    assert ends == fitted["PPI"].confidence_interval(label_range=(1, 5))


def test_a_mean_outside_of_its_interval_is_drawn():
    display = MeanComparisonDisplay(
        names=["one"], means=np.array([1.02]), lows=np.array([0.8]), highs=np.ones(1)
    ).plot(fmt="s")
    drawn(display)
    assert display.errorbars_["one"][0].get_marker() == "s"


@pytest.mark.parametrize(
    ("estimators", "options", "message"),
    [
        ({}, {}, "pass a dictionary of fitted estimators"),
        ([FITTED["PPI"]], {}, "pass a dictionary of fitted estimators"),
        ({"PPI": PPIMeanEstimator()}, {}, r"estimators\['PPI'\] is not fitted"),
        ({"ols": LinearRegression()}, {}, "pass a fitted estimator of means"),
        (FITTED, {"truth": np.nan}, "truth=nan is not a finite number"),
        ({"labels alone": FITTED["PPI"]}, {}, "is the name of a baseline"),
        (FITTED, {"label_range": (0, 0.5)}, "label_range"),
        (FITTED, {"confidence_level": 95}, "confidence_level"),
        (
            FITTED | {"other": PPIMeanEstimator().fit(JUDGED, 1 - LABELS)},
            {},
            "fitted on other labels than the first one",
        ),
        (
            {"one": PPIMeanEstimator().fit(JUDGED[:9], [3] + 8 * [np.nan])},
            {"baselines": False},
            "'one': y has a single label",
        ),
    ],
)
def test_means_refuse(estimators, options, message):
    with pytest.raises(ValueError, match=message):
        MeanComparisonDisplay.from_estimators(estimators, **options)
    assert not plt.get_fignums()


# Calibration


def test_calibration():
    estimator = FITTED["PPI"]
    display = drawn(CalibrationDisplay.from_estimator(estimator, JUDGED, LABELS))
    labeled = ~np.isnan(LABELS)
    g, h = estimator.predict(JUDGED)[labeled], LABELS[labeled]
    order = np.argsort(g)
    bins = np.array_split(order, 5)
    x, means = display.errorbar_[0].get_data()
    np.testing.assert_allclose(x, [g[rows].mean() for rows in bins])
    np.testing.assert_allclose(means, [h[rows].mean() for rows in bins])
    ends = ends_of(display.errorbar_)[:, :, 1]
    for rows, interval in zip(bins, ends, strict=True):
        expected = wilson_interval(h[rows].mean(), len(rows), 0.95, "two-sided")
        np.testing.assert_allclose(interval, expected)
    places = offsets(display.scatter_)
    np.testing.assert_array_equal(places[:, 0], g)
    moved = np.abs(places[:, 1] - h)
    assert 0 < moved.max() <= 0.05
    still = display.plot(jitter=False)
    np.testing.assert_array_equal(offsets(still.scatter_)[:, 1], h)
    start, end = display.line_.get_xydata()
    assert start[0] == start[1] == min(g.min(), 0)
    assert end[0] == end[1] == max(g.max(), 1)


def test_calibration_of_other_labels_takes_students_t():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=60)
    labels = scores + rng.normal(size=60)
    display = drawn(CalibrationDisplay.from_data(scores, labels, n_bins=3))
    lowest = labels[np.argsort(scores)[:20]]
    expected = PPIMeanEstimator(0.0).fit(np.zeros((20, 1)), lowest)
    ends = (display.bins["low"][0], display.bins["high"][0])
    np.testing.assert_allclose(ends, expected.confidence_interval(method="t"))
    # Where labels differ anyway they stay where they are.
    np.testing.assert_array_equal(offsets(display.scatter_)[:, 1], labels)


def test_calibration_keeps_equal_predictions_together():
    scores, labels = make_judged_pool(200, 50, scores="binary", random_state=0)
    display = drawn(CalibrationDisplay.from_data(scores[:, 0], labels, n_bins=10))
    assert display.bins["prediction"].tolist() == [0, 1]
    assert display.bins["n_labels"].sum() == 50


def test_calibration_with_weights():
    h = np.array([0.0, 1.0, 1.0, 0.0])
    display = CalibrationDisplay.from_data(
        [0.1, 0.2, 0.8, 0.9], h, sample_weight=[1, 3, 1, 1], n_bins=2
    )
    np.testing.assert_allclose(display.bins["label"], [0.75, 0.5])
    np.testing.assert_allclose(display.bins["prediction"], [0.175, 0.85])


@pytest.mark.parametrize("labels", [[1.0], [2.5], [2.5, 2.5, 2.5], [0, 1]])
def test_calibration_of_few_labels(labels):
    display = drawn(CalibrationDisplay.from_data(np.full(len(labels), 0.5), labels))
    assert display.bins["n_labels"].tolist() == [len(labels)]
    has_interval = np.isfinite(display.bins["low"])
    assert has_interval == (labels != [2.5])


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        ("from_estimator", (PPIMeanEstimator(), JUDGED, LABELS), "not fitted"),
        ("from_estimator", (RandomSelector(), JUDGED, LABELS), "predicts nothing"),
        ("from_estimator", (FITTED["PPI"], JUDGED, LABELS[:9]), "9 rows"),
        ("from_estimator", (FITTED["PPI"], JUDGED[:, :1], LABELS), "features"),
        ("from_data", ([0.5, 0.5], [np.nan, np.nan]), "y has no label"),
        ("from_data", ([0.5, np.nan], [1, 0]), "row 1"),
        ("from_data", ([[0.5]], [1]), r"shape \(1, 1\)"),
    ],
)
def test_calibration_refuses(make, arguments, message):
    with pytest.raises(ValueError, match=message):
        getattr(CalibrationDisplay, make)(*arguments)
    with pytest.raises(ValueError, match="n_bins"):
        CalibrationDisplay.from_data([0.5], [1], n_bins=0)
    assert not plt.get_fignums()


def test_short_names_of_styles():
    display = drawn(BudgetCurveDisplay.from_results(ROWS, c="red", lw=1, ls="-", ms=3))
    for line in display.lines_.values():
        assert line.get_color() == "red"
        assert line.get_markersize() == 3


@pytest.mark.parametrize("background", ["black", "white"])
@pytest.mark.parametrize("where", ["axes", "figure"])
def test_colours_stand_out_from_the_background(background, where):
    figure, ax = plt.subplots()
    ax.set_facecolor(background if where == "axes" else "none")
    figure.set_facecolor(background)
    display = BudgetCurveDisplay.from_results(ROWS, ax=ax)
    ground = np.mean(to_rgb(background))
    for line in display.lines_.values():
        assert (
            abs(np.dot([0.299, 0.587, 0.114], to_rgb(line.get_color())) - ground) > 0.4
        )
