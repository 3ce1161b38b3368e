"""The command `annotate`: people judge, one pair after the other."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import polars as pl
import typer

import skdiffuse
from skdiffuse.cli import (
    _answers,
    _embed,
    _files,
    _pairs,
    _people,
    _report,
    _selectors,
    _terminal,
)
from skdiffuse.cli._options import (
    ClusteringOption,
    ConfidenceOption,
    EmbedderOption,
    FileArgument,
    InputOption,
    JsonOption,
    JudgeOption,
    KnownTiesOption,
    LeastOption,
    MostOption,
    OrderOption,
    OutputAOption,
    OutputBOption,
    RepresentativeOption,
    RiskOption,
    RuleOption,
    SeedOption,
    TiesOption,
    check_confidence,
)

if TYPE_CHECKING:
    from skdiffuse.annotation import Session

# What decides which pairs are asked for, and when that is enough.
_DECIDING = (
    "output_a",
    "output_b",
    "rule",
    "risk",
    "ties",
    "min_annotations",
    "max_annotations",
    "selector",
    "judge",
    "known_ties",
    "clustering",
    "representative",
    "embedder",
    "seed",
)
# What is shown beside them, which may change.
_SHOWN = "input_column"
_ABOUT = "annotate"


def annotate(
    context: typer.Context,
    file: FileArgument,
    log: Annotated[
        Path | None,
        typer.Option(
            help="Where the answers are kept.  [default: beside FILE, with the ending "
            ".annotations.jsonl]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write the judged pairs as a table when it has ended: "
            f"{_files.FORMATS}."
        ),
    ] = None,
    web: Annotated[
        bool,
        typer.Option(
            "--web",
            help="Ask on a page in the browser, which several people may open at once "
            "(extra 'web').",
        ),
    ] = False,
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Of the page; 0 takes a free one.")
    ] = 0,
    show_leader: Annotated[
        bool,
        typer.Option(
            "--show-leader",
            help="Show the votes while judging, which sways whoever sees them.",
        ),
    ] = False,
    rule: RuleOption = None,
    risk: RiskOption = None,
    ties: TiesOption = None,
    min_annotations: LeastOption = None,
    max_annotations: MostOption = None,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    input_column: InputOption = None,
    selector: OrderOption = None,
    judge: JudgeOption = None,
    known_ties: KnownTiesOption = None,
    confidence: ConfidenceOption = 0.95,
    clustering: ClusteringOption = "ward",
    representative: RepresentativeOption = "cosine",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Show one pair after the other, take who is better, and stop when it is clear.

    Keys: 1 left, 2 right, 0 tie, s skip, u undo, q save and quit. Which of the two
    stands on the left is random, and nobody sees which it is. Each answer is on disk
    before the next question; the same command goes on where it was left.
    """
    from skdiffuse.annotation._lock import only_one

    check_confidence(confidence)
    _files.check_there(file)
    path = log or file.with_suffix(".annotations.jsonl")
    _check_log(path, file)
    if out is not None:
        _files.check_new(out)
        if out.absolute() == path.absolute():
            raise ValueError(f"--out {out} is where the answers are kept; rename it.")
    show = _people.on_page(port, show_leader) if web else _people.on_screen(show_leader)
    given = {name: context.params[name] for name in (*_DECIDING, _SHOWN)}
    with only_one(path):
        options = _remembered(path, given, _typed(context))
        session = _session(file, path, options, confidence)
        show(session)
    result = session.summary()
    if not (session.has_ended or show_leader):
        _hide_leader(result)
    _terminal.show(result, as_json, _report.annotation)
    # Before, it would show who leads.
    if out is not None and session.has_ended:
        _files.write_table(pl.DataFrame(session.table()), out)


def _check_log(path: Path, file: Path) -> None:
    """Raise a ValueError unless answers can be kept there."""
    if path.absolute() == file.absolute():
        raise ValueError(f"--log {path} is FILE itself; give another.")
    if path.exists() and not path.is_file():
        raise ValueError(f"--log {path} is no plain file; give another.")
    if not path.absolute().parent.is_dir():
        raise ValueError(f"the folder of {path} does not exist; make it first.")


def _typed(context: typer.Context) -> set[str]:
    """Return which options the user gave, and not their defaults."""
    return {
        name
        for name in (*_DECIDING, _SHOWN)
        if getattr(context.get_parameter_source(name), "name", "") != "DEFAULT"
    }


