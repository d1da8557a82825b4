"""The program with a scripted model: the feedback loop, what is kept, and what DSPy can do with it."""

from __future__ import annotations

import asyncio
import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest
from scripted import CACHED_TOKENS, COMPLETION_TOKENS, PROMPT_TOKENS, system_text, user_text

from regen import Regen, result_of, score
from regen.claims import MAX_CLAIMS, claim_predictor, find_claims
from regen.errors import ConfigurationError, InputError, ProviderError
from regen.keeping import keep_better
from regen.types import Claim, ConflictReport, Document, Evidence, Judgement, Stance, Unjudged
from search.base import SearchResults

MakeLM = Callable[..., Any]

QUESTION = "How much is the fee?"
OLD = Document(id="old.md", text="You pay 10 euros at the door.", rank=1)
NEW = Document(id="new.md", text="Entry costs 12 euros.", rank=2)
GULLS = Document(id="gulls.md", text="The birds nest on the cliffs.", rank=3)
DOCUMENTS = [OLD, NEW, GULLS]

# What the documents say about each statement that the model may make.
SAYS = {
    "The fee is 10 euros.": {OLD.text: "supports", NEW.text: "contradicts"},
    "The fee is 12 euros.": {OLD.text: "contradicts", NEW.text: "supports"},
    "The fee is 15 euros.": {OLD.text: "contradicts", NEW.text: "contradicts"},
    "Sources differ on the fee.": {OLD.text: "supports", NEW.text: "supports"},
    "Gulls breed there.": {GULLS.text: "supports"},
}


def task_of(request: Any) -> str:
    """Which of the program's prompts a request is."""
    system = system_text(request)
    if "Reply with the letter" in system:
        task = "choose"
    elif "Answer the question from the documents" in system:
        task = "answer"
    elif "List the factual claims" in system:
        task = "claims"
    else:
        assert "Say for each claim" in system
        task = "judge"
    return task


class World:
    """A model that gives the answers it is told to give, takes them apart into sentences, and judges by `SAYS`."""

    def __init__(self, *answers: str, prefers: str = "") -> None:
        self.answers = answers
        self.prefers = prefers
        self.given = 0
        self.breaks: Callable[[str, str], bool] = lambda task, user: False

    def __call__(self, _: str, user: str, request: Any) -> Any:
        task = task_of(request)
        if self.breaks(task, user):
            raise ProviderError("The endpoint went away.")
        return getattr(self, task)(user)

    def answer(self, user: str) -> str:
        self.given += 1
        return self.answers[min(self.given, len(self.answers)) - 1]

    def choose(self, user: str) -> str:
        self.given += 1
        wanted = self.answers[min(self.given, len(self.answers)) - 1]
        return next(letter for letter, text in re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE) if text == wanted)

    def claims(self, user: str) -> str:
        response = user.partition("Response: ")[2]
        return "\n".join(re.findall(r"[^.]+\.", response)).replace("\n ", "\n")

    def judge(self, user: str) -> str:
        document = next(item for item in DOCUMENTS if item.text in user)
        numbered = re.findall(r"^(\d+)\. (?:The answer to \".*\" is: )?(.*)$", user, re.MULTILINE)
        found = []
        for number, claim in numbered:
            stance = SAYS.get(claim, {}).get(document.text, "irrelevant")
            quote = "" if stance == "irrelevant" else document.text
            found.append({"claim": int(number), "stance": stance, "quote": quote, "confidence": 0.9})
        return json.dumps({"verdicts": found})


def tasks(lm: Any) -> list[str]:
    return [task_of(request) for request in lm.engine.requests]


def requests(lm: Any, task: str) -> list[Any]:
    return [request for request in lm.engine.requests if task_of(request) == task]


def ask(lm: Any, program: Any = None, **inputs: Any) -> Any:
    with dspy.context(lm=lm):
        program = program or Regen(judge="lm")
        return program(**{"question": QUESTION, "documents": DOCUMENTS, **inputs})


# The loop.


