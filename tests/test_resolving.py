"""The program with `resolve="recency"` and a scripted model: what the second answer is given, and what is told."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted import system_text, user_text

from regen import Regen, result_of
from regen.errors import ConfigurationError, InputError
from regen.output import ask_output
from regen.types import Document, FoundKind, Kind

MakeLM = Callable[..., Any]

QUESTION = "How much is the fee?"
FIRST = Document(id="first.md", title="Prices", text="You pay 10 euros at the door.", published=date(2019, 5, 1))
NEW = Document(id="new.md", text="Entry costs 12 euros.", published=date(2024, 5, 1))
AGAIN = Document(id="again.md", text="The fee of 10 euros is due at noon.", published=date(2020, 5, 1))
GULLS = Document(id="gulls.md", text="The birds nest on the cliffs.", published=date(2001, 5, 1))
DOCUMENTS = [FIRST, NEW, AGAIN, GULLS]


class World:
    """A model that answers what it is told to, and judges by the number of euros that a claim and a document name."""

    def __init__(self, *answers: str, own_answers: bool = False) -> None:
        self.answers, self.own_answers, self.given = answers, own_answers, 0

    def __call__(self, system: str, user: str, request: Any) -> str:
        if "List the factual claims" in system:
            return "\n".join(re.findall(r"[^.]+\.", user.partition("Response: ")[2]))
        if "Say for each claim" in system:
            return self.judge(user)
        self.given += 1
        wanted = self.answers[min(self.given, len(self.answers)) - 1]
        letters = {text: letter for letter, text in re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE)}
        return letters.get(wanted, wanted)

    def judge(self, user: str) -> str:
        text = re.search(r"<document[^>]*>\n(.*?)\n</document>", user, re.DOTALL)
        assert text
        says = re.search(r"(\d+) euros", text.group(1))
        found = []
        for number, claim in re.findall(r"^(\d+)\. (.*)$", user, re.MULTILINE):
            wanted = re.search(r"(\d+) euros", claim)
            stance = "irrelevant"
            if says and wanted:
                stance = "supports" if says.group(1) == wanted.group(1) else "contradicts"
            found.append({"claim": int(number), "stance": stance, "quote": text.group(1), "confidence": 0.9})
        answer = f"{says.group(1)} euros" if says and self.own_answers else "none"
        return json.dumps({"answer": answer, "verdicts": found})


def answering(lm: Any) -> list[Any]:
    return [request for request in lm.engine.requests if "Answer the question" in system_text(request)]


def ask(lm: Any, *, question: str = QUESTION, documents: list[Document] = DOCUMENTS, **options: Any) -> Any:
    choices = options.pop("choices", None)
    with dspy.context(lm=lm):
        program = Regen(judge="lm", **{"resolve": "recency", **options})
        return program(question=question, documents=documents, choices=choices)


def test_the_second_answer_is_given_from_what_is_kept(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros. [1]", "The fee is 12 euros. [2]"))
    found = ask(lm)
    first, second = map(user_text, answering(lm))
    shown = [[item.id for item in DOCUMENTS if item.text in prompt] for prompt in (first, second)]
    assert shown == [["first.md", "new.md", "again.md", "gulls.md"], ["new.md", "gulls.md"]]
    # Documents keep their numbers.
    assert re.findall(r'<document number="(\d)"', second) == ["2", "4"]
    assert (found.answer.text, found.answer.citations) == ("The fee is 12 euros. [2]", ["new.md"])
    assert found.regenerated


def test_what_was_set_aside_is_in_the_result_with_why_and_no_document_is_lost(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros.")))
    assert [(item.document_id, item.newer_id) for item in found.set_aside] == [
        ("first.md", "new.md"),
        ("again.md", "new.md"),
    ]
    assert found.documents == DOCUMENTS


def test_the_feedback_says_what_was_set_aside_and_that_it_is_older(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    (round_,) = ask(lm).rounds
    assert '"Prices" (2019-05-01), older than [2] (2024-05-01)' in round_.feedback
    assert user_text(answering(lm)[1]).endswith(round_.feedback)


def test_both_answers_are_compared_on_the_documents_that_are_kept(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros.")))
    # By hand: two of all documents support 10 and one contradicts it; of those kept, one contradicts it.
    assert found.initial_report.cs_r == pytest.approx(1 / 3)
    assert found.decision.reason == "fewer documents contradict it (CS-R 1.00 before, 0.00 after)"
    assert (found.report.cs_r, {item.document_id for item in found.report.evidence}) == (0.0, {"new.md", "gulls.md"})


def test_an_outdated_second_answer_is_not_kept(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 12 euros.", "The fee is 10 euros.")))
    assert (found.regenerated, found.answer.text) == (False, "The fee is 12 euros.")
    # Over all documents it has two against it, over those kept none.
    assert (found.initial_report.cs_r, found.report.cs_r) == (pytest.approx(2 / 3), 0.0)


def test_a_citation_of_what_was_set_aside_is_removed_with_a_warning(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros [1, 2].")))
    assert (found.answer.text, found.answer.citations) == ("The fee is 12 euros [2].", ["new.md"])
    assert "The answer cites [1], which was set aside: the citation was removed." in found.warnings


def test_documents_own_answers_that_differ_are_enough(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is on the sign.", "The fee is 12 euros.", own_answers=True))
    found = ask(lm)
    assert found.initial_report.in_conflict == []
    assert [item.document_id for item in found.set_aside] == ["first.md", "again.md"]
    assert [item.answer for item in found.document_answers] == ["10 euros", "12 euros"]
    assert "10 euros" not in found.rounds[0].feedback


def test_an_undated_document_is_kept_and_warned_of(scripted_lm: MakeLM) -> None:
    undated = FIRST.model_copy(update={"published": None})
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    found = ask(lm, documents=[undated, NEW, AGAIN, GULLS])
    assert [item.document_id for item in found.set_aside] == ["again.md"]
    assert undated.text in user_text(answering(lm)[1])
    assert found.warnings == [
        "Document first.md is part of a conflict and has no date of its own: it was kept, and may be out of date."
    ]


def test_nothing_is_set_aside_for_an_opinion_and_that_is_told(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    found = ask(lm, question="Should the fee be 10 euros?")
    assert (found.set_aside, len(found.rounds)) == ([], 1)
    assert found.warnings == ["It is a matter of opinion: no document was set aside for a newer one."]
    assert user_text(answering(lm)[1]).startswith(user_text(answering(lm)[0]))


def test_where_nothing_is_older_all_goes_on_as_without(scripted_lm: MakeLM) -> None:
    documents = [item.model_copy(update={"published": NEW.published}) for item in DOCUMENTS]
    prompts = []
    for strategy in ("none", "recency"):
        lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
        found = ask(lm, documents=documents, resolve=strategy)
        assert (found.set_aside, found.warnings) == ([], [])
        prompts.append([user_text(item) for item in answering(lm)])
    assert prompts[0] == prompts[1]


def test_without_it_every_answer_is_given_from_all_documents(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    found = ask(lm, resolve="none")
    assert found.set_aside == []
    assert user_text(answering(lm)[1]).startswith(user_text(answering(lm)[0]))


def test_a_further_round_is_about_what_is_kept(scripted_lm: MakeLM) -> None:
    same_day = AGAIN.model_copy(update={"published": NEW.published})
    lm = scripted_lm(
        World("The fee is 10 euros.", "The fee is 12 euros.", "One source says 10 euros.", own_answers=True)
    )
    found = ask(lm, documents=[FIRST, NEW, same_day], max_rounds=2)
    assert [item.document_id for item in found.set_aside] == ["first.md"]
    assert len(found.rounds) == 2
    assert "[1]" not in found.rounds[1].feedback
    assert FIRST.text not in user_text(answering(lm)[2])


def test_a_choice_is_made_again_from_what_is_kept(scripted_lm: MakeLM) -> None:
    choices = ["The fee is 10 euros.", "The fee is 12 euros."]
    lm = scripted_lm(World(*choices))
    found = ask(lm, choices=choices)
    assert (found.initial_answer.choice, found.answer.choice) == (0, 1)
    assert [item.document_id for item in found.set_aside] == ["first.md", "again.md"]
    assert FIRST.text not in user_text(answering(lm)[1])


def test_with_log_probabilities_only_what_is_kept_moves_a_choice(scripted_lm: MakeLM) -> None:
    choices = ["The fee is 10 euros.", "The fee is 12 euros."]
    world = World()

    def script(system: str, user: str, request: Any) -> Any:
        if "Answer the question" not in system:
            return world(system, user, request)
        letters = {text: letter for letter, text in re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE)}
        return letters[choices[0]], {letters[choices[0]]: -0.5, letters[choices[1]]: -0.9}

    # Two documents for 10 and one for 12 would keep 10.
    for strategy, chosen in (("none", 0), ("recency", 1)):
        found = ask(scripted_lm(script, gives_logprobs=True), choices=choices, resolve=strategy)
        assert (found.initial_answer.choice, found.answer.choice) == (0, chosen)


def test_a_choice_that_was_not_made_shows_a_conflict_all_the_same(scripted_lm: MakeLM) -> None:
    choices = ["The fee is 15 euros.", "The fee is 10 euros."]
    found = ask(scripted_lm(World(*choices)), choices=choices)
    # All contradict 15; they are at odds about 10.
    assert [item.document_id for item in found.set_aside] == ["first.md", "again.md"]


def test_a_program_without_rounds_is_refused() -> None:
    with pytest.raises(InputError, match="--max-rounds of 1 or more"):
        Regen(judge="lm", resolve="recency", max_rounds=0)


def test_a_strategy_that_checks_nothing_resolves_and_weighs_nothing() -> None:
    with pytest.raises(ConfigurationError, match="makes no use of resolve or credibility: leave that out"):
        Regen(resolve="recency", credibility="weight", strategy="vanilla")


def test_the_kind_that_was_found_says_whether_it_is_a_matter_of_opinion(
    scripted_lm: MakeLM, monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, set_aside in ((Kind.OPINIONS, 0), (Kind.COMPLEMENTARY, 0), (Kind.OUTDATED, 2)):
        lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
        monkeypatch.setattr(
            "regen.strategies.KindFinder.find",
            lambda *_, kind=kind, **__: FoundKind(kind=kind, reason="so it is", by="model"),
        )
        found = ask(lm, kinds="model")
        assert (len(found.set_aside), found.kind.kind) == (set_aside, kind)


def test_the_rules_call_what_they_cannot_tell_an_opinion_which_is_no_reason_to_keep_old_documents(
    scripted_lm: MakeLM,
) -> None:
    later = AGAIN.model_copy(update={"published": date(2018, 5, 1)})
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    found = ask(lm, documents=[FIRST, NEW, later, GULLS], kinds="rules")
    assert [item.document_id for item in found.set_aside] == ["first.md", "again.md"]
    assert found.warnings == []


def test_a_source_that_counts_for_no_side_sets_none_aside(scripted_lm: MakeLM, tmp_path: Path) -> None:
    known = [item.model_copy(update={"url": f"https://{item.id.partition('.')[0]}.example/"}) for item in DOCUMENTS]
    weights = tmp_path / "weights.txt"
    weights.write_text("new.example 0.1\nfirst.example 1\nagain.example 1\ngulls.example 1\n", encoding="utf-8")
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros.", own_answers=True))
    found = ask(lm, documents=known, credibility="filter", credibility_list=weights)
    assert found.initial_report.discounted == ["new.md"]
    assert found.set_aside == []
    # What is told of sources is told of all of them, also where some were set aside.
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    weighed = result_of(ask(lm, documents=known, credibility="weight", credibility_list=weights))
    assert weighed.set_aside
    told = ask_output(weighed).documents
    assert [item.credibility.weight for item in told if item.credibility] == [1, 0.1, 1, 1]


def test_what_is_kept_is_weighed_in_the_feedback(scripted_lm: MakeLM, tmp_path: Path) -> None:
    """Two new pages of a source that can hardly be relied on against one that can, all of one day."""
    pages = [
        FIRST,
        *(NEW.model_copy(update={"id": f"n{n}.md", "url": f"https://poor.example/{n}"}) for n in (1, 2)),
        AGAIN.model_copy(update={"published": NEW.published, "url": "https://good.example/"}),
    ]
    weights = tmp_path / "weights.txt"
    weights.write_text("poor.example 0.1\ngood.example 1\n", encoding="utf-8")
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))
    found = ask(lm, documents=pages, credibility="weight", credibility_list=weights)
    assert [item.document_id for item in found.set_aside] == ["first.md"]
    assert "the side that weighs more" in found.rounds[0].feedback
    assert "the side with more documents" not in found.rounds[0].feedback
