"""Parts of the benchmark of speed: means of a large pool."""

PARTS = []
