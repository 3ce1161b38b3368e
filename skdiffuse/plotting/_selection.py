"""Where the selected examples lie among all of them."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from skdiffuse._validation import check_rows, check_vectors
from skdiffuse.plotting._common import GREY, colours_on, foreground, own_axes, pyplot
from skdiffuse.selection._base import scaled

_LARGEST, _SMALLEST = 260.0, 30.0


class SelectionMapDisplay:
    """Map of the difference vectors, with the rows that a selector chose.

    The two axes are the principal components of the difference vectors. Rows of one
    cluster have one colour; the colours repeat where there are more than six clusters.
    A selected row is the larger the more rows it stands for.

    Make it with `from_estimator` or `from_data`.

    Parameters
    ----------
    points : ndarray of shape (n_examples, 2)
        Where each example is on the map.
    selected_indices : ndarray of shape (n_selected,)
        The rows to judge.
    labels : ndarray of shape (n_examples,) or None, default=None
        The cluster of each row, if there are clusters.
    origin : ndarray of shape (2,), default=None
        Where two equal outputs are on the map.
    variance_shares : ndarray of shape (2,), default=None
        Which share of the variance each axis shows.
    n_equal : int, default=0
        How many rows are zero vectors: examples whose outputs are equal.

    Attributes
    ----------
    cluster_sizes_ : ndarray of shape (n_selected,) or None
        How many rows each selected row stands for.
    ax_ : matplotlib Axes
        Axes with the map.
    figure_ : matplotlib Figure
        Figure with the axes.
    scatter_ : matplotlib PathCollection
        All rows.
    selected_scatter_ : matplotlib PathCollection
        The selected rows, over them.
    origin_ : matplotlib Line2D or None
        The place of equal outputs.

    See Also
    --------
    DiffUseSelector : Chooses by clusters of differences.

    Notes
    -----
    A map of two dimensions hides the others: clusters that overlap here may be far
    apart. The labels of the axes say how much of the variance is to be seen.

    Examples
    --------
    >>> from skdiffuse import DiffUseSelector
    >>> from skdiffuse.datasets import make_preference_pool
    >>> from skdiffuse.plotting import SelectionMapDisplay
    >>> X, _ = make_preference_pool(200, random_state=0)
    >>> selector = DiffUseSelector(12).fit(X)
    >>> display = SelectionMapDisplay.from_estimator(selector, X)
    >>> len(display.selected_scatter_.get_offsets()), int(display.cluster_sizes_.sum())
    (12, 200)
    """

    def __init__(
        self,
        *,
        points: np.ndarray,
        selected_indices: np.ndarray,
        labels: np.ndarray | None = None,
        origin: np.ndarray | None = None,
        variance_shares: np.ndarray | None = None,
        n_equal: int = 0,
    ) -> None:
        self.points = points
        self.selected_indices = selected_indices
        self.labels = labels
        self.origin = origin
        self.variance_shares = variance_shares
        self.n_equal = n_equal

    @classmethod
    def from_estimator(
        cls, selector: Any, X: Any, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Draw what a fitted selector chose.

        Parameters
        ----------
        selector : selector
            A fitted one.
        X : array-like of shape (n_examples, n_features)
            The difference vectors that it was fitted on.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.scatter`, for all rows.

        Returns
        -------
        SelectionMapDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the selector is not fitted, or was fitted on another `X`.
        """
        pyplot(f"{cls.__name__}.from_estimator")
        check_is_fitted(selector)
        chosen = getattr(selector, "selected_indices_", None)
        if chosen is None:
            raise ValueError(
                f"selector is {selector!r}, which has no selected_indices_; pass a "
                "fitted selector, or its rows to SelectionMapDisplay.from_data."
            )
        names = hasattr(selector, "n_features_in_")
        vectors = check_vectors(selector if names else BaseEstimator(), X, reset=False)
        _check_same_rows(selector, vectors)
        labels = getattr(selector, "labels_", None)
        return cls._of(vectors, chosen, labels).plot(ax=ax, **kwargs)

    @classmethod
    def from_data(
        cls,
        X: Any,
        selected_indices: Any,
        *,
        labels: Any = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw rows that were chosen in whatever way.

        Parameters
        ----------
        X : array-like of shape (n_examples, n_features)
            Difference vectors.
        selected_indices : array-like of int
            The rows that were chosen.
        labels : array-like of shape (n_examples,), default=None
            The cluster of each row: numbers or words.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.scatter`, for all rows.

        Returns
        -------
        SelectionMapDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If `X` has NaN or infinity, there are no such rows, or `labels` has another
            length than `X`.
        """
        pyplot(f"{cls.__name__}.from_data")
        vectors = check_vectors(BaseEstimator(), X, reset=True)
        mask = check_rows(selected_indices, len(vectors), "selected_indices")
        if not mask.any():
            raise ValueError("selected_indices is empty; pass at least one row number.")
        return cls._of(vectors, np.flatnonzero(mask), labels).plot(ax=ax, **kwargs)

    @classmethod
    def _of(cls, X: np.ndarray, chosen: np.ndarray, labels: Any) -> Self:
        numbers = None
        if labels is not None:
            labels = np.asarray(labels)
            if labels.shape != (len(X),):
                raise ValueError(
                    f"labels has shape {labels.shape}, but X has {len(X)} rows; give "
                    "each the name of its cluster."
                )
            numbers = np.unique(labels, return_inverse=True)[1]
        points, origin, shares = _projected(X)
        return cls(
            points=points,
            selected_indices=chosen,
            labels=numbers,
            origin=origin,
            variance_shares=shares,
            n_equal=int(np.count_nonzero(~X.any(axis=1))),
        )

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        **kwargs : dict
            To `matplotlib.axes.Axes.scatter`, for all rows.

        Returns
        -------
        SelectionMapDisplay
            This display.
        """
        ax = own_axes(f"{type(self).__name__}.plot", ax)
        palette = colours_on(ax)
        colours = self._colours(palette)
        style: dict[str, Any] = {"s": 12, "alpha": 0.55, "linewidths": 0, "zorder": 2}
        if not {"c", "color", "facecolor", "facecolors"} & set(kwargs):
            style["c"] = colours
        self.scatter_ = ax.scatter(*self.points.T, **style | kwargs)
        chosen = self.selected_indices
        areas, self.cluster_sizes_ = self._areas()
        ink = foreground(ax)
        self.selected_scatter_ = ax.scatter(
            *self.points[chosen].T,
            s=areas,
            c=palette[0] if self.labels is None else [colours[row] for row in chosen],
            edgecolors=[ink],
            linewidths=1.0,
            alpha=0.9,
            zorder=3,
        )
        self.origin_ = None
        if self.origin is not None:
            marker = {"marker": "x" if self.n_equal else "+", "color": ink}
            (self.origin_,) = ax.plot(
                *self.origin, linestyle="none", markersize=9, zorder=4, **marker
            )
        for number, name in enumerate(("x", "y")):
            seen = ""
            if self.variance_shares is not None:
                seen = f" ({100 * self.variance_shares[number]:.0f} % of the variance)"
            ax.set(**{f"{name}label": f"principal component {number + 1}{seen}"})
        # Distances are to be compared in all directions.
        ax.set_aspect("equal", adjustable="datalim")
        self._legend(ax, ink, palette[0])
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _colours(self, palette: tuple[str, ...]) -> list[str]:
        if self.labels is None:
            return [GREY] * len(self.points)
        return [palette[label % len(palette)] for label in self.labels]

    def _areas(self) -> tuple[np.ndarray, np.ndarray | None]:
        """Return the area of each selected row, and of how many rows it tells."""
        if self.labels is None:
            return np.full(len(self.selected_indices), 1.5 * _SMALLEST), None
        sizes = np.bincount(self.labels)[self.labels[self.selected_indices]]
        return _SMALLEST + (_LARGEST - _SMALLEST) * sizes / max(sizes.max(), 20), sizes

    def _legend(self, ax: Any, ink: Any, first: str) -> None:
        from matplotlib.lines import Line2D

        def dot(area: float, label: str, **more: Any) -> Any:
            style = {"color": GREY, "marker": "o", "linestyle": "none"} | more
            return Line2D([], [], markersize=area**0.5, label=label, **style)

        edge = {"markeredgecolor": ink}
        handles = [dot(12, "not selected", markeredgewidth=0)]
        areas, sizes = self._areas()
        if sizes is None:
            handles.append(dot(areas[0], "selected", color=first, **edge))
        else:
            for place in dict.fromkeys([int(sizes.argmin()), int(sizes.argmax())]):
                rows = f"{sizes[place]} row{'s' if sizes[place] > 1 else ''}"
                if sizes[place] == sizes.min() == sizes.max():
                    handles = handles[:1]
                handles.append(dot(areas[place], f"selected, for {rows}", **edge))
        if len(self.selected_indices) == len(self.points):
            handles = handles[1:]
        if self.origin is not None:
            several = "s" if self.n_equal > 1 else ""
            says = f"equal outputs ({self.n_equal} row{several})"
            marker = {"marker": "x" if self.n_equal else "+", "color": ink}
            handles.append(dot(60, says if self.n_equal else "no difference", **marker))
        ax.legend(handles=handles)


def _check_same_rows(selector: Any, X: np.ndarray) -> None:
    """Raise a ValueError unless the selector was fitted on these rows."""
    n = len(X)
    support = getattr(selector, "get_support", None)
    n_fitted = len(support()) if support else n
    if n_fitted != n or selector.selected_indices_.max(initial=0) >= n:
        raise ValueError(
            f"X has {n} rows, but the selector was fitted on others; pass the X of fit."
        )
    known = getattr(selector, "representatives_", None)
    if known is None:
        return
    slack = 1e-5 * np.abs(known).max(initial=0)
    here = X[selector.selected_indices_]
    apart = np.abs(here - known).max(axis=1, initial=0) > slack
    if apart.any():
        row = selector.selected_indices_[apart.argmax()]
        raise ValueError(
            f"row {row} of X is not what the selector was fitted on; pass the X of fit."
        )


def _projected(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places on the first two principal components.

    Returns
    -------
    points : ndarray of shape (n_samples, 2)
    origin : ndarray of shape (2,)
        The place of a zero vector.
    shares : ndarray of shape (2,)
        Of the variance.
    """
    vectors = scaled(X)
    points, origin, shares = np.zeros((len(X), 2)), np.zeros(2), np.zeros(2)
    if (vectors != vectors[0]).any():
        pca = PCA(min(2, *vectors.shape), random_state=0).fit(vectors)
        n = pca.n_components_
        points[:, :n] = pca.transform(vectors)
        origin[:n] = pca.transform(np.zeros((1, vectors.shape[1])))[0]
        shares[:n] = pca.explained_variance_ratio_
    _, exponent = np.frexp(np.abs(X).max())
    return np.ldexp(points, exponent), np.ldexp(origin, exponent), shares
