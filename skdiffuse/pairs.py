"""PairDifference: from a pair of outputs to one difference vector."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, _fit_context, clone
from sklearn.utils import check_array
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted, validate_data

from skdiffuse._words import rows_in_words

__all__ = ["PairDifference", "identical_outputs"]


class PairDifference(TransformerMixin, BaseEstimator):
    """Turn pairs of outputs into difference vectors: A's vector minus B's.

    Parameters
    ----------
    featurizer : transformer or callable
        What turns texts into vectors: any scikit-learn transformer of text, which is
        cloned and fitted on both columns together, or a callable that takes a list of
        strings and returns an array of shape (n_texts, n_features).
    sparse_output : bool, default=False
        Keep the differences sparse where the featurizer's vectors are. The selectors
        need dense input; put a reduction such as `TruncatedSVD` in between.

    Attributes
    ----------
    featurizer_ : transformer or callable
        The fitted featurizer.
    n_features_in_ : int
        Always 2.
    feature_names_in_ : ndarray of shape (2,)
        Names of the two columns, where `X` is a frame.

    Raises
    ------
    ValueError
        If `X` does not have two columns of texts: another number of columns, a
        missing output (None or NaN), an output that is not a string; or if the
        vectors of the featurizer are not one finite row a text.

    Warnings
    --------
    A callable is copied with `copy.deepcopy` by `clone`, as any parameter is. A plain
    function is copied by reference, but a *bound method* is copied together with its
    object: pass ``lambda texts: model.encode(texts)`` or a named function around it
    instead of ``model.encode`` (only the named function can be pickled).

    See Also
    --------
    DiffUseSelector : Chooses the examples to judge by their difference vectors.

    Notes
    -----
    Each distinct text is featurized once, so two equal outputs have a difference of
    exactly zero whatever the batches of the featurizer, and cost one call. An empty
    string is an output like any other.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> from skdiffuse import PairDifference
    >>> pairs = [["a red car", "a blue car"], ["no", "no"]]
    >>> difference = PairDifference(CountVectorizer()).fit(pairs)
    >>> difference.get_feature_names_out()
    array(['blue', 'car', 'no', 'red'], dtype=object)
    >>> difference.transform(pairs)
    array([[-1.,  0.,  0.,  1.],
           [ 0.,  0.,  0.,  0.]])

    With a callable:

    >>> def lengths(texts):
    ...     return [[len(text)] for text in texts]
    >>> PairDifference(lengths).fit_transform(pairs)
    array([[-1.],
           [ 0.]])
    """

    _parameter_constraints: dict = {
        "featurizer": [HasMethods(["fit", "transform"]), callable],
        "sparse_output": ["boolean"],
    }

    def __init__(
        self,
        featurizer: Any | Callable[[list[str]], Any],
        *,
        sparse_output: bool = False,
    ) -> None:
        self.featurizer = featurizer
        self.sparse_output = sparse_output

    # The featurizer is fitted as a clone and checks its own parameters.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the featurizer on the outputs of both columns.

        Parameters
        ----------
        X : array-like of shape (n_examples, 2)
            The outputs of A and of B: a list of pairs, an array, or a pandas or
            polars frame with two columns.
        y : Ignored
            Present for the convention.

        Returns
        -------
        self : PairDifference
            The fitted transformer.

        Raises
        ------
        ValueError
            If `X` does not hold two texts in each row.
        """
        outputs_a, outputs_b = self._texts(X, reset=True)
        if hasattr(self.featurizer, "transform"):
            self.featurizer_ = clone(self.featurizer).fit(outputs_a + outputs_b)
        else:
            self.featurizer_ = self.featurizer
        self._n_features_out = self._vectors(outputs_a[:1]).shape[1]
        return self

    def transform(self, X: Any) -> np.ndarray | sp.csr_array:
        """Return the difference vector of each pair.

        Parameters
        ----------
        X : array-like of shape (n_examples, 2)
            The outputs of A and of B.

        Returns
        -------
        ndarray or sparse array of shape (n_examples, n_features)
            The vector of A's output minus the vector of B's; sparse only with
            ``sparse_output=True`` and a sparse featurizer.

        Raises
        ------
        ValueError
            If `X` does not hold two texts in each row, or the featurizer returns
            anything but one finite vector a text.
        """
        check_is_fitted(self)
        outputs_a, outputs_b = self._texts(X, reset=False)
        number = {
            text: i for i, text in enumerate(dict.fromkeys(outputs_a + outputs_b))
        }
        vectors = self._vectors(list(number))
        if vectors.shape[1] != self._n_features_out:
            raise ValueError(
                f"featurizer returned {vectors.shape[1]} features for a text, but "
                f"{self._n_features_out} in fit; its vectors need one length."
            )
        rows_a, rows_b = (
            [number[text] for text in texts] for texts in (outputs_a, outputs_b)
        )
        with np.errstate(over="ignore"):
            difference = vectors[rows_a] - vectors[rows_b]
        _check_finite(difference, "the difference of the pair in row {0}", outputs_a)
        if sp.issparse(difference):
            difference.eliminate_zeros()
            if not self.sparse_output:
                return difference.toarray()
        return difference

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Name the columns of the difference vectors.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Ignored: the names are those of the featurizer.

        Returns
        -------
        ndarray of str
            The names of the featurizer where it has them, else
            ``pairdifference0, pairdifference1, ...``.
        """
        check_is_fitted(self)
        if hasattr(self.featurizer_, "get_feature_names_out"):
            return np.asarray(self.featurizer_.get_feature_names_out(), dtype=object)
        prefix = type(self).__name__.lower()
        return np.array(
            [f"{prefix}{i}" for i in range(self._n_features_out)], dtype=object
        )

    def __sklearn_tags__(self):  # type: ignore[no-untyped-def]
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _texts(self, X: Any, *, reset: bool) -> tuple[list[str], list[str]]:
        """Check that X holds two texts in each row, and return its columns."""
        table, has_names = _table(X)
        # Records the number and the names of the columns; the texts are checked below.
        validate_data(
            self,
            X if has_names else table,
            reset=reset,
            skip_check_array=True,
        )
        return _columns(table)

    def _vectors(self, texts: list[str]) -> Any:
        if hasattr(self.featurizer_, "transform"):
            vectors = self.featurizer_.transform(texts)
        else:
            vectors = self.featurizer_(texts)
        shape = vectors.shape if hasattr(vectors, "shape") else np.shape(vectors)
        if len(shape) != 2 or shape[0] != len(texts):
            raise ValueError(
                f"featurizer returned an array of shape {tuple(shape)} for "
                f"{len(texts)} texts; it must return one row a text, of shape "
                "(n_texts, n_features)."
            )
        vectors = check_array(
            vectors,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            ensure_min_features=0,
            input_name="the featurizer's output",
        )
        _check_finite(vectors, "the vector of the text {1!r}", texts)
        return vectors


def identical_outputs(X: Any) -> np.ndarray:
    """Tell where both outputs are the same string: a tie that needs no judgement.

    For `known_ties` of `PreferenceComparison.fit`. Equal *embeddings* are no proof: a
    featurizer may not see the word that decides.

    Parameters
    ----------
    X : array-like of shape (n_examples, 2)
        The outputs of A and of B, as `PairDifference` takes them.

    Returns
    -------
    ndarray of bool of shape (n_examples,)
        True where they are equal, character by character.

    Raises
    ------
    ValueError
        If `X` does not hold two texts in each row.

    Examples
    --------
    >>> from skdiffuse import identical_outputs
    >>> identical_outputs([["yes", "no"], ["no", "no"]])
    array([False,  True])
    """
    outputs_a, outputs_b = _columns(_table(X)[0])
    return np.array([a == b for a, b in zip(outputs_a, outputs_b, strict=True)])


def _columns(table: np.ndarray) -> tuple[list[str], list[str]]:
    """Return the texts of both columns, or say where there is none."""
    is_text = np.frompyfunc(lambda value: isinstance(value, str), 1, 1)(table)
    bad = np.flatnonzero(~is_text.astype(bool).all(axis=1))
    if len(bad):
        value = next(v for v in table[bad[0]] if not isinstance(v, str))
        raise ValueError(
            f"X holds {value!r} instead of a text in {rows_in_words(bad.tolist())}; an "
            "output must be a string: drop the pairs with a missing output, or put '' "
            "where an empty output is meant."
        )
    # Not str(v): a subclass, such as an enumeration of texts, may say otherwise.
    outputs_a, outputs_b = ([str.__str__(v) for v in column] for column in table.T)
    return outputs_a, outputs_b


def _is_pair(row: Any) -> bool:
    return hasattr(row, "__len__") and not isinstance(row, str) and len(row) == 2


def _check_finite(vectors: Any, what: str, texts: list[str]) -> None:
    """Raise a ValueError that names the first row with NaN or infinity."""
    if np.isfinite(vectors.data if sp.issparse(vectors) else vectors).all():
        return
    rows = vectors.toarray() if sp.issparse(vectors) else vectors
    row = np.flatnonzero(~np.isfinite(rows).all(axis=1))[0]
    raise ValueError(
        f"featurizer returned NaN, infinity or overflowing numbers: "
        f"{what.format(row, texts[row][:60])} is not finite; look at what it does "
        "with it."
    )


def _table(X: Any) -> tuple[np.ndarray, bool]:
    """Return X as an object array of shape (n, 2), and whether it has column names.

    Raises
    ------
    ValueError
        If X is anything else.
    """
    if hasattr(X, "collect"):
        raise ValueError("X is a lazy frame; pass X.collect().")
    if sp.issparse(X) or isinstance(X, str) or not hasattr(X, "__len__"):
        raise ValueError(
            f"X is a {type(X).__name__}; pass pairs of texts, of shape (n, 2)."
        )
    has_names = hasattr(X, "columns") and hasattr(X, "to_numpy")
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    elif hasattr(X, "to_pydict"):
        # A table of pyarrow iterates over its columns.
        X = list(zip(*X.to_pydict().values(), strict=True))
    if not isinstance(X, np.ndarray):
        X = list(X)
        ragged = [i for i, row in enumerate(X) if not _is_pair(row)]
        if ragged:
            raise ValueError(
                f"X has no pair of outputs in {rows_in_words(ragged)}; each row needs "
                "two texts, the output of A and the output of B."
            )
    table = np.array(X, dtype=object)
    if table.size == 0:
        raise ValueError("X has no rows; pass at least one pair of outputs.")
    if table.ndim != 2 or table.shape[1] != 2:
        raise ValueError(
            f"X has shape {table.shape}; pass two columns, the output of A and the "
            "output of B (pick them, for example df[['output_a', 'output_b']])."
        )
    return table, has_names