def test_without_a_conflict_there_is_no_second_answer(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Sources differ on the fee."))
    found = ask(lm)
    assert (found.rounds, found.decision.kept, found.decision.reason) == ([], "first", "no document contradicts it")
    assert tasks(lm).count("answer") == 1


def test_a_conflict_is_fed_back_and_the_better_second_answer_is_kept(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros. [1]", "Sources differ on the fee. [1][2]")))
    assert (found.initial_answer.text, found.answer.text) == (
        "The fee is 10 euros. [1]",
        "Sources differ on the fee. [1][2]",
    )
    # By hand: one claim, one document a side: CS-C 1, CS-R 1/2; then both support it: 0 and 0.
    assert (found.initial_report.cs_c, found.initial_report.cs_r) == (1.0, 0.5)
    assert (found.report.cs_c, found.report.cs_r) == (0.0, 0.0)
    assert (found.regenerated, found.decision.kept) == (True, "regenerated")


def test_rules_of_the_feedback_that_a_second_answer_copies_are_no_part_of_it(scripted_lm: MakeLM) -> None:
    rule = "Otherwise the side with more documents is more likely right."
    found = ask(scripted_lm(World("The fee is 10 euros.", f"Sources differ on the fee. {rule}")))
    assert found.answer.text == "Sources differ on the fee."
    assert any("copied rules" in warning for warning in found.warnings)
    # A first answer was given none.
    assert rule in ask(scripted_lm(World(f"Gulls breed there. {rule}"))).answer.text


def test_the_feedback_is_in_the_second_prompt_and_in_the_result(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    (round_,) = ask(lm).rounds
    assert "[2]" in round_.feedback and "12 euros" in round_.feedback
    first, second = requests(lm, "answer")
    assert user_text(second).endswith(round_.feedback)
    assert "Feedback" not in user_text(first)


def test_the_second_prompt_begins_with_the_whole_first_one(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    ask(lm, question=f"  {QUESTION}\n")
    first, second = requests(lm, "answer")
    assert system_text(second) == system_text(first)
    assert user_text(second).startswith(user_text(first))


def test_a_second_answer_that_more_documents_contradict_is_not_kept(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros.", "The fee is 15 euros.")))
    assert (found.answer.text, found.regenerated, found.report.cs_r) == ("The fee is 10 euros.", False, 0.5)
    assert (found.rounds[0].answer.text, found.rounds[0].report.cs_r) == ("The fee is 15 euros.", 1.0)
    assert "more documents contradict" in found.decision.reason


def test_a_second_answer_that_says_the_same_is_not_kept(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros. [1]", "The fee is  10 euros.")))
    assert (found.regenerated, "says the same" in found.decision.reason) == (False, True)


def test_a_second_answer_no_worse_than_the_first_is_kept(scripted_lm: MakeLM) -> None:
    assert ask(scripted_lm(World("The fee is 10 euros.", "The fee is 12 euros."))).regenerated


class ByTable:
    """A judge that finds what it is told: a stance by claim and document id."""

    def __init__(self, table: dict[str, dict[str, str]]) -> None:
        self.table = table

    def judge(self, claims: Any, documents: Any, **_: Any) -> Judgement:
        found = [
            Evidence(
                claim_id=claim.id,
                document_id=document.id,
                stance=Stance(self.table.get(claim.text, {}).get(document.id, "irrelevant")),
                quote=document.text,
            )
            for claim in claims
            for document in documents
        ]
        return Judgement(evidence=found)


RAISED = "The fee was raised to 12 euros."
OLDER = [
    Document(id="a", text="The fee is 10 euros.", published="2024-01-01"),
    Document(id="b", text="It costs 10 euros.", published="2023-01-01"),
]
FEES = {
    "The fee is 10 euros.": {"new": "contradicts", "a": "supports", "b": "supports"},
    "The fee is 12 euros.": {"new": "supports", "a": "contradicts", "b": "contradicts"},
    "The fee is 99 euros.": {"new": "contradicts", "a": "contradicts", "b": "contradicts"},
    "It opens at nine.": {"a": "supports", "b": "supports"},
    "It opens at ten.": {"a": "contradicts", "b": "contradicts"},
}


@pytest.mark.parametrize(
    ("newest", "second", "kept"),
    [
        (Document(id="new", text=RAISED, published="2026-01-01"), "The fee is 12 euros.", "regenerated"),
        (Document(id="new", text="The fee is 12 euros.", published="2026-01-01"), "The fee is 12 euros.", "first"),
        (
            Document(id="new", title="Climate change", text="The fee is 12 euros.", published="2026-01-01"),
            "The fee is 12 euros.",
            "first",
        ),
        (Document(id="new", text=RAISED, published="2020-01-01"), "The fee is 12 euros.", "first"),
        (Document(id="new", text=RAISED, published="2999-01-01"), "The fee is 12 euros.", "first"),
        (Document(id="new", text=RAISED), "The fee is 12 euros.", "first"),
        (Document(id="new", text=RAISED, published="2026-01-01"), "The fee is 99 euros.", "first"),
        (Document(id="new", text=RAISED, published="2026-01-01"), "The fee is 12 euros. It opens at ten.", "first"),
    ],
    ids=[
        "newer, and says what has changed",
        "newer only",
        "a title about a change",
        "older",
        "from the future",
        "undated",
        "an answer that the newer one contradicts as well",
        "an answer that is wrong about something else",
    ],
)
def test_a_second_answer_that_follows_a_correction_is_kept_though_more_documents_are_older(
    newest: Document, second: str, kept: str, scripted_lm: MakeLM
) -> None:
    lm = scripted_lm(World("The fee is 10 euros. It opens at nine.", second))
    found = ask(lm, Regen(judge=ByTable(FEES)), documents=[newest, *OLDER])
    assert found.decision.kept == kept
    told = "after), not counting [2][3], which a newer document corrects"
    assert (told in found.decision.reason) is (kept == "regenerated")
    # The scores that are shown count every document all the same.
    assert found.rounds[0].report.cs_r > found.initial_report.cs_r


def test_an_answer_of_which_the_correcting_document_says_nothing_is_not_kept_for_it(scripted_lm: MakeLM) -> None:
    """Without the older documents, the first answer has no support either, and is contradicted."""
    newest = Document(id="new", text=RAISED, published="2026-01-01")
    lm = scripted_lm(World("The fee is 10 euros.", "It is a nice place."))
    found = ask(lm, Regen(judge=ByTable(FEES)), documents=[newest, *OLDER])
    assert (found.decision.kept, "no document supports" in found.decision.reason) == ("first", True)


def test_without_rounds_the_first_answer_is_only_scored(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    found = ask(lm, Regen(judge="lm", max_rounds=0))
    assert (found.report.cs_r, found.rounds, tasks(lm).count("answer")) == (0.5, [], 1)
    assert "no document contradicts it" not in found.decision.reason


def test_a_second_round_begins_from_the_answer_that_was_kept(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 15 euros.", "The fee is 10 euros.", "Sources differ on the fee."))
    found = ask(lm, Regen(judge="lm", max_rounds=2))
    assert [item.report.cs_r for item in found.rounds] == [0.5, 0.0]
    assert found.answer.text == "Sources differ on the fee."
    assert "The fee is 10 euros." in found.rounds[1].feedback.splitlines()[0]


def test_rounds_end_with_one_that_is_no_better(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "The fee is 15 euros.", "Sources differ on the fee."))
    found = ask(lm, Regen(judge="lm", max_rounds=3))
    assert (len(found.rounds), found.answer.text) == (1, "The fee is 10 euros.")


def test_rounds_end_when_nothing_contradicts_the_answer(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    assert len(ask(lm, Regen(judge="lm", max_rounds=3)).rounds) == 1


# Claims, citations and what went wrong.


def test_a_citation_of_no_document_is_removed_with_a_warning(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("Sources differ on the fee [2][9].")))
    assert (found.answer.text, found.answer.citations) == ("Sources differ on the fee [2].", ["new.md"])
    assert any("[9]" in warning for warning in found.warnings)


def test_citations_are_no_part_of_what_claims_are_taken_from(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Sources differ on the fee [1, 2]."))
    ask(lm)
    (request,) = requests(lm, "claims")
    assert user_text(request).endswith("Response: Sources differ on the fee.")


def test_a_claim_that_is_made_twice_is_judged_once(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("Gulls breed there. Gulls breed there.")))
    assert [claim.text for claim in found.report.claims] == ["Gulls breed there."]


def test_claims_beyond_the_limit_are_told(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World(" ".join(f"Fact {number} holds." for number in range(MAX_CLAIMS + 5)))))
    assert len(found.report.claims) == MAX_CLAIMS
    assert f"The response makes {MAX_CLAIMS + 5} claims; the first {MAX_CLAIMS} were judged." in found.warnings


def test_a_document_that_fails_is_unjudged_with_a_warning(scripted_lm: MakeLM) -> None:
    world = World("The fee is 10 euros.")
    world.breaks = lambda task, user: task == "judge" and NEW.text in user
    found = ask(scripted_lm(world))
    assert [item.document_id for item in found.report.unjudged] == ["new.md"]
    assert found.warnings == ["Document new.md was not judged: The endpoint went away."]
    assert found.report.cs_r == 0.0


def test_an_answer_is_kept_when_no_document_could_be_judged(scripted_lm: MakeLM) -> None:
    world = World("The fee is 10 euros.")
    world.breaks = lambda task, user: task == "judge"
    found = ask(scripted_lm(world))
    assert found.answer.text == "The fee is 10 euros."
    assert not found.report.judged
    assert found.decision.reason == "it could not be checked against the documents"
    assert found.warnings == [
        "Documents old.md, new.md, gulls.md were not judged: No document could be judged: The endpoint went away."
    ]


def test_an_answer_is_kept_when_its_claims_could_not_be_found(scripted_lm: MakeLM) -> None:
    world = World("The fee is 10 euros.")
    world.breaks = lambda task, user: task == "claims"
    found = ask(scripted_lm(world))
    assert found.answer.text == "The fee is 10 euros."
    assert not found.report.judged


def test_a_choice_is_kept_when_no_document_could_be_judged(scripted_lm: MakeLM) -> None:
    world = World("10 euros")
    world.breaks = lambda task, user: task == "judge"
    found = ask(scripted_lm(world), choices=["10 euros", "12 euros"])
    assert found.answer.choice == 0
    assert not found.report.judged


def test_a_mistake_in_a_judge_is_not_taken_for_a_document_that_failed(scripted_lm: MakeLM) -> None:
    class Mistaken:
        def judge(self, *_: Any, **__: Any) -> Any:
            raise KeyError("typo")

    with pytest.raises(KeyError, match="typo"):
        ask(scripted_lm(World("The fee is 10 euros.")), Regen(judge=Mistaken()))


@pytest.mark.parametrize("answer", ["...", "[1]", "[9]"])
def test_an_answer_without_a_word_is_an_error(answer: str, scripted_lm: MakeLM) -> None:
    with pytest.raises(ProviderError, match="empty answer"):
        ask(scripted_lm(World(answer)))


def test_every_document_is_in_the_result_with_or_without_bearing(scripted_lm: MakeLM) -> None:
    assert ask(scripted_lm(World("Gulls breed there."))).documents == DOCUMENTS


# Inputs.


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"question": "  "}, "question is empty"),
        ({"choices": ["yes"]}, "two different choices"),
        ({"choices": ["yes", "yes"]}, "two different choices"),
        ({"choices": []}, "two different choices"),
        ({"documents": []}, "No document has anything on"),
        ({"documents": [OLD, OLD]}, "Two documents have the same id"),
    ],
)
def test_bad_input_is_refused_before_any_call(inputs: dict[str, Any], message: str, scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Gulls breed there."))
    with pytest.raises(InputError, match=message):
        ask(lm, **inputs)
    assert lm.engine.requests == []


class Search:
    """Finds what it was given, and remembers what it was asked."""

    name = "fake"

    def __init__(self, *documents: Document) -> None:
        self.documents = documents
        self.asked: list[tuple[str, int]] = []

    def top(self, query: str, k: int = 10) -> SearchResults:
        self.asked.append((query, k))
        return SearchResults(documents=list(self.documents), warnings=["One file was not read."])


def test_the_search_is_asked_for_the_top_k_and_its_warnings_are_told(scripted_lm: MakeLM) -> None:
    search = Search(*DOCUMENTS)
    found = ask(scripted_lm(World("Gulls breed there.")), Regen(search, "lm", k=4), documents=None)
    assert (search.asked, found.documents, found.warnings) == ([(QUESTION, 4)], DOCUMENTS, ["One file was not read."])


def test_what_went_wrong_with_a_search_that_found_nothing_is_told(scripted_lm: MakeLM) -> None:
    class Broken:
        name = "broken"

        def top(self, query: str, k: int = 10) -> SearchResults:
            return SearchResults(warnings=["report.pdf was not read: it is encrypted."])

    with pytest.raises(InputError, match=r"No document has anything .* report\.pdf was not read: it is encrypted"):
        ask(scripted_lm(World()), Regen(Broken(), "lm"), documents=None)


def test_documents_that_are_given_are_not_searched_for(scripted_lm: MakeLM) -> None:
    search = Search(GULLS)
    found = ask(scripted_lm(World("Gulls breed there.")), Regen(search, "lm"))
    assert (search.asked, found.documents) == ([], DOCUMENTS)


def test_neither_documents_nor_a_search_is_a_configuration_error(scripted_lm: MakeLM) -> None:
    with pytest.raises(ConfigurationError, match="nothing to search"):
        ask(scripted_lm(World("Gulls breed there.")), documents=None)


def test_steps_are_told_as_they_begin(scripted_lm: MakeLM) -> None:
    steps: list[str] = []
    program = Regen(Search(*DOCUMENTS), "lm", on_step=lambda step, done, total: steps.append(step))
    ask(scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee.")), program, documents=None)
    assert list(dict.fromkeys(steps)) == [
        "searching",
        "answering",
        "finding claims",
        "checking",
        "answering again",
        "checking again",
    ]


# Choices.

CHOICES = ["The fee is 15 euros.", "The fee is 10 euros.", "Sources differ on the fee."]


def test_a_choice_is_scored_as_a_claim_and_chosen_again(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World(CHOICES[1], CHOICES[2])), choices=CHOICES)
    assert (found.initial_answer.choice, found.answer.choice, found.answer.text) == (1, 2, CHOICES[2])
    assert (found.initial_report.cs_r, found.report.cs_r) == (0.5, 0.0)
    assert found.choices == CHOICES


def test_choices_are_judged_once_whatever_is_chosen(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World(CHOICES[1], CHOICES[2]))
    ask(lm, choices=CHOICES)
    assert tasks(lm).count("judge") == len(DOCUMENTS)


def test_the_same_choice_again_is_not_a_regenerated_answer(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World(CHOICES[1])), choices=CHOICES)
    assert (found.regenerated, len(found.rounds)) == (False, 1)


def test_the_second_prompt_of_a_choice_begins_with_the_whole_first_one(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World(CHOICES[1], CHOICES[2]))
    ask(lm, choices=CHOICES)
    first, second = requests(lm, "choose")
    assert (system_text(second), user_text(second)[: len(user_text(first))]) == (system_text(first), user_text(first))


def test_the_documents_stances_move_a_second_choice_that_the_model_would_not_change(scripted_lm: MakeLM) -> None:
    world = World()
    choices = ["The fee is 15 euros.", "The fee is 10 euros."]

    def script(system: str, user: str, request: Any) -> Any:
        task = task_of(request)
        if task != "choose":
            return world(system, user, request)
        letters = {text: letter for letter, text in re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE)}
        # In whatever order, and with feedback as well: a little more for 15.
        return letters[choices[0]], {letters[choices[0]]: -0.5, letters[choices[1]]: -0.9}

    found = ask(scripted_lm(script, gives_logprobs=True), choices=choices)
    plus, minus = found.initial_report.sides("c1")
    assert len(minus) > len(plus)
    assert (found.initial_answer.choice, found.answer.choice) == (0, 1)
    assert found.regenerated


def test_with_log_probabilities_a_choice_has_probabilities_of_both_orders(scripted_lm: MakeLM) -> None:
    world = World()

    def script(system: str, user: str, request: Any) -> Any:
        if task_of(request) != "choose":
            return world(system, user, request)
        options = re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE)
        return "A", {letter: -0.3 if text == CHOICES[2] else -3.0 for letter, text in options}

    found = ask(scripted_lm(script, gives_logprobs=True), choices=CHOICES)
    assert found.answer.choice == 2
    assert sum(found.answer.probabilities) == pytest.approx(1.0)


