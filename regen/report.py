"""Writing a report: three paragraphs on a topic over documents that may conflict, scored, and written again.

The styles are the prompts that Liu et al. compare over conflicting documents (*ConflictScore*, 2026, Table 3), in words
of our own; a report that is written again from what its score has shown is what regen adds to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal

import dspy

from regen.claims import ClaimKind
from regen.conflict import Support
from regen.errors import InputError
from regen.feedback import report_feedback
from regen.judges import Judge
from regen.program import OnResult, OnStep, Regen, Writing
from regen.types import Answer, ConflictReport, Document
from search.base import Search
from signatures import WriteBalancedReport, WriteReport, WriteSuperBalancedReport

Style = Literal["plain", "balanced", "super-balanced"]
"""Asks for a report, for one that reflects differing views, or for who says what with every disputed statement."""

_SIGNATURES: dict[Style, Any] = {
    "plain": WriteReport,
    "balanced": WriteBalancedReport,
    "super-balanced": WriteSuperBalancedReport,
}
# New tokens that a report may take at least: three paragraphs take some 500 in English, in some scripts several times
# as many.
ROOM = 2048


class ReportWriter(Regen):
    """`Regen` for reports: retrieve, write, score, feed back, write again, keep the better.

    `forward` takes the topic as `question`, and no choices; it returns what that of `Regen` does, in which an answer is
    a report. Claims beyond `regen.claims.MAX_CLAIMS` are not judged, and a warning says so; so does one where a report
    ends at the limit of new tokens.

    Args:
        style: How the model is asked to write; the feedback is the same for each.
        max_rounds: How often to write again at most; 0 only scores the first report.

    The other arguments are those of `Regen`. Nothing is set aside, weighed or told by its kind here.
    """

    def __init__(
        self,
        search: Search | None = None,
        judge: str | Judge = "auto",
        *,
        style: Style = "plain",
        k: int = 10,
        max_rounds: int = 1,
        support: Support = "partial",
        check_quotes: bool = True,
        seed: int = 0,
        judge_lm: Any = None,
        judge_samples: int = 1,
        claim_kind: ClaimKind = "atomic",
        on_step: OnStep | None = None,
        on_result: OnResult | None = None,
    ) -> None:
        super().__init__(
            search,
            judge,
            k=k,
            max_rounds=max_rounds,
            support=support,
            check_quotes=check_quotes,
            seed=seed,
            judge_lm=judge_lm,
            judge_samples=judge_samples,
            claim_kind=claim_kind,
            on_step=on_step,
            on_result=on_result,
        )
        self.style: Style = style
        self.answer = dspy.Predict(_SIGNATURES[style])
        # No optimizer is to be shown a prompt that nothing calls.
        del self.choose

    def task(self, question: str, choices: Sequence[str] | None, documents: list[Document]) -> Writing:
        """As in `Regen`. Raises InputError where there are choices."""
        if choices:
            raise InputError("A report is written and not chosen: leave out the choices.")
        return _Report(self, question, documents)

    def feedback(self, answer: Answer, report: ConflictReport, documents: Sequence[Document], *_: Any) -> str:
        """As in `Regen`: see `regen.feedback.report_feedback`."""
        return report_feedback(answer, report, documents)

    def corrected(self, *_: Any) -> None:
        """None: the feedback on a report leaves open who is right."""


class _Report(Writing):
    """A topic written about in three paragraphs."""

    def answer(self, feedback: str | None) -> Answer:
        predictor = self.program.answer
        self.program.step("writing again" if feedback else "writing")
        inputs = {"documents": self.fenced, "topic": self.question, **({"feedback": feedback} if feedback else {})}
        lm = predictor.lm or dspy.settings.lm
        room = max(lm.kwargs.get("max_tokens") or 0, ROOM)
        # Where a model calls its limit otherwise, as OpenAI's that reason do, it has one that is made for long replies.
        config = {"max_tokens": room} if "max_tokens" in lm.kwargs else {}
        with _calls() as calls:
            reply = str(predictor(**inputs, config=config).report)
        answer = self.taken(reply)
        if any(_finish(call["response"]) == "length" for call in calls):
            which = "report that was written again" if feedback else "first report"
            self.warnings.append(
                f"The {which} ends where the model's limit of new tokens was reached, and is not finished: set "
                f"REGEN_MAX_TOKENS above {room}."
            )
        return answer


@contextmanager
def _calls() -> Iterator[list[dict[str, Any]]]:
    """The model calls made inside, in this thread, as DSPy keeps them in the history of a module that makes them."""
    heard = SimpleNamespace(history=[])
    with dspy.context(caller_modules=[*(dspy.settings.caller_modules or []), heard]):
        yield heard.history


def _finish(response: Any) -> str | None:
    """Why a reply ended, in OpenAI's words; LiteLLM gives it by choice."""
    for part in (response, *(getattr(response, "choices", None) or [])):
        if reason := getattr(part, "finish_reason", None):
            return str(reason)
    return None
