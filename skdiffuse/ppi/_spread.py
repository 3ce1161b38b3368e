"""How much an estimate spreads, and what its labels are worth."""

import math
from typing import Any

import numpy as np

from skdiffuse.ppi._models import Hat, hat_of_the_mean

# Added to both sums of squares of labels that are 0 or 1, so that a judge is not taken
# for perfect because a few labels agree with it.
_PRIOR = 2.0

# As near to one a leverage is one: such a row or group decides its own prediction, and
# what it would be without is not known.
_ROUNDING = 1e-13

# The pseudo-labels by which the spread of a few bounded labels is drawn towards the
# largest that they could have.
_BOUNDED_PRIOR = 4.0


class SpreadMixin:
    """Variances and effective sizes, from labels, g and the moments of the pool.

    An influence is the part that a labelled row, or group of rows, has in the estimate.
    """

    mean_: float
    classical_mean_: float
    n_labeled_: int
    n_unlabeled_: int
    _labels: np.ndarray
    _values: np.ndarray
    _shares: np.ndarray
    _g_share: float
    _weights: np.ndarray | None
    _groups: Any
    _hat: Hat
    _left_out: np.ndarray | None
    _n_weights: float
    _pool_comoment: float
    _pool_value: float
    _group_pool: np.ndarray | None
    _n_pool_groups: int
    _ungrouped_comoment: float

    def _prepare_inference(self, deviations: np.ndarray, values: np.ndarray) -> None:
        """Work out the influences from labels and values of g, less their means."""
        self._unsampled = self._unsampled_shares()
        alone = hat_of_the_mean(self._shares)
        residuals = deviations - values
        share = self._g_share
        self._plain_influence = self._influence(deviations - share * values, None)
        self._label_influence = self._influence(deviations, alone)
        if self._left_out is None:
            self._residual_influence = self._influence(residuals, self._hat)
        else:
            self._residual_influence = self._influence(self._left_out, None)
        self._left_out_influence = (1 - share) * self._label_influence
        self._left_out_influence += share * self._residual_influence

    def _unsampled_shares(self) -> np.ndarray:
        """Return 1 - inclusion probability: a row that is sure to be in tells all.

        Only of a sample that was drawn from these very rows. Groups are taken for a
        sample with replacement, which errs on the safe side.
        """
        n = self.n_labeled_
        if self._weights is None or self._groups is not None or not self.n_unlabeled_:
            return np.ones(n)
        stands_for = self._shares * (n + self.n_unlabeled_)
        return 1 - 1 / np.maximum(stands_for, 1)

    def _influence(self, residuals: np.ndarray, hat: Hat | None) -> np.ndarray:
        """Return the influences of residuals, each predicted without itself."""
        parts = self._shares * np.sqrt(self._unsampled)
        n = self.n_labeled_
        if self._groups is None:
            if hat is not None:
                residuals = residuals * _inverse(1 - hat.diagonal())
            return parts * residuals
        codes = np.unique(self._groups, return_inverse=True)[1]
        total = np.bincount(codes, weights=parts * residuals)
        if hat is None:
            return total
        # (I - L R')^-1 e = e + L (I - R' L)^-1 R' e within a group: small matrices.
        left, right = hat.left, hat.right
        size = left.shape[1]
        drawn = np.eye(size) - _sum_by(
            codes, np.einsum("ij,ik->ijk", right, left).reshape(n, -1)
        ).reshape(-1, size, size)
        directions, sizes, others = np.linalg.svd(drawn)
        inverse = (
            np.swapaxes(others, 1, 2)
            * _inverse(sizes)[:, np.newaxis]
            @ np.swapaxes(directions, 1, 2)
        )
        step = inverse @ _sum_by(codes, right * residuals[:, np.newaxis])[..., None]
        here = _sum_by(codes, left * parts[:, np.newaxis])
        return total + np.einsum("gi,gi->g", here, step[..., 0])

    def _plain_variance(self) -> float:
        """Return the estimated variance of the mean, with ddof 0."""
        return self._total_variance(self._plain_influence, left_out=False)

    def _total_variance(self, influence: np.ndarray, *, left_out: bool) -> float:
        """Return the variance of the mean from the influences and the pool.

        With `left_out` by the jackknife for the labels, and ddof 1 for the pool.
        """
        n_parts = len(influence)
        label = (n_parts - 1) / n_parts if left_out else 1.0
        if self._group_pool is None or not self._counts_pool():
            variance = label * float(sum_of_squares(influence))
            return variance + self._pool_variance(ddof=int(left_out))
        # A group has labelled rows and others, which draw the mean together.
        scale = self._g_share**2 / self.n_unlabeled_**2
        if left_out:
            n_pool = self._n_pool_parts()
            scale *= n_pool / max(n_pool - 1, 1)
        together = math.sqrt(scale) * self._group_pool
        together[np.unique(self._groups)] += math.sqrt(label) * influence
        return float(sum_of_squares(together)) + scale * self._ungrouped_comoment

    def _counts_pool(self) -> bool:
        """Whether the mean of g is one of a sample, or of all the rows meant."""
        return self.n_unlabeled_ > 0 and self._weights is None

    def _pool_variance(self, ddof: int) -> float:
        """Return the variance of the pool's mean of g.

        With a `ddof` of 1 the labelled rows have a say in the variance of g too, since
        a few rows of a pool tell little of it.
        """
        if not self._counts_pool():
            return 0.0
        n, others = self.n_labeled_, self.n_unlabeled_
        if self._group_pool is not None:
            squares = float(sum_of_squares(self._group_pool)) + self._ungrouped_comoment
            return self._g_share**2 * squares / others**2
        if ddof == 0:
            return self._g_share**2 * self._pool_comoment / others**2
        here = self._values - self._values.mean()
        step = self._pool_value - self._values.mean()
        between = step**2 * n * others / (n + others)
        squares = self._pool_comoment + float(sum_of_squares(here)) + between
        return self._g_share**2 * squares / ((n + others - 1) * others)

    @property
    def standard_error_(self) -> float:
        """Standard error of `mean_`."""
        if not hasattr(self, "_left_out_influence") or self._n_parts < 2:
            raise AttributeError(
                "standard_error_ exists after fit with at least 2 labelled rows (and "
                "2 groups of them)."
            )
        return math.sqrt(self._total_variance(self._left_out_influence, left_out=True))

    @property
    def _n_parts(self) -> int:
        """Number of labelled rows, or of their groups."""
        return len(self._left_out_influence)

    def _degrees_of_freedom(self) -> float:
        """Combine the degrees of freedom of labels and pool (Welch-Satterthwaite)."""
        jackknife = (self._n_parts - 1) / self._n_parts
        label = jackknife * float(sum_of_squares(self._left_out_influence))
        pool = self._pool_variance(ddof=1)
        # A group leaves itself out with all that it has drawn, the weights included.
        fitted = self._n_weights if self.n_unlabeled_ and self._groups is None else 0
        label_freedom = max(self._n_equal_parts() - 1 - fitted, 1)
        if label + pool == 0 or pool == 0:
            return label_freedom
        share = label / (label + pool)
        pool_freedom = max(self._n_pool_parts() - 1, 1)
        if self._group_pool is None:
            pool_freedom += self.n_labeled_
        return 1 / (share**2 / label_freedom + (1 - share) ** 2 / pool_freedom)

    def _n_equal_parts(self) -> float:
        """Count the rows, or groups, of equal weight that would be as many."""
        parts = self._shares
        if self._groups is not None:
            parts = np.bincount(self._groups, weights=parts)
        return 1 / float(sum_of_squares(parts))

    def _n_pool_parts(self) -> int:
        """Return the number of rows of the pool, or of their groups."""
        return self.n_unlabeled_ if self._group_pool is None else self._n_pool_groups

    def _effective_n(self) -> float:
        """Count the labels that would give the classical mean the same variance."""
        return self.n_labeled_ / self._relative_variance(self._prior())

    def _relative_variance(self, prior: float) -> float:
        """Return the variance of the mean relative to that of the labels' mean."""
        n = self.n_labeled_
        constant = np.ptp(self._values) == 0 and self._pool_comoment == 0
        if not self.n_unlabeled_ or constant:
            return 1.0
        spread = self._squares(self._label_influence) + prior
        # In the units of `spread`, which is n² / (1 - 1 / n_parts) variances.
        scale = n * n * self._n_parts / max(self._n_parts - 1, 1)
        rest = scale * self._total_variance(self._left_out_influence, left_out=True)
        if spread == 0:
            return 1.0 if rest == 0 else math.inf
        # A judge without any error would be worth infinitely many labels.
        return max((rest + prior) / spread, 1e-12)

    def _score_n(self, low: float, high: float) -> float:
        """Count the 0/1 labels, each for itself, that would tell as much of the mean.

        For labels between `low` and `high`, as Wilson's interval takes them.
        """
        n, shares, size = self.n_labeled_, self._shares, high - low
        labels = (self._labels - low) / size
        mean = float(shares @ labels)
        guess = (n * mean + 2) / (n + 4)
        prior = _BOUNDED_PRIOR * guess * (1 - guess)
        squares = n * float(shares @ (labels - mean) ** 2)
        # The variance of the labels relative to that of zeros and ones.
        within = min(1.0, (squares + prior) / ((n - 1) * mean * (1 - mean) + prior))
        prior = _PRIOR * size**2 * within
        design = 1.0
        if self._weights is not None or self._groups is not None:
            left_out = (labels - mean) / np.maximum(1 - shares, _ROUNDING)
            independent = n * float(shares @ left_out**2) * size**2 + prior
            prior = prior * self._design_effect()
            design = (self._squares(self._label_influence) + prior) / independent
        return n / (self._relative_variance(prior) * within * design)

    def _squares(self, influence: np.ndarray) -> float:
        """Return the sum of squares, in the units of a row."""
        return self.n_labeled_**2 * float(sum_of_squares(influence))

    def _prior(self) -> float:
        """Return what is added to sums of squares of labels 0 and 1."""
        if not np.isin(self._labels, (0, 1)).all():
            return 0.0
        return _PRIOR * self._design_effect()

    def _design_effect(self) -> float:
        """Return the variance of the labels' mean relative to equal weights.

        As if the labels of a group were alike, and had nothing to do with the weights.
        """
        if self._weights is None and self._groups is None:
            return 1.0
        parts = self._shares * np.sqrt(self._unsampled)
        if self._groups is not None:
            parts = np.bincount(self._groups, weights=parts)
        return self._squares(parts) / self.n_labeled_

    def _explained(self) -> float:
        """Return the share of the spread of the labels that g explains."""
        prior = self._prior()
        spread = self._squares(self._label_influence) + prior
        rest = self._squares(self._residual_influence) + prior
        return 1 - rest / spread if spread else 0.0


def sum_of_squares(values: np.ndarray) -> Any:
    """Return the sum of squares along the first axis."""
    return np.sum(values * values, axis=0)


def _inverse(values: np.ndarray) -> np.ndarray:
    """Return the inverse; zero for zero."""
    return np.where(values > _ROUNDING, 1 / np.maximum(values, _ROUNDING), 0)


def _sum_by(codes: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the column sums of each group."""
    columns = [np.bincount(codes, weights=column) for column in values.T]
    return np.column_stack(columns)