def _remembered(path: Path, given: dict[str, Any], typed: set[str]) -> dict[str, Any]:
    """Return the options of the first time; those typed now must not contradict."""
    if not path.exists():
        return given
    about = skdiffuse.comparison.read_remarks(path)[-1].get(_ABOUT)
    if not isinstance(about, dict) or not about.keys() >= {
        *_DECIDING,
        "outputs",
        "n_select",
    }:
        raise ValueError(
            f"{path} was not written by annotate; move it, or give another --log."
        )
    for name in sorted(typed):
        was, now = about.get(name), given[name]
        raised = name == "max_annotations" and now > _effect(about)[name]
        if raised or name == _SHOWN:
            about[name] = now
        elif was != now and _effect(about)[name] != now:
            option = "--" + name.replace("_", "-")
            then = "without it" if was is None else f"with {option} {was}"
            raise ValueError(
                f"{option} is {now} now, but {path} was begun {then}; leave it out to "
                "go on, or give another --log to begin anew."
            )
    return about


def _effect(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options with what stands for those that were not given."""
    least, most = _selectors.limits(
        options["min_annotations"], options["max_annotations"]
    )
    return options | {
        "rule": options["rule"] or "hypergeometric",
        "selector": _selectors.order_of(options["selector"], options["rule"]),
        "min_annotations": least,
        "max_annotations": most,
    }


def _session(
    file: Path,
    path: Path,
    options: dict[str, Any],
    confidence: float,
) -> "Session":
    """Begin, or take up, the comparison of the outputs of a file."""
    from skdiffuse.annotation import Session
    from skdiffuse.annotation._session import digest

    pairs = _pairs.read_whole(
        file, options["output_a"], options["output_b"], options.get(_SHOWN)
    )
    outputs = digest(pairs.texts_a, pairs.texts_b)
    if options.get("outputs", outputs) != outputs:
        raise ValueError(
            f"the outputs in {file} are not those that {path} was begun with; bring "
            "them back, or give another --log to begin anew."
        )
    # It stays when more annotations are asked for later.
    most = _effect(options)["max_annotations"]
    options.setdefault("n_select", min(most, len(pairs)))
    comparison = _comparison(pairs, path, options)
    return Session(
        comparison,
        pairs.texts_a,
        pairs.texts_b,
        pairs.inputs,
        path,
        seed=options["seed"],
        about={_ABOUT: options | {"outputs": outputs}},
        summarise=partial(_result, confidence=confidence, options=options),
    )


def _comparison(
    pairs: _pairs.Pairs, path: Path, options: dict[str, Any]
) -> "skdiffuse.PreferenceComparison":
    effect = _effect(options)
    name = effect["selector"]
    _selectors.check_judge(options["judge"], name)
    rule = _selectors.make_rule(options["rule"], options["risk"], options["ties"], name)
    chooser = _selectors.make(
        name,
        options["n_select"],
        options["clustering"],
        options["representative"],
        options["seed"],
    )
    comparison = skdiffuse.PreferenceComparison(
        chooser,
        rule,
        min_annotations=effect["min_annotations"],
        max_annotations=effect["max_annotations"],
    )
    predicted = None
    if options["judge"] is not None:
        predicted = _files.predictions(pairs.table, options["judge"])
    asked = pairs.not_tied(options["known_ties"])
    known = pairs.mask_without(asked)
    with _terminal.progress() as stage:
        X = _selectors.vectors(name, pairs, options["embedder"], options["seed"], stage)
        if path.exists():
            return comparison.load(path, X, judge=predicted)
        return comparison.start(X, judge=predicted, known_ties=known)


def _result(
    session: "Session", *, confidence: float, options: dict[str, Any]
) -> dict[str, Any]:
    """Return what is to be said of a session, for machines and for people."""
    comparison = session.comparison
    verdict = comparison.verdict_
    size = _answers.size_of(comparison, confidence)
    result = _answers.from_verdict(verdict, comparison.annotated_indices_, size)
    result["skipped"] = comparison.skipped_indices_.tolist()
    result["log"] = str(session.path)
    left, right = session.sides()
    result["preferred"] = {"left": left, "right": right}
    result["notes"] = _notes(session, verdict, size, options)
    return result


def _hide_leader(result: dict[str, Any]) -> None:
    """Take out what would sway an annotator who goes on later."""
    for name in ("counts", "winning_distance"):
        result[name] = None
    for name in ("votes", "winning distance"):
        result["details"].pop(name, None)


def _notes(
    session: "Session", verdict: Any, size: Any, options: dict[str, Any]
) -> list[str]:
    if not session.has_ended:
        return []
    notes = _answers.notes_on_verdict(
        verdict,
        rule=options["rule"],
        size=size,
        equal_chances=options["selector"] == "random",
        ties_are_draws=options["ties"] == "draw",
        selected_before=False,
        as_numbers=False,
    )
    from scipy.stats import binomtest

    left, right = session.sides()
    # The sides are random, so a fair eye prefers each in half of the decided pairs.
    if left + right and binomtest(left, left + right).pvalue < 0.01:
        notes.append(
            f"The left output was preferred {left} times, the right one {right}: "
            "which side it stood on seems to have played a part."
        )
    return notes
