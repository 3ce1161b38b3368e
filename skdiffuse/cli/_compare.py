"""The command `compare`: judge one example after the other until it is clear."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import skdiffuse
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
    JudgeOption,
    KnownTiesOption,
    LeastOption,
    MostOption,
    OrderOption,
    OutputAOption,
    OutputBOption,
    ReportOption,
    RepresentativeOption,
    RiskOption,
    RuleOption,
    SeedOption,
    TiesOption,
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
            help="Where the program's answers are kept, and looked up: no question "
            "whose answer is kept is asked again. Take another when the program has "
            "changed, but its command has not. Default: FILE with the ending "
            ".oracle.jsonl."
        ),
    ] = None,
    input_column: InputOption = None,
    rule: RuleOption = None,
    risk: RiskOption = None,
    ties: TiesOption = None,
    min_annotations: LeastOption = None,
    max_annotations: MostOption = None,
    budget: Annotated[
        int | None,
        typer.Option(
            min=1, help="Instead of a rule: choose so many examples at once, judge all."
        ),
    ] = None,
    output_a: OutputAOption = "output_a",
    output_b: OutputBOption = "output_b",
    selector: OrderOption = None,
    judge: JudgeOption = None,
    known_ties: KnownTiesOption = None,
    confidence: ConfidenceOption = 0.95,
    clustering: ClusteringOption = "ward",
    representative: RepresentativeOption = "cosine",
    embedder: EmbedderOption = _embed.DEFAULT,
    seed: SeedOption = 0,
    report: ReportOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say which of two generators is better from a few judged examples."""
    from skdiffuse.cli import _html

    of_programs = {
        "--swap": swap,
        "--retries": retries != 2,
        "--timeout": timeout != 60,
        "--cache": cache is not None,
        "--input": input_column is not None and report is None,
    }
    _check_oracle(oracle, oracle_command, of_programs)
    of_rules = {
        "--rule": rule,
        "--risk": risk,
        "--ties": ties,
        "--min-annotations": min_annotations,
        "--max-annotations": max_annotations,
    }
    _check_budget(budget, of_rules)
    check_confidence(confidence)
    _html.check(report, cache)
    name = _selectors.order_of(selector, rule)
    _check_judge(judge, oracle, name)
    stopping_rule = _selectors.make_rule(rule, risk, ties, name)
    pairs = _pairs.read_whole(file, output_a, output_b, input_column)
    predicted = None if judge is None else _files.predictions(pairs.table, judge)
    asked = pairs.not_tied(known_ties)
    ask: Callable[[np.ndarray], np.ndarray]
    program = None
    if oracle is not None:
        _files.column(pairs.table, oracle, "--oracle")
        ask = partial(_files.preferences, pairs.table, oracle, "--oracle")
    else:
        words = _oracle.split(oracle_command or "")
        _oracle.check_timeout(timeout)
        answers = _oracle.AnswerFile(cache or file.with_suffix(".oracle.jsonl"))
        ask = program = _oracle.CommandOracle(
            words, pairs, answers, swap, retries, timeout
        )
    least, most = _selectors.limits(min_annotations, budget or max_annotations)
    chooser = _selectors.make(name, most, clustering, representative, seed)
    with _terminal.progress() as stage:
        X = _selectors.vectors(name, pairs, embedder, seed, stage)
        differences = X
        if report is not None and name == "random":
            # Random examples are drawn without a look at the outputs; a map has one.
            differences = _selectors.vectors("norm", pairs, embedder, seed, stage)
        if program is not None:
            bar = stage("Asking the program")
            program.advance = lambda done: bar(done, most)
        drawn = name in _selectors.DRAWN or (
            name == "diffuse" and representative == "random"
        )
        size, comparison = None, None
        if budget is not None and not drawn:
            selected = asked[chooser.fit(X[asked]).selected_indices_]
            verdict = _answers.fixed_verdict(ask(selected), len(asked), len(X))
        else:
            comparison = skdiffuse.PreferenceComparison(
                chooser,
                stopping_rule if budget is None else skdiffuse.FixedBudget(),
                min_annotations=least,
                max_annotations=most,
            ).fit(X, ask, judge=predicted, known_ties=pairs.mask_without(asked))
            selected, verdict = comparison.annotated_indices_, comparison.verdict_
            size = _answers.size_of(comparison, confidence)
    result = _answers.from_verdict(verdict, selected, size)
    result["notes"] = _answers.notes_on_verdict(
        verdict,
        rule=rule if budget is None else "fixed",
        size=size,
        equal_chances=name == "random",
        ties_are_draws=ties == "draw",
        selected_before="row" in pairs.table.columns,
        as_numbers=oracle is not None
        and not _files.has_preferences(pairs.table, oracle),
    )
    if program is not None:
        program.add_to(result)
    _terminal.show(result, as_json, _report.verdict)
    if report is not None:
        with _html.drawn(report):
            _html.write_comparison(
                report,
                result,
                pairs,
                selected,
                verdict.preferences,
                differences=differences,
                comparison=comparison,
            )


def _check_oracle(
    oracle: str | None, oracle_command: str | None, of_programs: dict[str, bool]
) -> None:
    """Raise a ValueError unless there is one oracle, and no option of another."""
    if (oracle is None) == (oracle_command is None):
        raise ValueError(
            "give --oracle with a column of preferences, or --oracle-command with a "
            "program that prints them: one of the two."
        )
    idle = [option for option, given in of_programs.items() if given]
    if oracle is not None and idle:
        raise ValueError(
            f"--oracle reads a column, and {' and '.join(idle)} is for "
            "--oracle-command; drop one of them."
        )


def _check_budget(budget: int | None, of_rules: dict[str, Any]) -> None:
    """Raise a ValueError if a fixed number is contradicted."""
    given = [option for option, value in of_rules.items() if value is not None]
    if budget is not None and given:
        raise ValueError(
            f"--budget judges so many, whatever {' and '.join(given)} may say; drop "
            "one of them."
        )


def _check_judge(judge: str | None, oracle: str | None, selector: str) -> None:
    """Raise a ValueError if a judge is of no use."""
    _selectors.check_judge(judge, selector)
    if judge is not None and judge == oracle:
        raise ValueError(f"--judge and --oracle are both {judge!r}; name two columns.")
