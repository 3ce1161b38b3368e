"""Studies whose results the documents show; each module is a command."""

NAMES = (
    "refusal_coverage",
    "mean_error",
    "mean_coverage",
    "many_judges",
    "large_n",
    "success_curves",
    "iterative",
    "norm_bins",
    "peer_diffuse",
    "promise",
    "guarantee_labels",
    "winning_distance",
    "speed",
    "micro_clusters",
    "protocol",
)
