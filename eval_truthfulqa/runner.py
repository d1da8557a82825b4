"""A binary-choice evaluation: what each setting asks about an item, and the rows of figures that come of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from math import exp
from typing import Any

import dspy

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS, Row, Setting
from regen.choosing import choose
from regen.errors import InputError
from regen.fence import fence_all, one_line
from regen.journal import Ledger
from regen.models import gives_logprobs
from regen.program import Regen, check_ids, not_judged, result_of
from regen.runner import Stage
from regen.runs import Run
from regen.types import Document, Usage
from search.base import Search
from search.urls import on_site
from signatures import ChooseCarefully, ChooseUnaided

RETRIEVAL = "retrieval"
# The stages that ask the same with the choices in the other order.
REVERSED = " reversed"


class Baselines(dspy.Module):
    """What answering again is measured against: no documents at all, and a prompt that asks for care."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = dspy.Predict(ChooseUnaided)
        self.control = dspy.Predict(ChooseCarefully)


class Evaluation:
    """The stages of every item.

    Args:
        settings: Some of `SETTINGS`, in that order; `regenerated` brings `rag` with it, whose answer it begins with.
        make_program: Makes the program of one item; its choices must not be shuffled (`shuffle=False`).
        search: Where documents come from; None where every item has its own.
        k: Documents to retrieve.
        exclude: Sites whose pages are taken out of what was retrieved.
        refused: Tells other addresses whose pages are taken out, too.
        seed: Decides which choice each item shows first.
        both_orders: Whether each item is asked in both orders, where the model gives no log-probabilities. Where it
            does, the program averages both orders for every answer.
    """

    def __init__(
        self,
        settings: Sequence[Setting],
        make_program: Callable[[], Regen],
        *,
        search: Search | None = None,
        k: int = 10,
        exclude: Sequence[str] = (),
        refused: Callable[[str], bool] | None = None,
        seed: int = 0,
        both_orders: bool = False,
    ) -> None:
        self.settings = settings
        self.baselines = Baselines()
        self._make_program, self._search, self._k, self._exclude = make_program, search, k, tuple(exclude)
        self._refused = refused or (lambda _: False)
        self._seed, self._both_orders = seed, both_orders

    def programs(self) -> list[dspy.Module]:
        """The DSPy modules that say something to a model."""
        return [self._make_program(), self.baselines]

    def stages(self) -> list[Stage]:
        """Retrieval first, then one stage a setting, `rag` and `regenerated` in one; the other order's after those."""
        needs = (RETRIEVAL,) if self._search is not None else ()
        names = [name for name in self.settings if not (name == "rag" and "regenerated" in self.settings)]
        found = [Stage(RETRIEVAL, self._retrieve)] if self._search is not None and names != ["closed"] else []
        for flipped in (False, True) if self._both_orders and not gives_logprobs(dspy.settings.lm) else (False,):
            for name in names:
                work = self._work(name, flipped)
                found.append(Stage(_stage(name, flipped), work, () if name == "closed" else needs))
        return found

    def _work(self, name: Setting, flipped: bool) -> Callable[..., Mapping[str, Any]]:
        ask = {"closed": self._closed, "rag": self._rag, "control": self._control, "regenerated": self._regenerated}

        def work(data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], ledger: Ledger) -> Mapping[str, Any]:
            item = ChoiceItem.model_validate(data)
            order = shown_order(item, self._seed)
            order = order[::-1] if flipped else order
            documents = [] if name == "closed" else _documents(item, done)
            return ask[name](item, order, documents, ledger)

        return work

    def _retrieve(
        self, data: Mapping[str, Any], done: Mapping[str, Mapping[str, Any]], ledger: Ledger
    ) -> Mapping[str, Any]:
        assert self._search is not None
        results = self._search.top(str(data["question"]), self._k)
        # Whatever the provider made of --exclude-site: an answer key must not be among the documents.
        kept = [
            document
            for document in results.documents
            if not on_site(document.url, self._exclude) and not self._refused(document.url)
        ]
        return {
            "documents": [document.model_dump(mode="json") for document in kept],
            "excluded": [document.url for document in results.documents if document not in kept],
            "warnings": list(results.warnings),
        }

    def _closed(self, item: ChoiceItem, order: list[int], _: list[Document], __: Ledger) -> Mapping[str, Any]:
        return self._choose(self.baselines.closed, item, order, {})

    def _control(self, item: ChoiceItem, order: list[int], documents: list[Document], _: Ledger) -> Mapping[str, Any]:
        return self._choose(self.baselines.control, item, order, {"documents": fence_all(documents)})

    def _rag(self, item: ChoiceItem, order: list[int], documents: list[Document], _: Ledger) -> Mapping[str, Any]:
        return self._choose(self._make_program().choose, item, order, {"documents": fence_all(documents)})

    def _regenerated(
        self, item: ChoiceItem, order: list[int], documents: list[Document], ledger: Ledger
    ) -> Mapping[str, Any]:
        program = self._make_program()
        first: list[Usage] = []

        def on_step(step: str, _: int = 0, __: int = 0) -> None:
            if step in ("assessing sources", "checking") and not first:
                first.append(ledger.usage())

        program.on_step = on_step
        result = result_of(
            program(question=item.question, choices=[item.choices[place] for place in order], documents=documents)
        )
        if error := not_judged(result):
            # An answer that could not be checked says nothing about checking: it counts as failed.
            raise error
        # The program does not know which of its calls came at the price of a batch.
        used = result.usage.model_copy(update={"cost_usd": ledger.usage().cost_usd})
        assert result.initial_answer.choice is not None and result.answer.choice is not None
        return {
            "order": order,
            "first": order[result.initial_answer.choice],
            "choice": order[result.answer.choice],
            "first_usage": (first or [ledger.usage()])[0].model_dump(),
            # The documents are those of the retrieval, or the item's own.
            "result": result.model_copy(update={"usage": used}).model_dump(mode="json", exclude={"documents"}),
        }

    def _choose(self, predictor: Any, item: ChoiceItem, order: list[int], inputs: dict[str, Any]) -> Mapping[str, Any]:
        shown = [item.choices[place] for place in order]
        scores = choose(predictor, shown, {**inputs, "question": item.question.strip()}, shuffle=False)
        best = max(range(len(scores)), key=scores.__getitem__)
        known = gives_logprobs(predictor.lm or dspy.settings.lm)
        shares = [exp(scores[order.index(place)]) for place in range(len(order))] if known else None
        return {"order": order, "choice": order[best], "probabilities": shares}


