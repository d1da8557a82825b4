"""Metrics for DSPy's optimizers: what a program, or a judge, is to become better at.

Each is a function of (example, prediction, trace, pred_name, pred_trace), as every optimizer of DSPy calls it, and
gives a number in [0, 1], higher is better. Where `pred_name` is given, as GEPA does when it wants to know what went
wrong, it gives a `dspy.Prediction` of `score` and `feedback`: a text made from the conflict report. Without it a plain
number: `BootstrapFewShot` takes any object for a success, and so would take a prediction with a score of 0.

Examples hold `question`, `choices`, `documents` and `answer`, the index of the right choice; those for a judge hold
`claim`, `document` and `stance`, and `question` where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dspy

from regen.fence import one_line
from regen.types import ConflictReport, Document, Evidence

Metric = Callable[..., Any]

_QUOTE = 200
# What the parts of the composite weigh: being right most of all.
_RIGHT, _NET, _CONSISTENT = 0.5, 0.25, 0.25


def truthful_choice(
    example: Any, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> Any:
    """1 where the answer that was kept is the right choice, else 0."""
    right = prediction.answer.choice == example.answer
    return _given(float(right), pred_name, lambda: _of_choices(example, prediction))


def net_improvement(
    example: Any,
    prediction: Any,
    trace: Any = None,
    pred_name: str | None = None,
    pred_trace: Any = None,
    *,
    harm: float = 1.0,
) -> Any:
    """What answering again did: improve minus `harm` times harm, put on a scale from 0 to 1.

    A wrong first answer mended is 1, a right one spoiled is 0, and one that stays as it was `harm` / (1 + `harm`), so
    that the mean over items orders programs as (mended - harm * spoiled) / items does. For another weight than 1:
    `functools.partial(net_improvement, harm=2)`.
    """
    first, last = (answer.choice == example.answer for answer in (prediction.initial_answer, prediction.answer))
    score = (int(last) - int(first)) * (1.0 if last else harm)
    return _given((score + harm) / (1.0 + harm), pred_name, lambda: _of_choices(example, prediction))


def consistency(
    example: Any, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> Any:
    """1 - CS-R of the answer that was kept. An answer that makes no claim, or could not be checked, gets 0."""
    report = prediction.report
    score = 1.0 - report.cs_r if report.claims and report.judged else 0.0

    def said() -> str:
        if not report.claims:
            return (
                "The answer makes no claim that could be checked against the documents: it should state what they say."
            )
        return _lines(_conflicts(report, prediction.documents) or "No document contradicts the answer.")

    return _given(score, pred_name, said)


def stance_accuracy(
    example: Any, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> Any:
    """1 where the judge's stance is that of the people who labelled the pair, else 0."""

    def said() -> str:
        found = f'The claim "{one_line(example.claim, 300)}" was judged {prediction.stance}'
        if prediction.stance == example.stance:
            return f"{found}, which is right."
        quotes = [item.quote for item in prediction.report.evidence if item.quote]
        why = f' because of "{one_line(quotes[0], _QUOTE)}"' if quotes else ""
        return f"{found}{why}. People who read the document say: {example.stance}."

    return _given(float(prediction.stance == example.stance), pred_name, said)


def composite(
    example: Any, prediction: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None
) -> Any:
    """Half `truthful_choice`, a quarter `net_improvement`, a quarter `consistency`."""
    score = (
        _RIGHT * truthful_choice(example, prediction)
        + _NET * net_improvement(example, prediction)
        + _CONSISTENT * consistency(example, prediction)
    )
    return _given(score, pred_name, lambda: _of_choices(example, prediction))


METRICS: dict[str, Metric] = {
    "choice": truthful_choice,
    "net": net_improvement,
    "consistency": consistency,
    "stance": stance_accuracy,
    "composite": composite,
}
"""By the name that `regen optimize --metric` takes."""


def _given(score: float, pred_name: str | None, feedback: Callable[[], str]) -> Any:
    return score if pred_name is None else dspy.Prediction(score=score, feedback=feedback())


def _of_choices(example: Any, prediction: Any) -> str:
    """What the report shows of an answer to a question with choices, and what would have been right."""
    first, last = prediction.initial_answer, prediction.answer
    right = example.choices[example.answer]
    lines = [f'The right answer is "{one_line(right, 300)}".']
    if first.choice == last.choice:
        lines.append("It was given." if last.choice == example.answer else f'The answer was "{_text(last)}": wrong.')
    elif last.choice == example.answer:
        lines.append(f'The first answer, "{_text(first)}", was wrong, and answering again mended it.')
    else:
        said = "was right, and answering again spoiled it" if first.choice == example.answer else "was wrong as well"
        lines.append(f'The answer was "{_text(last)}"; the first one, "{_text(first)}", {said}.')
    lines += _conflicts(prediction.initial_report, prediction.documents)
    for item in prediction.document_answers:
        if item.answer != right:
            cited = _numbers(item.document_ids, prediction.documents)
            lines.append(f'The judge took {cited} to answer "{one_line(item.answer, 200)}".')
    return _lines(lines)


def _conflicts(report: ConflictReport, documents: Sequence[Document]) -> list[str]:
    """Which claims documents take sides on, which documents, and in which words."""
    found = []
    for claim in report.claims:
        plus, minus = report.sides(claim.id)
        if minus:
            what = f'The claim "{one_line(claim.text, 300)}" is contradicted by {_cited(minus, documents)}'
            found.append(f"{what}, and {_cited(plus, documents) if plus else 'no document'} supports it.")
        elif not plus:
            found.append(f'No document supports or contradicts the claim "{one_line(claim.text, 300)}".')
    for item in report.unjudged:
        found.append(f"{_numbers([item.document_id], documents)} could not be judged: {one_line(item.cause, 200)}.")
    return found


def _cited(evidence: Sequence[Evidence], documents: Sequence[Document]) -> str:
    cited = _numbers([item.document_id for item in evidence], documents)
    quote = next((item.quote for item in evidence if item.quote), "")
    return f'{cited} ("{one_line(quote, _QUOTE)}")' if quote else cited


def _numbers(ids: Sequence[str], documents: Sequence[Document]) -> str:
    number_of = {document.id: number for number, document in enumerate(documents, 1)}
    return "document " + "".join(f"[{number_of[name]}]" for name in ids)


def _text(answer: Any) -> str:
    return one_line(answer.text, 300)


def _lines(said: Sequence[str] | str) -> str:
    return said if isinstance(said, str) else "\n".join(said)