# What DSPy can do with it.


def test_the_predictors_have_stable_names() -> None:
    assert [name for name, _ in Regen(judge="lm").named_predictors()] == ["answer", "choose", "claims", "judge.verdict"]
    assert [name for name, _ in Regen(judge="contrast").named_predictors()][-1] == "judge.read"


def test_instructions_and_demonstrations_survive_saving_and_loading(tmp_path: Path, scripted_lm: MakeLM) -> None:
    program = Regen(judge="lm")
    program.answer.signature = program.answer.signature.with_instructions(
        "Answer the question from the documents: fast."
    )
    program.claims.demos = [dspy.Example(question="How old?", response="It is old.", claims=["It is old."])]
    program.save(tmp_path / "program.json")
    loaded = Regen(judge="lm")
    loaded.load(tmp_path / "program.json")
    lm = scripted_lm(World("Gulls breed there."))
    ask(lm, loaded)
    assert system_text(requests(lm, "answer")[0]).startswith("Answer the question from the documents: fast.")
    demonstration = requests(lm, "claims")[0].messages[:2]
    assert [message.text for message in demonstration] == [
        "Question: How old?\n\nResponse: It is old.",
        "It is old.",
    ]


@pytest.mark.parametrize("copy_of", [copy.deepcopy, Regen.deepcopy, Regen.reset_copy])
def test_a_copy_is_a_program_of_its_own(copy_of: Callable[[Any], Any], scripted_lm: MakeLM) -> None:
    program = Regen(Search(*DOCUMENTS), "lm", judge_lm=scripted_lm(World()))
    copied = copy_of(program)
    copied.answer.demos = [dspy.Example(question="q", answer="a")]
    assert program.answer.demos == []
    assert ask(scripted_lm(World("Gulls breed there.")), copied, documents=None).answer.text == "Gulls breed there."