def in_order(settings: Sequence[str]) -> list[Setting]:
    """The settings that are named, in their usual order, with `rag` where `regenerated` is.

    Raises:
        InputError: there is no such setting, or none is named.
    """
    unknown = next((name for name in settings if name not in SETTINGS), None)
    if unknown is not None or not settings:
        raise InputError(f"There is no setting {unknown or ''!r}; there are: {', '.join(SETTINGS)}.")
    wanted = {*settings, *(["rag"] if "regenerated" in settings else [])}
    return [name for name in SETTINGS if name in wanted]


def shown_order(item: ChoiceItem, seed: int) -> list[int]:
    """The order in which an item's choices are shown, drawn by the seed and the item's id."""
    order = list(range(len(item.choices)))
    random.Random(f"{seed}:{item.id}").shuffle(order)
    return order


def rows(run: Run, settings: Sequence[str]) -> list[Row]:
    """One row for each item that something is known of: a finished stage, or one that failed."""
    finished, failures = run.finished(), run.failures()
    found = []
    for name, data in run.items().items():
        stages = finished.get(name, {})
        failed = {stage: failure.message for stage, failure in failures.get(name, {}).items()}
        if not failed and not any(stage != RETRIEVAL for stage in stages):
            continue
        found.append(_row(data, stages, failed, settings))
    return found


def _row(data: Mapping[str, Any], stages: Mapping[str, Any], failed: Mapping[str, str], settings: Sequence[str]) -> Row:
    item = ChoiceItem.model_validate({**data, "documents": None})
    values: dict[str, Any] = {"answers": {}, "reversed": {}, "usage": {}, "errors": {}}
    for setting in settings:
        source = "regenerated" if setting == "rag" and "regenerated" in settings else setting
        for flipped, into in ((False, values["answers"]), (True, values["reversed"])):
            kept = stages.get(_stage(source, flipped))
            if kept is not None:
                into[setting] = kept.data["first" if source != setting else "choice"]
        if why := failed.get(_stage(source, True)):
            values["errors"][_stage(setting, True)] = why
        kept = stages.get(source)
        if kept is None:
            why = failed.get(source) or ("" if setting == "closed" else failed.get(RETRIEVAL, ""))
            values["errors"] |= {setting: why} if why else {}
            continue
        used = Usage.model_validate(kept.data["first_usage"]) if source != setting else kept.usage
        values["usage"][setting] = used
        order = kept.data["order"]
        values |= {"shown_first": order[0], "shown_last": order[-1]}
    again = stages.get("regenerated")
    if again is not None:
        first, last = again.data["result"]["initial_report"], again.data["result"]["report"]
        values |= {"conflict": bool(first["in_conflict"]), "cs_r": first["cs_r"], "cs_r_kept": last["cs_r"]}
        # A run of an earlier version has no weights.
        values |= {"cs_r_weighted": first.get("cs_r_weighted"), "cs_r_weighted_kept": last.get("cs_r_weighted")}
        values["unjudged"] = len(first["unjudged"])
    return Row(id=item.id, right=item.answer, category=item.category, type=item.type, **values)


def _documents(item: ChoiceItem, done: Mapping[str, Mapping[str, Any]]) -> list[Document]:
    documents = item.documents
    if documents is None:
        documents = [Document.model_validate(document) for document in done[RETRIEVAL]["documents"]]
    check_ids(documents)
    if not documents:
        left_out = done.get(RETRIEVAL, {}).get("excluded", [])
        why = [f"{len(left_out)} were left out as pages that publish the answers."] * bool(left_out)
        raise InputError(
            " ".join(
                [
                    f"No document was found on {one_line(item.question, 80)!r}.",
                    *why,
                    *done.get(RETRIEVAL, {}).get("warnings", []),
                ]
            )
        )
    return documents


def _stage(setting: str, flipped: bool) -> str:
    return setting + REVERSED if flipped else setting
