"""read_pairs: the outputs of two runs of a harness, side by side."""

import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils._param_validation import validate_params

from skdiffuse.datasets._files import read_run
from skdiffuse.datasets._formats import Example, Run

_SIDES = ("path_a", "path_b")
_SHOWN = 40  # characters of an id: it may be a whole prompt


@validate_params(
    {
        "path_a": [str, os.PathLike],
        "path_b": [str, os.PathLike],
        "metric": [str, None],
        "keep": [dict, list, tuple, None],
        "drop_unmatched": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
def read_pairs(
    path_a: str | os.PathLike[str],
    path_b: str | os.PathLike[str],
    *,
    metric: str | None = None,
    keep: dict[str, Any] | Sequence[dict[str, Any]] | None = None,
    drop_unmatched: bool = False,
) -> Bunch:
    """Read the outputs of two generators, as evaluation harnesses write them.

    Which harness wrote a file is told from its content. The examples are matched by
    their ids, and are in the order of A; whatever does not match is an error.

    Parameters
    ----------
    path_a, path_b : str or path-like
        The outputs of A and of B, each a file or a folder that holds one run:

        - HELM: the folder of a run, or its ``scenario_state.json``;
        - lm-evaluation-harness: ``samples_TASK_DATE.jsonl`` of ``--log_samples``;
        - Inspect: a log, ``.eval`` or ``.json``;
        - AlpacaEval: ``model_outputs.json``;
        - any JSON list or JSON lines of records with `output` and `id` or `input`
          (and perhaps `target`, `score`, `generator`).
    metric : str, default=None
        The score of the harness to return. By default the only one that both runs
        have; of a JSON of your own, `score`.
    keep : dict, or pair of dict, default=None
        What to keep where an example has several outputs, for both runs or for each:
        ``{"epoch": 1}`` of Inspect, ``{"filter": "strict-match"}`` of
        lm-evaluation-harness, ``{"perturbation": None, "train_trial_index": 0}`` of
        HELM, ``({"generator": "x"}, {"generator": "y"})``.
    drop_unmatched : bool, default=False
        Leave out the examples that only one run has or that have no output, and list
        them in `dropped`.

    Returns
    -------
    Bunch
        With one entry an example in

        pairs : list of tuple of str
            The outputs of A and of B, as `PairDifference` takes them.
        inputs : list of str or None
            What was asked; None if the files do not say.
        targets : list of str or None
            The right answers (of A's run), one a line; None if the files do not say.
        ids : list
            The ids, as in A; the inputs, where the files have no ids.
        score_a, score_b : ndarray of shape (n_examples,), or None
            The scores, NaN where a run has none; None if no metric is chosen.

        and, besides,

        metric : str or None
            The metric of the scores.
        metrics : list of str
            The metrics that both runs have.
        name_a, name_b : str or None
            The model or generator, if the files say.
        format_a, format_b : str
            What was recognised: ``"HELM"``, ``"lm-evaluation-harness"``,
            ``"Inspect"``, ``"AlpacaEval"`` or ``"plain JSON"``.
        dropped : list
            The ids that `drop_unmatched` left out.

    Raises
    ------
    FileNotFoundError
        If a path leads nowhere.
    ValueError
        If a file is none of these or is damaged, a folder holds several runs, an
        example is there several times, has no output or only in one run, inputs of
        the same id differ (other versions of a task), or a metric is not there.

    Warns
    -----
    UserWarning
        If both outputs are equal in every pair.

    See Also
    --------
    PairDifference : Turns the pairs into difference vectors.

    Notes
    -----
    Messages of a chat and contents in parts become one text: a message alone is its
    content, several are headed by their roles, an image is ``[image]``, and reasoning
    is left out. Runs that weigh given choices instead of generating (likelihoods in
    lm-evaluation-harness, ``multiple_choice_separate`` in HELM) are refused: which
    choice is the model's depends on the metric, and whether it is right is known
    without a judge. The letter of a ``multiple_choice_joint`` run of HELM becomes what
    it stands for.

    The output of lm-evaluation-harness is the whole response; filters change only the
    scores. Scores of Inspect are numbers by its own rule: C is 1, P a half, I and N
    are 0. Where several outputs of an example were scored together, there are no
    scores.

    The winner among the examples that `drop_unmatched` keeps need not be the winner
    among all: a model that fails on hard examples is judged on easy ones.

    Inspect's archives are compressed with Zstandard, which Python's library reads from
    3.14 on; before that, the package `zstandard` or `backports.zstd` is used.

    Examples
    --------
    >>> import json, tempfile
    >>> from pathlib import Path
    >>> from skdiffuse.datasets import read_pairs
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name, outputs in {"a": ["4", "Paris"], "b": ["four", "Paris."]}.items():
    ...     records = [
    ...         {"instruction": asked, "output": output, "generator": f"model-{name}"}
    ...         for asked, output in zip(["2+2?", "Capital of France?"], outputs)
    ...     ]
    ...     _ = (folder / f"{name}.json").write_text(json.dumps(records))
    >>> runs = read_pairs(folder / "a.json", folder / "b.json")
    >>> runs.pairs
    [('4', 'four'), ('Paris', 'Paris.')]
    >>> runs.inputs
    ['2+2?', 'Capital of France?']
    >>> runs.format_a, runs.name_b
    ('AlpacaEval', 'model-b')
    """
    runs = [read_run(p, side) for p, side in zip((path_a, path_b), _SIDES, strict=True)]
    both = [keep, keep] if isinstance(keep, dict | None) else list(keep)
    if len(both) != 2 or not all(isinstance(one, dict | None) for one in both):
        raise ValueError(
            f"keep={keep!r} must be a dict, or a pair of them: A's and B's."
        )
    for run, chosen, side in zip(runs, both, _SIDES, strict=True):
        _keep(run, chosen or {}, side)
        _check_one_name(run, side)
    by_id = all(example.id is not None for run in runs for example in run.examples)
    tables = [_by_key(run, side, by_id) for run, side in zip(runs, _SIDES, strict=True)]
    keys, dropped = _match(tables, drop_unmatched)
    a, b = ([table[key] for key in keys] for table in tables)
    if by_id:
        _check_versions(a, b, same_format=runs[0].format == runs[1].format)
    pairs = [(str(x.output), str(y.output)) for x, y in zip(a, b, strict=True)]
    if all(x == y for x, y in pairs):
        warnings.warn(
            f"the outputs of A and B are equal in all {len(pairs)} pairs; is it one "
            "run twice?",
            UserWarning,
            stacklevel=3,  # past `validate_params`
        )
    metrics = [name for name in _metrics(a) if name in _metrics(b)]
    metric = _metric(metric, metrics, runs, (a, b))
    return Bunch(
        pairs=pairs,
        inputs=_or_none([x.input or y.input for x, y in zip(a, b, strict=True)]),
        targets=_or_none([example.target for example in a]),
        ids=[_name(example, by_id) for example in a],
        score_a=_scores(a, metric),
        score_b=_scores(b, metric),
        metric=metric,
        metrics=metrics,
        name_a=_generator(runs[0]),
        name_b=_generator(runs[1]),
        format_a=runs[0].format,
        format_b=runs[1].format,
        dropped=dropped,
    )


def _keep(run: Run, chosen: dict[str, Any], side: str) -> None:
    """Keep the examples of a run that `keep` names."""
    for key, value in chosen.items():
        known = {name for example in run.examples for name in example.trial}
        if key not in known:
            raise ValueError(
                f"keep has {key!r}, which {side} ({run.format}) does not; there is "
                f"{_listed(sorted(known)) or 'nothing to choose by'}."
            )
        values = {e.trial[key]: None for e in run.examples if key in e.trial}
        if str(value) not in map(str, values):
            raise ValueError(
                f"keep has {key!r}: {value!r}, but {side} has {_listed(values)} there; "
                "choose one of them."
            )
        # One without the key, such as one that failed, leaves nothing to choose.
        run.examples = [
            example
            for example in run.examples
            if str(example.trial.get(key, value)) == str(value)
        ]


def _check_one_name(run: Run, side: str) -> None:
    if run.name_key is not None:
        names = list(
            dict.fromkeys(example.trial.get(run.name_key) for example in run.examples)
        )
        if len(names) > 1:
            raise ValueError(
                f"{side} holds outputs of {len(names)} generators ({_listed(names)}); "
                f"choose with keep={{{run.name_key!r}: {names[0]!r}}} (a pair of them, "
                "A's and B's)."
            )


def _generator(run: Run) -> str | None:
    name = run.examples[0].trial.get(run.name_key) if run.name_key else run.name
    return name if isinstance(name, str) else None


def _by_key(run: Run, side: str, by_id: bool) -> dict[str, Example]:
    """Give each example its key; each is there once."""
    what = "id" if by_id else "input"
    groups: dict[str, list[Example]] = defaultdict(list)
    for row, example in enumerate(run.examples):
        name = _name(example, by_id)
        is_name = isinstance(name, str | int | float) and not isinstance(name, bool)
        if not is_name or name != name:  # NaN
            others = "" if by_id else " (not every example of both runs has an id)"
            raise ValueError(
                f"{side}: example {row} has {name!r} as its {what}{others}; give each "
                "example of both runs an id, a number or a word."
            )
        # As 1.0, where another tool wrote a column with gaps.
        is_whole = isinstance(name, float) and name.is_integer()
        groups[str(int(name) if is_whole else name)].append(example)
    twice = [examples for examples in groups.values() if len(examples) > 1]
    if twice:
        shown = _listed([_name(examples[0], by_id) for examples in twice])
        raise ValueError(
            f"{side} ({run.format}): {len(twice)} of {len(groups)} examples are there "
            f"several times ({what} {shown}); {_choice(twice)}"
        )
    return {key: examples[0] for key, examples in groups.items()}


def _choice(groups: list[list[Example]]) -> str:
    """Say how to choose among outputs of the same example."""
    differing: dict[str, list[Any]] = {}
    for examples in groups:
        for key in examples[0].trial:
            values = dict.fromkeys(example.trial.get(key) for example in examples)
            if len(values) > 1 and all(len(str(value)) <= _SHOWN for value in values):
                differing.setdefault(key, list(values))
    if not differing:
        return "nothing tells them apart: drop the copies, or give each its own id."
    choice = {key: values[0] for key, values in list(differing.items())[:3]}
    shown = "; ".join(f"{key}: {_listed(differing[key])}" for key in choice)
    return f"they differ ({shown}): choose, for example keep={choice!r}."


def _match(
    tables: list[dict[str, Example]], drop_unmatched: bool
) -> tuple[list[str], list[Any]]:
    """Return the keys that both runs have outputs for, and those left out.

    Raises
    ------
    ValueError
        If one run lacks an example or its output, unless these are dropped; or if
        none is left.
    """
    faults: list[str] = []
    dropped: dict[str, Any] = {}
    for here, there, names in (
        (tables[0], tables[1], _SIDES),
        (tables[1], tables[0], _SIDES[::-1]),
    ):
        alone = [key for key in here if key not in there]
        silent = [key for key, example in here.items() if example.output is None]
        if alone:
            faults.append(
                f"{len(alone)} of {len(here)} examples of {names[0]} are not in "
                f"{names[1]} (first {_listed(alone)})"
            )
        if silent:
            why = here[silent[0]].fault
            faults.append(
                f"{len(silent)} of {len(here)} examples of {names[0]} have no output "
                f"(first {_listed(silent)}: {why})"
            )
        for key in [*alone, *silent]:
            dropped.setdefault(key, _original(here[key], key))
    keys = [key for key in tables[0] if key not in dropped]
    if faults and (not drop_unmatched or not keys):
        raise ValueError(
            f"the runs do not match: {', and '.join(faults)}; "
            + (
                "run both on the same examples, or pass drop_unmatched=True to compare "
                "those that both have outputs for."
                if keys
                else "no example has an output in both; are these whole runs of one "
                "task?"
            )
        )
    return keys, list(dropped.values())


def _check_versions(a: list[Example], b: list[Example], *, same_format: bool) -> None:
    """Raise a ValueError if examples of the same id were not asked the same."""
    other = []
    for x, y in zip(a, b, strict=True):
        seen = (x.version, y.version) if same_format else (x.input, y.input)
        if None not in seen and seen[0] != seen[1]:
            other.append((x.id, *seen))
    if other:
        name, first, second = other[0]
        raise ValueError(
            f"{len(other)} of {len(a)} examples have other inputs in path_a than in "
            f"path_b (first id {_listed([row[0] for row in other])}; of {name!r}: "
            f"{_short(first)} and {_short(second)}); the runs are of other versions of "
            "the task, so run both on one."
        )


def _metrics(examples: list[Example]) -> list[str]:
    return list(dict.fromkeys(name for one in examples for name in one.scores))


def _metric(
    metric: str | None,
    metrics: list[str],
    runs: list[Run],
    sides: tuple[list[Example], list[Example]],
) -> str | None:
    """Return the metric that was asked for, or the only one."""
    if metric is None:
        free = [
            name
            for name in metrics
            if all(run.metrics is None or name in run.metrics for run in runs)
        ]
        return free[0] if len(free) == 1 else None
    if metric not in metrics:
        lacking = [
            side
            for side, one in zip(_SIDES, sides, strict=True)
            if metric not in _metrics(one)
        ]
        raise ValueError(
            f"metric={metric!r} is no score of {' and '.join(lacking)}; both have "
            f"{_listed(metrics) or 'none that is a number an example'}."
        )
    return metric


def _scores(examples: list[Example], metric: str | None) -> np.ndarray | None:
    if metric is None:
        return None
    return np.array([example.scores.get(metric, np.nan) for example in examples])


def _name(example: Example, by_id: bool) -> Any:
    return example.id if by_id else example.input


def _original(example: Example, key: str) -> Any:
    return example.id if example.id is not None else key


def _or_none(texts: list[str | None]) -> list[str | None] | None:
    return texts if any(text is not None for text in texts) else None


def _listed(values: Iterable[Any]) -> str:
    """Name the first values: ``1, 2, 3 and 4 more``."""
    values = list(values)
    shown = ", ".join(_short(value) for value in values[:3])
    return f"{shown} and {len(values) - 3} more" if len(values) > 3 else shown


def _short(value: Any) -> str:
    is_long = isinstance(value, str) and len(value) > _SHOWN
    return repr(value[:_SHOWN] + "..." if is_long else value)
