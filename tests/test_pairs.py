import enum
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline

from skdiffuse import DiffUseSelector, PairDifference
from skdiffuse.datasets import load_digit_captions

PAIRS = [["a red car", "a blue car"], ["no", "no"], ["", "a dog"], ["café 🚗", "عربة"]]


def lengths(texts):
    return np.array([[len(text), text.count(" ")] for text in texts], dtype=float)


def test_difference_is_featurized_a_minus_featurized_b():
    difference = PairDifference(TfidfVectorizer()).fit(PAIRS)
    columns = list(zip(*PAIRS, strict=True))
    reference = TfidfVectorizer().fit(columns[0] + columns[1])
    expected = reference.transform(columns[0]) - reference.transform(columns[1])
    np.testing.assert_allclose(
        difference.transform(PAIRS), expected.toarray(), rtol=0, atol=1e-15
    )
    assert list(difference.get_feature_names_out()) == list(
        reference.get_feature_names_out()
    )


@pytest.mark.parametrize(
    "X",
    [
        PAIRS,
        [tuple(pair) for pair in PAIRS],
        np.array(PAIRS),
        np.array(PAIRS, dtype=object),
        pd.DataFrame(PAIRS, columns=["a", "b"]),
        pd.DataFrame(PAIRS, columns=["a", "b"], index=[9, 9, 3, 1], dtype="string"),
        pl.DataFrame(PAIRS, schema=["a", "b"], orient="row"),
    ],
    ids=["lists", "tuples", "array", "objects", "pandas", "pandas string", "polars"],
)
def test_every_container_gives_the_same(X):
    difference = PairDifference(lengths).fit(X)
    np.testing.assert_array_equal(
        difference.transform(X),
        [[-1, 0], [0, 0], [-5, -1], [2, 1]],
    )
    assert difference.n_features_in_ == 2
    if hasattr(X, "columns"):
        assert list(difference.feature_names_in_) == ["a", "b"]


def test_equal_outputs_differ_by_exactly_zero_whatever_the_batch():
    calls = []

    def depends_on_the_batch(texts):
        calls.append(list(texts))
        noise = np.random.default_rng(len(calls)).normal(size=(len(texts), 3))
        return lengths(texts)[:, :1] + 1e-6 * noise

    pairs = [["same", "same"], ["x", "longer"], ["same", "x"]]
    X = PairDifference(depends_on_the_batch).fit(pairs).transform(pairs)
    np.testing.assert_array_equal(X[0], 0)
    assert calls[-1] == ["same", "x", "longer"]


def test_sparse_output_stays_sparse_and_agrees_with_dense():
    sparse = PairDifference(CountVectorizer(), sparse_output=True).fit_transform(PAIRS)
    dense = PairDifference(CountVectorizer()).fit_transform(PAIRS)
    assert sp.issparse(sparse)
    assert sparse[[1]].nnz == 0
    np.testing.assert_array_equal(sparse.toarray(), dense)
    assert isinstance(
        PairDifference(lengths, sparse_output=True).fit_transform(PAIRS), np.ndarray
    )


def test_featurizer_is_cloned_and_its_parameters_are_reachable():
    featurizer = TfidfVectorizer()
    difference = PairDifference(featurizer).set_params(featurizer__max_features=2)
    assert difference.fit_transform(PAIRS).shape == (4, 2)
    assert not hasattr(featurizer, "vocabulary_")
    restored = pickle.loads(pickle.dumps(clone(difference).fit(PAIRS)))
    np.testing.assert_array_equal(
        restored.transform(PAIRS), difference.transform(PAIRS)
    )


@pytest.mark.filterwarnings("ignore:X has feature names:UserWarning")
@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([["a", None], ["b", "c"]], "None instead of a text in row 0"),
        ([["a", "b"], ["b", float("nan")]], "nan instead of a text in row 1"),
        (pd.DataFrame({"a": ["x"], "b": [pd.NA]}), "row 0"),
        (pl.DataFrame({"a": ["x", None], "b": ["y", "z"]}), "row 1"),
        ([["a", 3]] * 5, "rows 0, 1, 2 and 2 more"),
        ([["a"], ["b"]], "two texts"),
        ([["a", "b", "c"]], "two texts"),
        ([["a", "b"], ["c"]], "row 1"),
        (["ab", "cd"], "two texts"),
        ([1, 2], "two texts"),
        (np.array([["a"], ["b"]]), r"shape \(2, 1\)"),
        (np.array([["a", "b", "c"]]), r"shape \(1, 3\)"),
        (np.array(["a", "b"]), r"shape \(2,\)"),
        (pd.DataFrame({"a": ["x"], "b": ["x"], "c": ["x"]}), r"shape \(1, 3\)"),
        (pd.Series(["a", "b"]), r"shape \(2,\)"),
        ([], "no rows"),
        (pd.DataFrame({"a": [], "b": []}), "no rows"),
        (np.empty((0, 2), dtype=object), "no rows"),
        (sp.eye_array(2).tocsr(), "csr_array"),
        ("text", "str"),
    ],
)
def test_bad_pairs_are_one_clear_error(X, message):
    with pytest.raises(ValueError, match=message):
        PairDifference(lengths).fit(X)
    with pytest.raises(ValueError, match=message):
        PairDifference(lengths).fit(PAIRS).transform(X)