def test_the_judging_model_takes_claims_apart_and_judges_and_does_not_answer(scripted_lm: MakeLM) -> None:
    answering = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    judging = scripted_lm(World())
    ask(answering, Regen(judge="lm", judge_lm=judging))
    assert (set(tasks(answering)), set(tasks(judging))) == ({"answer"}, {"claims", "judge"})


def test_auto_is_contrast_for_the_embedded_model_and_lm_for_others(scripted_lm: MakeLM) -> None:
    names = {}
    for model in ("embedded/some-model", "openai/gpt"):
        with dspy.context(lm=scripted_lm(World(), model=model)):
            names[model] = Regen().named_predictors()[-1][0]
    assert names == {"embedded/some-model": "judge.read", "openai/gpt": "judge.verdict"}


def test_a_response_to_no_question_is_judged_without_the_embedded_model(scripted_lm: MakeLM) -> None:
    def script(_: str, user: str, __: Any) -> Any:
        return ("A", {"A": -0.1, "B": -3.0, "N": -3.0}) if "A: " in user else "6 euros"

    lm = scripted_lm(script, model="embedded/some-model", gives_logprobs=True)
    with dspy.context(lm=lm):
        report = score("Parking costs 6 euros.", ["Parking costs 6 euros a day."], claim_kind="whole")
        assert [(item.stance.value, bool(item.quote)) for item in report.evidence] == [("supports", True)]
        assert lm.engine.requests == []
        score("It costs 6 euros.", ["Parking costs 6 euros a day."], "What does parking cost?", claim_kind="whole")
        assert lm.engine.requests != []


