"""Sets of questions whose documents give different answers, made into claims as ConflictBench does.

ConflictBench (Liu et al. 2026, appendix) takes a claim with both its sides for a conflict, and the same claim with a
supporting document and two of other questions for none. Its fourth set, ContraQA (Pan et al. 2023,
teacherpeterpan/ContraQA), has no reader here: what is published is a corpus of paragraphs, `{"id", "contents"}` with
ids that end in -FAKE, and SQuAD's questions, and nothing says which fake paragraph belongs to which question.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from typing import Self

from pydantic import model_validator

from eval_conflictbench.items import ConflictItem, document
from eval_conflictbench.rows import Row, Rows
from regen.types import Record, Text

# Documents of other questions beside the one that supports, in items without a conflict (Liu et al. 2026, appendix).
_OTHERS = 2
_TITLED = re.compile(r"title:\s*(?P<title>.*?)\s*\bcontext:\s*(?P<text>.*)", re.IGNORECASE | re.DOTALL)


class Passage(Record):
    """A document of a set."""

    text: Text
    title: str = ""
    url: str = ""


class Question(Record):
    """A question of a set, an answer, the passages that give it, and those that give another one.

    `key` tells it from the set's other questions. `other` stands in items of other questions.
    """

    dataset: str
    key: str
    question: Text
    answer: str = ""
    supporting: list[Passage] = []
    contradicting: list[Passage] = []
    other: Passage | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.supporting and not self.answer.strip():
            raise ValueError("the answer is blank")
        return self

    @property
    def name(self) -> str:
        """What the ids of its items begin with."""
        return f"{self.dataset}-{self.key}"


def questions(
    make: Callable[[Row, int], Question], *, joined: bool = False
) -> Callable[[Rows, int], list[tuple[str, ConflictItem]]]:
    """A reader of a set: given its rows and a seed, the items of each question, with where it stands.

    Args:
        make: The question of a row, given the row and its number from 1.
        joined: Whether a question may have several rows, each with some of its passages.
    """

    def read(rows: Rows, seed: int) -> list[tuple[str, ConflictItem]]:
        found = rows.read(lambda row, number: [make(row, number)])
        if joined:
            found = _joined(found)
        others = [(_asked(question), question.other) for _, question in found if question.other]
        return [(where, item) for where, question in found for item in _items(question, others, seed)]

    return read


def ramdocs(row: Row, number: int) -> Question:
    """RAMDocs (Wang et al. 2025, HanNight/RAMDocs): documents of a right and of wrong answers, or of the right one."""
    documents, wrong = row["documents"], row["wrong_answers"]
    answer = row["gold_answers"][0] if row["gold_answers"] else None
    return Question(
        dataset="ramdocs",
        key=str(number),
        question=row["question"],
        answer=answer or "",
        supporting=[Passage(text=one["text"]) for one in documents if answer and one["answer"] == answer],
        contradicting=[Passage(text=one["text"]) for one in documents if one["answer"] in wrong],
        other=Passage(text=documents[0]["text"]) if documents else None,
    )


def conflict_nq(row: Row, _: int) -> Question:
    """ConflictNQ (4-en/ConflictNQ): a real passage against a counterfactual one, or the real one alone."""
    real, fake = (Passage(text=row[f"{kind}_passages"][0]["passage"]) for kind in ("real", "fake"))
    return Question(
        dataset="conflict_nq",
        key=str(row["id"]),
        question=row["cleaned_question"],
        answer=row["real_short_answer"],
        supporting=[real],
        contradicting=[fake],
        other=real,
    )


def conflictingqa(row: Row, number: int) -> Question:
    """ConflictingQA (Wan et al. 2024, AlexWan0/rag-convincingness): web pages that say yes, and that say no.

    A row is a page, as its README describes the columns of `data.pkl`: `search_query`, `text_window` (the part that
    was labelled), `stance` (yes or no, as the code there writes it), `title`, `url`. A pickle runs what is in it, so
    it is not read here; pandas turns it into lines: `to_json("pages.jsonl", orient="records", lines=True)`.
    """
    page = Passage(text=row["text_window"], title=row.get("title") or "", url=row.get("url") or "")
    yes = {"yes": True, "no": False}[row["stance"].strip().lower()]
    return Question(
        dataset="conflictingqa",
        key=str(number),
        question=row["search_query"],
        answer="yes",
        supporting=[page] if yes else [],
        contradicting=[] if yes else [page],
        other=page,
    )


def ambigdocs(row: Row, _: int) -> Question:
    """AmbigDocs (Lee et al. 2024, yoonsanglee/AmbigDocs on the Hugging Face hub): entities that share a name.

    `train.json`, `dev.json` and `test.json` are arrays of `{"qid", "ambiguous_entity", "question", "documents":
    [{"title", "text", "pid", "answer"}]}` (the README and `src/eval/qa.py` of lilys012/AmbigDocs); the hub's loader
    makes `documents` an object of lists (the dataset card). The claim is the first document's answer: those with the
    same one, word for word, support it, and those of other entities contradict it.
    """
    documents = row["documents"]
    if isinstance(documents, dict):
        columns = [documents[name] for name in ("title", "text", "answer")]
        documents = [{"title": a, "text": b, "answer": c} for a, b, c in zip(*columns, strict=True)]
    passages = [Passage(text=one["text"], title=one["title"]) for one in documents]
    answers = [one["answer"].strip().casefold() for one in documents]
    return Question(
        dataset="ambigdocs",
        key=str(row["qid"]),
        question=row["question"],
        answer=documents[0]["answer"],
        supporting=[one for one, answer in zip(passages, answers, strict=True) if answer == answers[0]],
        contradicting=[one for one, answer in zip(passages, answers, strict=True) if answer != answers[0]],
        other=passages[0],
    )


def macnoise(row: Row, number: int) -> Question:
    """MacNoise (Hong et al. 2024, wjdghks950/Discern-and-Answer): passages, and what a model rewrote to mislead.

    `NQ_eval_gpt4_dev_256_new_fix.json` and its like are arrays of `{"question", "answers", "ctxs": [{"id", "title",
    "text", "text_pert"}], "pert_lbls"}`, as `DATA/GPT/GPT_trainx_chatgptpert_samples.json` and `src/data.py` there
    show. A passage that has the answer is labelled 1 and was rewritten: those are the two sides. The others say
    nothing about it. That a passage has the answer's words, or a rewritten one hasn't, is no check by people.
    """
    contexts = row["ctxs"]
    # As far as both go, which is how the authors read them.
    labelled = [one for one, label in zip(contexts, row["pert_lbls"], strict=False) if label == 1]
    return Question(
        dataset="macnoise",
        key=str(number),
        question=row["question"],
        answer=row["answers"][0],
        supporting=[_titled(one["text"]) for one in labelled],
        contradicting=[_titled(one["text_pert"]) for one in labelled],
        other=_titled(contexts[0]["text"]),
    )


def _titled(text: str) -> Passage:
    """The passage of a text that begins with its title: "title: Gulls context: They breed here."."""
    found = _TITLED.fullmatch(text)
    return Passage.model_validate(found.groupdict() if found else {"text": text})


def _joined(found: Sequence[tuple[str, Question]]) -> list[tuple[str, Question]]:
    """Each question once, where its first row stands, with the passages of all its rows."""
    rows: dict[str, list[tuple[str, Question]]] = {}
    for where, question in found:
        rows.setdefault(_asked(question), []).append((where, question))
    whole = []
    for places in rows.values():
        where, first = places[0]
        plus = [passage for _, one in places for passage in one.supporting]
        minus = [passage for _, one in places for passage in one.contradicting]
        whole.append((where, first.model_copy(update={"supporting": plus, "contradicting": minus})))
    return whole


def _items(question: Question, others: Sequence[tuple[str, Passage]], seed: int) -> list[ConflictItem]:
    """The item with both sides, where there are both, and the one with a supporting passage and two of others."""
    plus, minus = question.supporting, question.contradicting
    if not plus:
        return []
    rest = [passage for asked, passage in others if asked != _asked(question)]
    drawn = random.Random(f"{seed}:{question.name}").sample(rest, min(_OTHERS, len(rest)))
    found = [_item(question, 0, [plus[0], *drawn])]
    return [_item(question, 1, [*plus, *minus]), *found] if minus else found


def _item(question: Question, conflict: int, passages: Sequence[Passage]) -> ConflictItem:
    return ConflictItem(
        id=f"{question.name}-{conflict}",
        claim=f'The answer to "{question.question}" is: {question.answer}',
        documents=[document(passage.model_dump(), place) for place, passage in enumerate(passages, 1)],
        conflict=bool(conflict),
        question=question.question,
        dataset=question.dataset,
    )


def _asked(question: Question) -> str:
    """What it asks, the same for questions that differ only in how they are set."""
    return " ".join(question.question.split()).casefold()
