"""What the files of each harness hold, as examples of one shape."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skdiffuse.datasets._text import chat_of, document, only_media, readable

HELM = "HELM"
LM_EVAL = "lm-evaluation-harness"
INSPECT = "Inspect"
ALPACA_EVAL = "AlpacaEval"
PLAIN = "plain JSON"

_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # Inspect: correct, partial, ...
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# What is no metric of a sample, where an early version does not list these.
_LM_EVAL_KEYS = {
    *("doc_id", "doc", "target", "arguments", "resps", "filtered_resps", "filter"),
    *("metrics", "doc_hash", "prompt_hash", "target_hash"),
}
# Methods of HELM that weigh given texts and generate none.
_HELM_WEIGHING = ("multiple_choice_separate", "language_modeling", "ranking_binary")


@dataclass(slots=True)
class Example:
    """One output of a run, with what tells it from others of the same example."""

    id: Any
    input: str | None
    output: str | None
    fault: str = "it has no output"  # why, where `output` is None
    target: str | None = None
    scores: dict[str, float] = field(default_factory=dict)
    trial: dict[str, Any] = field(default_factory=dict)
    version: str | None = None  # the same in two runs of one task


@dataclass(slots=True)
class Run:
    """The examples of one file or folder."""

    format: str
    examples: list[Example]
    name: str | None = None
    name_key: str | None = None  # the key of `trial` that names the generator
    metrics: tuple[str, ...] | None = None  # taken unasked; None for any


def helm(state: dict[str, Any], file: Path) -> Run:
    """Read the state of a scenario, and the statistics beside it.

    Where a letter was to be chosen, the output is what the letter stands for: HELM
    scores that, and a judge can read it.
    """
    spec = state.get("adapter_spec") or {}
    method = str(spec.get("method", ""))
    requests = _objects(state["request_states"], "request_states")
    if method.startswith(_HELM_WEIGHING) or any(
        request.get("reference_index") is not None for request in requests
    ):
        raise ValueError(
            f"this run ({method}) weighs given texts and generates none, so there is "
            "nothing to judge; compare its scores, or run the scenario with "
            "multiple_choice_joint or generation."
        )
    scores = _helm_scores(file.with_name("per_instance_stats.json"))
    requested = Counter(_helm_key(request) for request in requests)
    examples = []
    for request in requests:
        key = _helm_key(request)
        alone = requested[key] == 1
        examples += _helm_examples(request, scores.get(key, {}) if alone else {})
    return Run(HELM, examples, spec.get("model") or spec.get("model_deployment"))


def _helm_examples(request: dict[str, Any], scores: dict[str, float]) -> list[Example]:
    """Return one example for each completion of a request."""
    instance, result = request.get("instance") or {}, request.get("result") or {}
    given = _helm_text(instance.get("input"))
    right = [
        _helm_text(reference.get("output")) or ""
        for reference in instance.get("references") or []
        if "correct" in (reference.get("tags") or [])
    ]
    fault = "it has no completion" if result else "it has no result"
    if result.get("error"):
        fault = f"its request failed: {_short(result['error'])}"
    completions = result.get("completions") or [{}]
    trial = {
        "perturbation": (instance.get("perturbation") or {}).get("name"),
        "train_trial_index": request.get("train_trial_index"),
        "random": (request.get("request") or {}).get("random"),
    }
    examples = []
    for number, completion in enumerate(completions):
        output = completion.get("text")
        if isinstance(output, str):
            mapping = request.get("output_mapping") or {}
            output = mapping.get(output.strip(), output)
        if result.get("success") is False:
            output = None
        if not output and completion.get("multimodal_content"):
            output, fault = None, "its output is no text"
        examples.append(
            Example(
                id=instance.get("id"),
                input=given,
                output=output,
                fault=fault,
                target="\n".join(right) or None,
                scores=scores if len(completions) == 1 else {},
                trial=trial | {"completion": number},
                version=given,
            )
        )
    return examples


def _helm_text(value: Any) -> str | None:
    """Return the text of an input or an output, which in early versions is bare."""
    if not isinstance(value, dict):
        return readable(value)
    media = (value.get("multimedia_content") or {}).get("media_objects")
    return readable(value.get("messages") or media or value.get("text"))


def _helm_key(one: dict[str, Any]) -> tuple[str, str, Any]:
    """Return what HELM tells the statistics of an instance by."""
    of = one.get("instance") or {"id": one.get("instance_id"), **one}
    perturbation = json.dumps(of.get("perturbation"), sort_keys=True)
    return str(of.get("id")), perturbation, one.get("train_trial_index")


def _helm_scores(file: Path) -> dict[tuple[str, str, Any], dict[str, float]]:
    scores: dict[tuple[str, str, Any], dict[str, float]] = {}
    if file.is_file():
        content = document(file.read_bytes(), file.name)
        for one in _objects(content, file.name):
            found = scores.setdefault(_helm_key(one), {})
            for stat in one.get("stats") or []:
                if (mean := _number(stat.get("mean"))) is not None:
                    found.setdefault(stat["name"]["name"], mean)
    return scores


def lm_eval(samples: list[dict[str, Any]], file: Path) -> Run:
    """Read logged samples; the output is the whole response, not the filtered one.

    Filters cut a response down to what is scored, which is less than what a person
    would judge.
    """
    examples = []
    for row, sample in enumerate(samples):
        prompt, outputs = _lm_eval_request(sample, row)
        trial = {"filter": sample["filter"]} if "filter" in sample else {}
        doc = sample.get("doc")
        # Prompts differ with the chat template of the model; documents do not.
        version = prompt
        if doc is not None:
            version = json.dumps(doc, sort_keys=True, ensure_ascii=False)
        # The scores of several responses are of all of them, or of the first.
        alone = len(outputs) == 1
        for number, output in enumerate(outputs):
            examples.append(
                Example(
                    id=sample["doc_id"],
                    input=prompt,
                    output=output,
                    target=readable(sample.get("target")),
                    scores=_lm_eval_scores(sample) if alone else {},
                    trial=trial if alone else trial | {"repeat": number},
                    version=version,
                )
            )
    return Run(LM_EVAL, examples, _lm_eval_name(file))


def _lm_eval_request(
    sample: dict[str, Any], row: int
) -> tuple[str | None, list[str | None]]:
    """Return the prompt of a sample, and what was generated for it.

    Raises
    ------
    ValueError
        If nothing was, or for several prompts.
    """
    responses = sample.get("resps") or [[None]]
    outputs = responses[0] if isinstance(responses[0], list) else responses[:1]
    prompt, is_generated = _lm_eval_prompt(sample.get("arguments"))
    if not is_generated or any(not isinstance(text, str | None) for text in outputs):
        raise ValueError(
            f"record {row} has likelihoods of given texts and no generated one "
            "(output_type loglikelihood or multiple_choice), so there is nothing to "
            "judge: which choice is the model's depends on the metric, and whether it "
            "is right is known; compare the scores, or run a generate_until variant of "
            "the task."
        )
    if len(responses) > 1:
        raise ValueError(
            f"record {row} has {len(responses)} requests in 'resps', and no one "
            "output; make a file of one output each, with 'id' and 'output'."
        )
    return prompt, outputs or [None]


def _lm_eval_prompt(arguments: Any) -> tuple[str | None, bool]:
    """Return the prompt of the first request, and whether it was to be continued."""
    if not arguments:
        return None, True
    values = arguments.values() if isinstance(arguments, dict) else arguments
    first = next(iter(values))
    request = list(first.values() if isinstance(first, dict) else first)
    prompt = request[0]
    if isinstance(prompt, list) and len(prompt) == 1:
        prompt = prompt[0]
    text = chat_of(prompt) if isinstance(prompt, str) else readable(prompt)
    # To be continued with settings; a given text to weigh is a string.
    return text, len(request) > 1 and isinstance(request[1], dict)


def _lm_eval_scores(sample: dict[str, Any]) -> dict[str, float]:
    names = sample.get("metrics")
    if not isinstance(names, list):
        names = [name for name in sample if name not in _LM_EVAL_KEYS]
    # 'bypass' stands where nothing was measured.
    return _numbers({n: sample.get(n) for n in names if n != "bypass"})


def _lm_eval_name(file: Path) -> str | None:
    """Return the model of the summary that was written with the samples."""
    date = file.stem.rpartition("_")[2]
    for summary in sorted(file.parent.glob("*.json")):
        if summary.stem.endswith(f"_{date}"):
            try:
                content = document(summary.read_bytes(), summary.name)
            except ValueError:
                continue
            name = content.get("model_name") if isinstance(content, dict) else None
            if isinstance(name, str):
                return name
    return None


def inspect(header: dict[str, Any], samples: Iterable[dict[str, Any]]) -> Run:
    """Read samples in the order of the dataset; those that failed have no output."""
    examples = [example for one in samples for example in _inspect_examples(one)]
    spec = header.get("eval") or {}
    order = (spec.get("dataset") or {}).get("sample_ids") or []
    place = {str(name): i for i, name in enumerate(order)}
    examples.sort(key=lambda example: place.get(str(example.id), len(place)))
    return Run(INSPECT, examples, spec.get("model"))


def _inspect_examples(sample: dict[str, Any]) -> list[Example]:
    """Return one example for each choice of the last output of a sample."""
    kept = sample.get("attachments") or {}
    given = readable(sample.get("input"), kept)
    output, error = sample.get("output") or {}, sample.get("error")
    fault = "the model was not asked"
    if error:
        message = error.get("message", "") if isinstance(error, dict) else error
        fault = f"it ended with an error: {_short(message)}"
    choices = output.get("choices") or [{}]
    alone = len(choices) == 1
    trial = {"epoch": sample.get("epoch")}
    examples = []
    for number, choice in enumerate(choices):
        content = (choice.get("message") or {}).get("content")
        if content is None:
            content = output.get("completion") or None
        text = None if error else readable(content, kept)
        if text is not None and only_media(content):
            text, fault = None, "its output is no text"
        examples.append(
            Example(
                id=sample.get("id"),
                input=given,
                output=text,
                fault=fault,
                target=_lines(sample.get("target")),
                scores=_inspect_scores(sample) if alone else {},
                trial=trial if alone else trial | {"choice": number},
                version=given,
            )
        )
    return examples


def _inspect_scores(sample: dict[str, Any]) -> dict[str, float]:
    scores = sample.get("scores") or {}
    if not scores and isinstance(sample.get("score"), dict):
        scores = {"score": sample["score"]}
    values: dict[str, Any] = {}
    for name, score in scores.items():
        value = score.get("value") if isinstance(score, dict) else None
        parts = value if isinstance(value, dict) else None
        values |= {f"{name}/{k}": v for k, v in parts.items()} if parts else {}
        values |= {} if parts else {name: value}
    return _numbers(
        {
            name: _LETTERS.get(value, _WORDS.get(value.lower(), value))
            if isinstance(value, str)
            else value
            for name, value in values.items()
        }
    )


def alpaca_eval(records: list[dict[str, Any]], file: Path) -> Run:
    """Read outputs of AlpacaEval, which are told apart by their instruction."""

    def given(record: dict[str, Any]) -> str | None:
        parts = [readable(record.get(key)) for key in ("instruction", "input")]
        return "\n\n".join(part for part in parts if part) or None

    return _records(records, ALPACA_EVAL, given, "generator")


def plain(records: list[dict[str, Any]], file: Path) -> Run:
    """Read records with `output` and with `id` or `input`."""
    key = next((k for k in ("generator", "model") if k in records[0]), None)
    return _records(records, PLAIN, lambda record: readable(record.get("input")), key)


def _records(
    records: list[dict[str, Any]],
    name: str,
    given: Callable[[dict[str, Any]], str | None],
    name_key: str | None,
) -> Run:
    meant = {"id", "input", "instruction", "output", "target"}
    examples = []
    for row, record in enumerate(records):
        content = record.get("output")
        output = readable(content)
        if content is not None and (output is None or only_media(content)):
            raise ValueError(
                f"record {row} has {_short(content)} as its output, which is no text; "
                "write it as a string."
            )
        others = {k: v for k, v in record.items() if k not in meant}
        source = given(record)
        if source is None and record.get("input") is not None:
            # Whatever it is, two runs of one example have the same.
            source = json.dumps(record["input"], sort_keys=True, ensure_ascii=False)
        examples.append(
            Example(
                id=record.get("id"),
                input=source,
                output=output,
                target=_lines(record.get("target")),
                scores=_numbers(others),
                trial={
                    k: v for k, v in others.items() if isinstance(v, str | int | None)
                },
                version=source,
            )
        )
    return Run(name, examples, None, name_key, metrics=("score",))


def _lines(value: Any) -> str | None:
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return "\n".join(value)
    return readable(value)


def _numbers(values: dict[str, Any]) -> dict[str, float]:
    numbers = {name: _number(value) for name, value in values.items()}
    return {name: value for name, value in numbers.items() if value is not None}


def _number(value: Any) -> float | None:
    """Return a number, also one written as a word; None if it is none."""
    if isinstance(value, bool | int | float | str):
        try:
            number = float(value)
        except (ValueError, OverflowError):
            return None
        return None if isinstance(value, str) and not math.isfinite(number) else number
    return None


def _objects(value: Any, name: str) -> list[dict[str, Any]]:
    if not isinstance(value, list) or not all(isinstance(v, dict) for v in value):
        raise ValueError(f"{name} is no list of objects; is it the harness's own file?")
    return value


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else text[:60] + "..."