def test_a_result_holds_what_a_prediction_holds(scripted_lm: MakeLM) -> None:
    found = ask(scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee.")))
    result = result_of(found)
    assert (result.answer, result.rounds, result.regenerated) == (found.answer, found.rounds, True)


def test_usage_counts_every_call_and_what_came_from_the_cache(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))
    usage = ask(lm).usage
    calls = len(lm.engine.requests)
    assert calls == 2 * (1 + 1 + len(DOCUMENTS))  # twice: an answer, its claims, a verdict a document
    assert (usage.calls, usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens) == (
        calls,
        calls * PROMPT_TOKENS,
        calls * CACHED_TOKENS,
        calls * COMPLETION_TOKENS,
    )
    assert usage.cost_usd is None


def test_usage_tracking_of_dspy_sees_the_same_calls(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Gulls breed there."))
    with dspy.track_usage() as tracker:
        ask(lm)
    assert len(tracker.usage_data["scripted/x"]) == len(lm.engine.requests)


def test_a_prediction_knows_its_usage_where_dspy_tracks_it(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Gulls breed there."))
    with dspy.context(track_usage=True):
        usage = ask(lm).get_lm_usage()
    assert usage["scripted/x"]["prompt_tokens"] == PROMPT_TOKENS * len(lm.engine.requests)


def test_streamify_gives_chunks_of_the_answer_and_then_the_prediction(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))

    async def stream() -> list[Any]:
        with dspy.context(lm=lm):
            streamed = dspy.streamify(Regen(judge="lm"))
            return [item async for item in streamed(question=QUESTION, documents=DOCUMENTS)]

    *chunks, last = asyncio.run(stream())
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert text.startswith("The fee is 10 euros.") and "Sources differ on the fee." in text
    assert isinstance(last, dspy.Prediction)
    assert last.answer.text == "Sources differ on the fee."


def test_the_judges_verdicts_are_not_streamed(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(World("Gulls breed there."))

    async def stream() -> list[Any]:
        with dspy.context(lm=lm):
            streamed = dspy.streamify(Regen(judge="lm"))
            return [item async for item in streamed(question=QUESTION, documents=DOCUMENTS)]

    text = "".join(chunk.choices[0].delta.content or "" for chunk in asyncio.run(stream())[:-1])
    assert "verdicts" not in text


def test_asyncify_gives_the_same_prediction(scripted_lm: MakeLM) -> None:
    async def run() -> Any:
        with dspy.context(lm=scripted_lm(World("The fee is 10 euros.", "Sources differ on the fee."))):
            return await dspy.asyncify(Regen(judge="lm"))(question=QUESTION, documents=DOCUMENTS)

    assert asyncio.run(run()).answer.text == "Sources differ on the fee."


def test_evaluate_runs_items_in_threads(scripted_lm: MakeLM) -> None:
    items = [
        dspy.Example(question=f"{QUESTION} {number}", documents=DOCUMENTS, right="Gulls breed there.").with_inputs(
            "question", "documents"
        )
        for number in range(2)
    ]
    evaluate = dspy.Evaluate(
        devset=items,
        metric=lambda item, found, trace=None: found.answer.text == item.right and found.question == item.question,
        num_threads=2,
        display_progress=False,
    )
    with dspy.context(lm=scripted_lm(World("Gulls breed there."))):
        found = evaluate(Regen(judge="lm"))
    assert found.score == 100.0
    # Each item's usage is its own, whatever ran beside it.
    assert [prediction.usage.calls for _, prediction, _ in found.results] == [2 + len(DOCUMENTS)] * 2


# Keeping the better.


def scored(*rows: str) -> ConflictReport:
    """A report with one claim a row: + and - are documents for and against it."""
    evidence = [
        Evidence(
            claim_id=f"c{place}",
            document_id=f"d{number}",
            stance=Stance.SUPPORTS if mark == "+" else Stance.CONTRADICTS,
        )
        for place, row in enumerate(rows)
        for number, mark in enumerate(row)
    ]
    ratios = [row.count("-") / len(row) if row else 0.0 for row in rows]
    claims = [Claim(id=f"c{place}", text=f"Claim {place}.") for place in range(len(rows))]
    return ConflictReport(claims=claims, evidence=evidence, cs_r=sum(ratios) / len(ratios) if ratios else 0.0)


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        (scored("+-"), scored("+++-"), "regenerated"),  # 0.5 to 0.25
        (scored("+++-"), scored("+-"), "first"),  # 0.25 to 0.5
        (scored("+-"), scored("-+"), "regenerated"),  # equal, one claim contradicted as before
        (scored("--", "++"), scored("+-", "+-"), "first"),  # equal, and one more claim contradicted
        (scored("+-"), scored(), "first"),  # nothing left that can be checked
        (scored(), scored(), "regenerated"),
    ],
)
def test_the_lower_ratio_is_kept_and_of_equal_ones_that_with_no_more_claims_contradicted(
    before: ConflictReport, after: ConflictReport, kept: str
) -> None:
    assert keep_better(before, after).kept == kept


