"""Embedders that can be named on the command line."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np

import skdiffuse

DEFAULT = "tfidf"
_SENTENCE_TRANSFORMERS = "sentence-transformers:"
_N_COMPONENTS = 100
_BATCH = 64


def difference_vectors(
    texts_a: list[str],
    texts_b: list[str],
    embedder: str,
    seed: int,
    advance: Callable[[int, int], None],
) -> np.ndarray:
    """Embed both outputs of each example and subtract.

    Parameters
    ----------
    texts_a, texts_b : list of str
        The outputs of A and of B.
    embedder : str
        ``"tfidf"`` or ``"sentence-transformers:NAME"``.
    seed : int
        Seed of the reduction.
    advance : callable
        Called with the number of texts done and to do.
    """
    pairs = list(zip(texts_a, texts_b, strict=True))
    if embedder == DEFAULT:
        return _latent_semantic(pairs, seed)
    name = embedder.removeprefix(_SENTENCE_TRANSFORMERS)
    if name in (embedder, ""):
        raise ValueError(
            f"--embedder {embedder!r} is not known; give {DEFAULT} or "
            f"{_SENTENCE_TRANSFORMERS}NAME."
        )
    encode = _sentence_transformer(name, advance)
    return skdiffuse.PairDifference(encode).fit_transform(pairs)


def _latent_semantic(pairs: list[tuple[str, str]], seed: int) -> np.ndarray:
    """Reduce the differences of TF-IDF vectors, which keeps zero differences zero."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    # Single characters and signs count: short answers and non-Latin scripts live on
    # them.
    vectorizer = TfidfVectorizer(token_pattern=r"(?u)\w+|[^\w\s]", sublinear_tf=True)
    try:
        difference = skdiffuse.PairDifference(vectorizer, sparse_output=True)
        differences = difference.fit_transform(pairs)
    except ValueError as error:
        if "empty vocabulary" not in str(error):
            raise
        raise ValueError(
            "every output is empty, so there is nothing to compare."
        ) from error
    if min(differences.shape) <= _N_COMPONENTS or differences.nnz == 0:
        return differences.toarray()
    reduction = TruncatedSVD(_N_COMPONENTS, random_state=seed)
    return reduction.fit_transform(differences)


def _sentence_transformer(
    name: str, advance: Callable[[int, int], None]
) -> Callable[[list[str]], np.ndarray]:
    # The progress bar is ours.
    os.environ.setdefault("HF_HUB_DISABLE_PROGRESS_BARS", "1")
    try:
        from sentence_transformers import SentenceTransformer
    except ModuleNotFoundError as error:
        raise ValueError(
            f"--embedder {_SENTENCE_TRANSFORMERS}{name} needs its extra; install it "
            "with: pip install 'skdiffuse[text]'."
        ) from error
    model: Any = SentenceTransformer(name)

    def encode(texts: list[str]) -> np.ndarray:
        vectors = []
        for start in range(0, len(texts), _BATCH):
            batch = texts[start : start + _BATCH]
            vectors.append(model.encode(batch, show_progress_bar=False))
            advance(min(start + _BATCH, len(texts)), len(texts))
        return np.concatenate(vectors)

    return encode