@pytest.mark.parametrize(
    ("featurizer", "message"),
    [
        (lambda texts: [[np.nan]] * len(texts), "NaN.*'a red car'"),
        (lambda texts: [[np.inf]] * len(texts), "infinity"),
        (lambda texts: [[1.0]] * (len(texts) + 1), r"shape \(2, 1\) for 1 texts"),
        (lambda texts: [1.0] * len(texts), r"of shape \(n_texts, n_features\)"),
        (lambda texts: [[1.0]] * (len(texts) - 1), r"shape \(0,\) for 1 texts"),
        (lambda texts: [["x"]] * len(texts), "could not convert"),
        (lambda texts: sp.csr_array([[np.nan]] * len(texts)), "NaN"),
        (lambda texts: np.zeros((len(texts), len(texts))), "one length"),
    ],
)
def test_bad_featurizer_is_one_clear_error(featurizer, message):
    with pytest.raises(ValueError, match=message):
        PairDifference(featurizer).fit(PAIRS).transform(PAIRS)


def test_unknown_featurizer_is_refused():
    with pytest.raises(ValueError, match="'featurizer' parameter"):
        PairDifference("tfidf").fit(PAIRS)


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_pipeline_from_texts_to_selection(output):
    captions = load_digit_captions()
    pairs = pd.DataFrame(captions.data[:200], columns=["a", "b"])
    pipeline = make_pipeline(PairDifference(TfidfVectorizer()), DiffUseSelector(20))
    pipeline.set_output(transform=output)
    distances = pipeline.fit_transform(pairs)
    assert distances.shape == (200, 20)
    names = [f"diffuseselector{i}" for i in range(20)]
    assert list(pipeline.get_feature_names_out()) == names
    if output != "default":
        assert list(distances.columns) == names
    rows = pipeline[-1].selected_indices_
    np.testing.assert_allclose(np.diag(np.asarray(distances)[rows]), 0, atol=1e-7)


def test_pipeline_with_reduction_of_sparse_differences():
    pairs = load_digit_captions().data[:200]
    pipeline = make_pipeline(
        PairDifference(TfidfVectorizer(), sparse_output=True),
        TruncatedSVD(5, random_state=0),
        DiffUseSelector(10),
    )
    same = (pairs[:, 0] == pairs[:, 1]).nonzero()[0]
    labels = pipeline.fit(pairs)[-1].labels_
    assert len(np.unique(labels[same])) == 1


def test_frames_from_the_featurizer_are_taken():
    reduction = TruncatedSVD(2, random_state=0).set_output(transform="pandas")
    featurizer = make_pipeline(CountVectorizer(), reduction)
    difference = PairDifference(featurizer).set_output(transform="polars")
    frame = difference.fit_transform(PAIRS)
    assert frame.columns == ["truncatedsvd0", "truncatedsvd1"]
    assert PairDifference(lengths).fit(PAIRS).get_feature_names_out().tolist() == [
        "pairdifference0",
        "pairdifference1",
    ]


def test_renamed_columns_are_refused():
    frame = pd.DataFrame(PAIRS, columns=["a", "b"])
    difference = PairDifference(lengths).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        difference.transform(frame.rename(columns={"a": "c"}))


def test_pyarrow_table_is_read_by_rows():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"a": ["x", "yy"], "b": ["q", "wwwww"]})
    X = PairDifference(lengths).fit_transform(table)
    np.testing.assert_array_equal(X[:, 0], [0, -3])


def test_subclasses_of_str_are_texts():
    class Answer(str, enum.Enum):  # noqa: UP042
        YES = "yes"
        NO = "no"

    seen = []

    def spy(texts):
        seen.extend(texts)
        return lengths(texts)

    PairDifference(spy).fit([[Answer.YES, Answer.NO]]).transform(
        [[Answer.YES, np.str_("a\ud800")]]
    )
    assert seen == ["yes", "yes", "a\ud800"]
    assert all(type(text) is str for text in seen)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_difference_that_overflows_is_an_error(make, dtype):
    largest = np.finfo(dtype).max

    def featurizer(texts):
        return make(
            np.array([[largest if t == "a" else -largest] for t in texts], dtype)
        )

    with pytest.raises(ValueError, match="difference of the pair in row 1"):
        PairDifference(featurizer).fit_transform([["a", "a"], ["a", "b"]])


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (None, "NoneType"),
        (3, "is a int"),
        (np.array("ab"), "is a ndarray|shape"),
        (pl.DataFrame({"a": ["x"], "b": ["y"]}).lazy(), r"X.collect\(\)"),
        (iter(PAIRS), "list_iterator"),
    ],
)
def test_what_is_no_table_is_refused(X, message):
    with pytest.raises(ValueError, match=message):
        PairDifference(lengths).fit(X)