def test_an_answer_that_says_the_same_never_takes_the_place_of_the_first() -> None:
    assert keep_better(scored("+-"), scored("++"), same=True).kept == "first"


def test_a_sentence_that_says_who_says_something_is_one_claim_with_its_source() -> None:
    def extract(**inputs: Any) -> Any:
        assert inputs["response"] == "document 1 says the fee is 12 euros. It is open."
        return dspy.Prediction(claims=["The fee is 12 euros.", "It is open."])

    documents = [Document(id="fees", text="The fee is 12 euros."), Document(id="hours", text="It is open.")]
    claims = find_claims(extract, "[1] says the fee is 12 euros. It is open.", None, [], documents=documents)
    assert {claim.text: claim.sources for claim in claims} == {
        "document 1 says the fee is 12 euros.": ["fees"],
        "It is open.": [],
    }


def test_a_sentence_with_a_number_that_the_model_forgot_is_a_claim() -> None:
    claims = find_claims(
        lambda **_: dspy.Prediction(claims=["It is open."]), "It is open. The fee is 12 euros.", None, []
    )
    assert [claim.text for claim in claims] == ["It is open.", "The fee is 12 euros."]


def test_of_two_choices_that_are_as_much_contradicted_the_first_stays() -> None:
    assert keep_better(scored("+-"), scored("-+"), choosing=True).kept == "first"
    assert keep_better(scored("+--"), scored("++-"), choosing=True).kept == "regenerated"


