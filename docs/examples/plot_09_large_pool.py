"""
A pool that does not fit into memory
====================================

The rows without a label enter by their moments alone. Read them a chunk at a time, or
compute ``PoolMoments`` where they are and add them up.
"""

import numpy as np

from skdiffuse import PoolMoments, PPIMeanEstimator
from skdiffuse.datasets import make_judged_pool

judge, label = make_judged_pool(200_000, 100, rate=0.3, random_state=0)
labeled = np.isfinite(label)
here, pool = judge[labeled], judge[~labeled]


def chunks():
    """Stand for files that are read one after the other."""
    yield from np.array_split(pool, 10)


by_chunks = PPIMeanEstimator().fit(here, label[labeled], pool=chunks())

# %%
# Or on many machines: moments of parts add up to those of the whole, in any order.
moments = sum(
    (PoolMoments.of(part) for part in np.array_split(pool, 4)[1:]),
    PoolMoments.of(np.array_split(pool, 4)[0]),
)
by_moments = PPIMeanEstimator().fit(here, label[labeled], pool=moments)

# %%
# Both are the estimate of all rows at once.
at_once = PPIMeanEstimator().fit(judge, label)
print(at_once.mean_, by_chunks.mean_, by_moments.mean_)
