"""The command `compare`: judge one example after the other until it is clear."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import typer

from skdiffuse import FixedBudget, PreferenceComparison
from skdiffuse.cli import (
    _answers,
    _embed,
    _files,
    _oracle,
    _pairs,
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
    KnownTiesOption,
    OutputAOption,
    OutputBOption,
    RepresentativeOption,
    SeedOption,
    SelectorName,
    check_confidence,
)


def compare(
    file: FileArgument,
    oracle: Annotated[
        str | None,
        typer.Option(
            help="Column with the preferences: A, B or tie, or a number in [-1, 1] "
            "that is positive where A is better. Only the chosen rows are read."
        ),
    ] = None,
    oracle_command: Annotated[
        str | None,
        typer.Option(
            help="Instead of a column: a program that is started for each question, "
            "reads it on stdin as one JSON object (row, input, output_a, output_b) and "
            "prints the preference, or a JSON object with the key preference."
        ),
    ] = None,
    swap: Annotated[
        bool,
        typer.Option(
            "--swap",
            help="Ask the program in both orders of the outputs, and take the mean: "
            "many judges prefer what they see first.",
        ),
    ] = False,
    retries: Annotated[
        int, typer.Option(min=0, help="Ask the program again so often if it fails.")
    ] = 2,
    timeout: Annotated[
        float, typer.Option(help="Seconds that the program has for a question.")
    ] = 60,
    cache: Annotated[
        Path | None,
        typer.Option(
            help="Where the program's answers are kept, and looked up: no question is "
            "asked twice. Take another when the program has changed, but its command "
            "has not. Default: FILE with the ending .oracle.jsonl."
        ),
    ] = None,
    input_column: InputOption = None,
    rule: Annotated[
        Literal["hypergeometric", "betting", "fixed"] | None,
        typer.Option(
            help="When to stop: by the heuristic of the DiffUse paper (default), by "
            "bets with a guarantee (in random order), or at --max-annotations."
        ),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(
            help="Stop when the rule's risk is below this (default 0.05): a rule of "
            "thumb, or a guarantee under --rule betting."
        ),
    ] = None,
    ties: Annotated[
        Literal["draw", "drop"] | None,
        typer.Option(
            help="Under --rule hypergeometric a tie is no draw at all (drop, the "
            "default), or a draw that nobody wins."
        ),
    ] = None,
    min_annotations: Annotated[
        int | None,
        typer.Option(min=1, help="Judge at least so many examples. Default: 5."),
    ] = None,
    max_annotations: Annotated[
        int | None,
        typer.Option(min=1, help="Judge at most so many examples. Default: 200."),
    ] = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Instead of a rule: choose so many examples at once, judge all."
        ),
    ] = None,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    selector: Annotated[
        SelectorName | None,
        typer.Option(
            help="Which examples come first: representatives of clusters of "
            "differences (default), random ones (default of --rule betting), random "
            "ones of which those come more often whose outputs differ (weighted), or "
            "those whose outputs differ most (norm)."
        ),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(
            help="Column with a cheap judge's preferences in every row (a number in "
            "[-1, 1], or A, B or tie; 0 for no opinion), made without a look at the "
            "oracle: with random or weighted examples a good one saves judgements, and "
            "none breaks a guarantee."
        ),
    ] = None,
    known_ties: KnownTiesOption = None,
    confidence: ConfidenceOption = 0.95,
    clustering: ClusteringOption = "ward",
    representative: RepresentativeOption = "cosine",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
) -> None:
    """Say which of two generators is better from a few judged examples."""
    if (oracle is None) == (oracle_command is None):
        raise ValueError(
            "give --oracle with a column of preferences, or --oracle-command with a "
            "program that prints them: one of the two."
        )
    of_programs = {
        "--swap": swap,
        "--retries": retries != 2,
        "--timeout": timeout != 60,
        "--cache": cache is not None,
        "--input": input_column is not None,
    }
    idle = [option for option, given in of_programs.items() if given]
    if oracle is not None and idle:
        raise ValueError(
            f"--oracle reads a column, and {' and '.join(idle)} is for "
            "--oracle-command; drop one of them."
        )
    options = {
        "--rule": rule,
        "--risk": risk,
        "--ties": ties,
        "--min-annotations": min_annotations,
        "--max-annotations": max_annotations,
    }
    given = [option for option, value in options.items() if value is not None]
    if budget is not None and given:
        raise ValueError(
            f"--budget judges so many, whatever {' and '.join(given)} may say; drop "
            "one of them."
        )
    check_confidence(confidence)
    name = selector or ("random" if rule == "betting" else "diffuse")
    if judge is not None and name not in _selectors.DRAWN:
        raise ValueError(
            f"--judge is of use with --selector random or weighted, not with {name}."
        )
    stopping_rule = _selectors.make_rule(rule, risk, ties, name)
    most = max_annotations or max(200, min_annotations or 0)
    pairs = _pairs.read(file, output_a, output_b, input_column)
    table = pairs.table
    if pairs.all_equal:
        raise ValueError(
            f"columns {output_a!r} and {output_b!r} have equal outputs in every row, "
            "so there is nothing to compare; look at --output-a and --output-b."
        )
    if oracle is not None:
        _files.column(table, oracle, "--oracle")
    _pairs.refuse_selection(
        file,
        pairs,
        "its other examples are not in it; count its answers with: skdiffuse decide",
    )
    predicted = None
    if judge is not None:
        if judge == oracle:
            raise ValueError(
                f"--judge and --oracle are both {judge!r}; name two columns."
            )
        predicted = _files.predictions(table, judge)
    asked = pairs.not_tied(known_ties)
    known = ~np.isin(np.arange(len(table)), asked)

    program = None
    ask: Callable[[np.ndarray], np.ndarray]
    if oracle is not None:
        ask = partial(_files.preferences, table, oracle, "--oracle")
    elif oracle_command is not None:
        words = _oracle.split(oracle_command)
        _oracle.check_timeout(timeout)
        answers = _oracle.AnswerFile(cache or file.with_suffix(".oracle.jsonl"))
        program = _oracle.CommandOracle(words, pairs, answers, swap, retries, timeout)
        ask = program

    chooser = _selectors.make(name, budget or most, clustering, representative, seed)
    size = None
    with _terminal.progress() as stage:
        X = _selectors.vectors(name, pairs, embedder, seed, stage)
        if program is not None:
            bar = stage("Asking the program")
            program.advance = lambda done: bar(done, budget or most)
        drawn = name in _selectors.DRAWN or (
            name == "diffuse" and representative == "random"
        )
        if budget is not None and not drawn:
            selected = asked[chooser.fit(X[asked]).selected_indices_]
            verdict = _answers.fixed_verdict(ask(selected), len(asked), len(X))
        else:
            most = budget or most
            comparison = PreferenceComparison(
                chooser,
                stopping_rule if budget is None else FixedBudget(),
                min_annotations=min_annotations or min(5, most),
                max_annotations=most,
            ).fit(X, ask, judge=predicted, known_ties=known)
            selected, verdict = comparison.annotated_indices_, comparison.verdict_
            size = _answers.size_of(comparison, confidence)
    result = _answers.from_verdict(verdict, selected, size)
    result["notes"] = _answers.notes_on_verdict(
        verdict,
        rule=rule if budget is None else "fixed",
        size=size,
        equal_chances=name == "random",
        ties_are_draws=ties == "draw",
        selected_before="row" in table.columns,
    )
    if program is not None:
        program.add_to(result)
    _terminal.show(result, as_json, _report.verdict)