def test_a_regenerated_answer_is_not_kept_for_documents_that_could_not_be_judged() -> None:
    after = scored("+").model_copy(update={"unjudged": [Unjudged(document_id="d9", cause="time-out")]})
    assert keep_better(scored("+-"), after).kept == "first"


def test_a_regenerated_answer_that_no_document_supports_is_not_kept() -> None:
    assert keep_better(scored("+-"), scored("")).kept == "first"


@pytest.mark.parametrize(
    ("response", "extracted", "claims"),
    [
        (
            "Revenue for 2024 was $4.2 million. Some documents say revenue for 2024 was $3.8 million.",
            ["Revenue for 2024 was $4.2 million.", "Revenue for 2024 was $3.8 million."],
            ["Revenue for 2024 was $4.2 million.", "Some documents say revenue for 2024 was $3.8 million."],
        ),
        (
            "Revenue for 2024 was $4.2 million. Revenue for 2024 was $3.8 million.",
            ["Revenue for 2024 was $4.2 million."],
            ["Revenue for 2024 was $4.2 million.", "Revenue for 2024 was $3.8 million."],
        ),
        (
            "Jane Smith founded Acme in Oslo in 1999, and sold it to Globex in 2010.",
            ["Jane Smith founded Acme in Oslo in 1999.", "Jane Smith sold Acme to Globex in 2010."],
            ["Jane Smith founded Acme in Oslo in 1999.", "Jane Smith sold Acme to Globex in 2010."],
        ),
    ],
    ids=["the opposite of what is reported stays", "another number is another claim", "atomic claims are enough"],
)
def test_claims_are_completed_and_not_doubled(response: str, extracted: list[str], claims: list[str]) -> None:
    found = find_claims(lambda **_: dspy.Prediction(claims=extracted), response, None, [])
    assert [claim.text for claim in found] == claims


def test_where_the_model_finds_no_claim_each_sentence_that_says_something_is_one() -> None:
    class Nothing:
        def __call__(self, **_: Any) -> Any:
            return dspy.Prediction(claims=[])

    said = "It opened in 1998 [1]. [2] (2021) contradicts this by stating that it opened in 2001."
    found = find_claims(Nothing(), said, None, [], documents=[OLD, NEW])
    assert [(claim.text, claim.sources) for claim in found] == [
        ("It opened in 1998.", []),
        ("document 2 contradicts this by stating that it opened in 2001.", [NEW.id]),
    ]
    found = find_claims(Nothing(), "It is a myth that gulls swim. The document does not say more.", None, [])
    assert [claim.text for claim in found] == ["It is a myth that gulls swim."]


def test_fewer_claims_are_not_completed() -> None:
    def extract(**_: Any) -> Any:
        return dspy.Prediction(claims=["It is open."])

    response = "It is open. The fee is 12 euros."
    assert [claim.text for claim in find_claims(extract, response, None, [], kind="salient")] == ["It is open."]
    assert [claim.text for claim in find_claims(extract, response, None, [], kind="merged")] == ["It is open."]


def test_a_whole_response_is_one_claim_without_a_call() -> None:
    found = find_claims(None, "It is open [1]. The fee is 12 euros [2].", None, [], kind="whole")
    assert [claim.text for claim in found] == ["It is open. The fee is 12 euros."]
    assert find_claims(None, "The document does not say.", None, [], kind="whole") == []


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("atomic", "List the factual claims that"),
        ("salient", "stands or falls"),
        ("merged", "joined into one claim"),
    ],
)
def test_each_kind_of_claim_has_its_own_prompt(kind: Any, words: str) -> None:
    assert words in claim_predictor(kind).signature.instructions
    assert words in Regen(judge="lm", claim_kind=kind).claims.signature.instructions
