"""The heuristic judge, with the embeddings that come with regen: what is on a claim's topic, and what differs."""

from __future__ import annotations

import copy
import pickle
import threading
from decimal import Decimal
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from regen.conflict import aggregate
from regen.errors import ConfigurationError, InputError
from regen.judges import asks_model, make_judge
from regen.judges.calibration import best_threshold, calibrated, macro_f1
from regen.judges.differences import DIRECTION, NEGATION, differences, numbers
from regen.judges.heuristic import THRESHOLD, HeuristicJudge
from regen.judges.vote import vote
from regen.models import embeddings
from regen.types import Claim, Document, Evidence, Judgement, Stance

CLAIM = Claim(id="c1", text="Brindlecart's annual revenue for 2024 was $6.8 million.")
SAME = "Brindlecart's annual revenue for 2024 came to $6.8M."
OTHER_NUMBER = "Brindlecart's annual revenue for 2024 came to $4.2M."
OTHER_TOPIC = "Gulls breed on 12 cliffs near the sea, and never inland."


@pytest.fixture
def judge() -> HeuristicJudge:
    return HeuristicJudge()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The judge as pyproject.toml registers it, also where an older regen is installed."""
    point = EntryPoint("heuristic", "regen.judges.heuristic:HeuristicJudge", "regen.judges")
    monkeypatch.setattr("regen.judges._installed", lambda: {"heuristic": point})


def document(text: str, name: str = "d") -> Document:
    return Document(id=name, text=text)


def found(judge: HeuristicJudge, text: str, claim: str = CLAIM.text) -> Evidence:
    (item,) = judge.judge([Claim(id="c1", text=claim)], [document(text)]).evidence
    return item


# Topic.


def test_on_the_topic_and_without_a_difference_a_document_supports(judge: HeuristicJudge) -> None:
    item = found(judge, f"{OTHER_TOPIC} {SAME}")
    assert (item.stance, item.quote, item.confidence) == (Stance.SUPPORTS, SAME, None)
    assert item.reason.startswith("on the topic (similarity 0.") and item.reason.endswith("and nothing differs")


def test_what_differs_off_the_topic_does_not_count(judge: HeuristicJudge) -> None:
    item = found(judge, OTHER_TOPIC)
    assert (item.stance, item.quote) == (Stance.IRRELEVANT, "")
    assert item.reason.startswith("nothing on the topic (similarity ") and item.reason.endswith(" at most)")


def test_the_threshold_is_where_the_topic_begins() -> None:
    claim, text = embeddings.load().embed([CLAIM.text, SAME])
    similarity = float(claim @ text)
    assert THRESHOLD < similarity < 0.99
    assert found(HeuristicJudge(similarity - 0.005), SAME).stance is Stance.SUPPORTS
    assert found(HeuristicJudge(str(similarity + 0.005)), SAME).stance is Stance.IRRELEVANT


@pytest.mark.parametrize("text", ["", "   \n", "\u200b\u202e", "--- ... !?", "\x1b[2J"])
def test_a_document_that_says_nothing_is_irrelevant(text: str, judge: HeuristicJudge) -> None:
    item = found(judge, text)
    assert item.stance is Stance.IRRELEVANT


def test_a_sentence_far_down_in_a_long_document_speaks_for_it(judge: HeuristicJudge) -> None:
    text = f"{'Nothing of note was ever written here. ' * 20}{OTHER_NUMBER}{' And so it goes on for pages.' * 20}"
    item = found(judge, text)
    assert item.stance is Stance.CONTRADICTS
    assert item.quote == OTHER_NUMBER


def test_the_next_sentence_says_what_becomes_of_one(judge: HeuristicJudge) -> None:
    myth = "People use only ten percent of their brains. That\nis wrong."
    item = found(judge, f"It is said a lot. {myth} Ask anybody.", "People use only ten percent of their brains.")
    assert (item.stance, item.reason) == (Stance.CONTRADICTS, "only the document denies: wrong")
    assert item.quote == myth


# Numbers.


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("$4.2M, 4.2 million, 4,200,000 and 4.20 mn", ["4200000"]),
        ("12% or 12 percent, 0.50 and 007", ["12", "0.5"]),
        ("1 to 9, 1900, 2024 and 2099", []),
        ("10, 1899 and 2100", ["10", "1899", "2100"]),
        ("5%, $3, 2 billion, 1,950 and 2.0", ["5", "3", "2000000000", "1950", "2"]),
        ("COVID-19, A380, 3.11.4, 21st, 1.2.3.", []),
        ("50km, 5kg, 12m and $12m", ["50", "12", "12000000"]),
        ("4-60 thousand", ["60000"]),
        ("1990s", []),
        ("\u0663\u0664 \u00bd", []),
        ("9" * 2_000_000, []),
    ],
)
def test_numbers_are_read_by_their_value_and_years_and_small_ones_left_out(text: str, values: list[str]) -> None:
    assert list(numbers(text)) == [Decimal(value) for value in values]


def test_numbers_that_do_not_overlap_contradict(judge: HeuristicJudge) -> None:
    item = found(judge, OTHER_NUMBER)
    assert (item.stance, item.quote) == (Stance.CONTRADICTS, OTHER_NUMBER)
    assert item.reason == "numbers differ: $4.2M here, $6.8 million in the claim"


@pytest.mark.parametrize(
    "text",
    [
        "The revenue for 2024 was $6.8 million, of 4,200 orders.",  # one of them is the same
        "The revenue for 2023 was restated.",  # years don't count
        "The revenue was that of 3 branches.",  # nor do small ones
    ],
)
def test_numbers_that_overlap_or_do_not_count_differ_in_nothing(text: str) -> None:
    assert differences(CLAIM.text, text) == []


def test_of_many_numbers_the_first_are_shown() -> None:
    said = " ".join(f"{number}0" for number in range(1, 9))
    assert differences("It is 11.", said) == ["numbers differ: 10, 20, 30, 40, 50, ... here, 11 in the claim"]


# Contradiction words.


def test_a_word_of_denial_that_one_side_has_contradicts(judge: HeuristicJudge) -> None:
    claim, denial = "The Great Wall can be seen from the Moon.", "The Great Wall cannot be seen from the Moon."
    assert found(judge, denial, claim).reason == "only the document denies: cannot"
    assert found(judge, claim, denial).reason == "only the claim denies: cannot"
    assert found(judge, denial.replace("cannot", "can never"), denial).stance is Stance.SUPPORTS


@pytest.mark.parametrize(
    ("claim", "text", "reason"),
    [
        ("Sales rose.", "Sales fell.", "directions differ: fell here, rose in the claim"),
        ("Sales rose.", "Sales increased.", None),
        ("Sales rose.", "Sales changed.", "only the claim gives the direction: rose"),
        ("Sales changed.", "Sales are higher or lower.", "only the document gives the direction: higher, lower"),
        ("Sales rose.", "Sales rose, then fell.", "only the document gives the direction: fell"),
        ("It isn\u2019t so.", "IT ISN'T SO.", None),
        ("It is known.", "It is a knot of nothings, notably.", None),
    ],
)
def test_directions_that_one_side_has_are_told(claim: str, text: str, reason: str | None) -> None:
    assert differences(claim, text) == ([reason] if reason else [])


def test_every_difference_is_told(judge: HeuristicJudge) -> None:
    item = found(judge, "Brindlecart's annual revenue for 2024 fell to $4.2M and was not $5M.")
    assert item.reason == (
        "numbers differ: $4.2M, $5M here, $6.8 million in the claim; only the document denies: not; "
        "only the document gives the direction: fell"
    )


def test_the_two_sets_are_apart() -> None:
    assert not NEGATION & DIRECTION


@pytest.mark.parametrize("text", [SAME, OTHER_NUMBER, OTHER_TOPIC, "Its revenue never fell to 3%.", "It is so."])
def test_claim_and_document_exchanged_differ_in_the_same(text: str, judge: HeuristicJudge) -> None:
    assert len(differences(CLAIM.text, text)) == len(differences(text, CLAIM.text))
    assert found(judge, text).stance is found(judge, CLAIM.text, text).stance


# Quotes and hostile text.


@pytest.mark.parametrize(
    "text",
    [
        f"# {SAME}\n\n- one\n- two",
        f"\u201c{SAME}\u201d, she said\u2026 and left... for good.",
        f"He said: \"({SAME})\" (So it is.) 'And on.'",
        SAME.replace("annual", "ann\u00adual \u202e").replace(" came", "\x1b[31m came\r\n"),
        f"{SAME} [SEP] <script>alert(1)</script> [CLS] [bold] </document>",
    ],
)
def test_every_quote_stands_in_its_document(text: str, judge: HeuristicJudge) -> None:
    documents = [document(text)]
    judgement = judge.judge([CLAIM], documents)
    report = aggregate([CLAIM], documents, judgement)
    assert judgement.evidence[0].quote in text
    assert (report.evidence[0].stance, report.warnings) == (Stance.SUPPORTS, [])
    assert report.evidence[0].reason == judgement.evidence[0].reason != ""


def test_a_document_cannot_write_into_the_reasons(judge: HeuristicJudge) -> None:
    item = found(judge, "Brindlecart's annual revenue for 2024 was not\x1b[31m $4\u202e.2M\u200b.")
    assert item.stance is Stance.CONTRADICTS
    assert item.reason.isprintable()


def test_where_a_stance_does_not_count_its_reason_is_gone() -> None:
    item = Evidence(claim_id="c1", document_id="d", stance=Stance.SUPPORTS, quote="not there", reason="because")
    (kept,) = aggregate([CLAIM], [document(SAME)], Judgement(evidence=[item])).evidence
    assert (kept.stance, kept.reason) == (Stance.IRRELEVANT, "")


def test_in_a_vote_the_reason_of_the_side_that_won_is_kept() -> None:
    one = Evidence(claim_id="c1", document_id="d", stance=Stance.SUPPORTS, quote=SAME)
    two = one.model_copy(update={"reason": "on the topic"})
    three = one.model_copy(update={"stance": Stance.CONTRADICTS, "reason": "numbers differ"})
    judgements = [Judgement(evidence=[item]) for item in (three, one, two)]
    assert vote(judgements, [1.0] * 3, [CLAIM], [document(SAME)]).evidence[0].reason == "on the topic"


# As a judge among others.


def test_of_rival_answers_question_and_answer_are_compared_together(judge: HeuristicJudge) -> None:
    claims = [Claim(id="c1", text="$6.8 million"), Claim(id="c2", text="$4.2 million")]
    asked = {"question": "What was Brindlecart's annual revenue for 2024?", "exclusive": True}
    rivals = judge.judge(claims, [document(SAME)], **asked).evidence
    assert [item.stance for item in rivals] == [Stance.SUPPORTS, Stance.CONTRADICTS]
    alone = judge.judge(claims, [document(SAME)], question=asked["question"]).evidence
    assert {item.stance for item in alone} == {Stance.IRRELEVANT}


def many() -> list[Document]:
    texts = [SAME, OTHER_NUMBER, OTHER_TOPIC, f"{OTHER_TOPIC} {SAME}"]
    return [document(f"{texts[number % 4]} So.", f"d{number}") for number in range(12)]


def test_what_is_found_does_not_depend_on_the_order_of_documents_and_claims(judge: HeuristicJudge) -> None:
    claims = [CLAIM, Claim(id="c2", text="Gulls breed inland.")]

    def by_pair(judgement: Judgement) -> dict[tuple[str, str], Any]:
        return {(item.claim_id, item.document_id): item for item in judgement.evidence}

    assert by_pair(judge.judge(claims, many())) == by_pair(judge.judge(claims[::-1], many()[::-1]))


def test_one_judge_serves_many_threads(judge: HeuristicJudge) -> None:
    expected = judge.judge([CLAIM], many())
    judgements: list[Judgement] = []
    threads = [threading.Thread(target=lambda: judgements.append(judge.judge([CLAIM], many()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert judgements == [expected] * 3


def test_progress_counts_documents(judge: HeuristicJudge) -> None:
    seen: list[tuple[int, int]] = []
    judge.judge([CLAIM], many()[:3], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]


@pytest.mark.parametrize(("claims", "documents"), [([], [document("x")]), ([CLAIM], [])])
def test_nothing_to_judge_gives_nothing(claims: list[Claim], documents: list[Document], judge: HeuristicJudge) -> None:
    assert judge.judge(claims, documents) == Judgement()


def test_a_judge_can_be_copied_and_pickled(judge: HeuristicJudge) -> None:
    for twin in (copy.deepcopy(judge), pickle.loads(pickle.dumps(judge))):
        assert found(twin, OTHER_NUMBER).stance is Stance.CONTRADICTS


def test_the_threshold_is_what_stands_after_the_colon(installed: None) -> None:
    judge: Any = make_judge("heuristic:0.5")
    assert (judge.threshold, make_judge("heuristic").threshold) == (0.5, 0.68)  # type: ignore[attr-defined]
    assert len(judge.identity) == 64
    assert not asks_model("heuristic:0.5")


@pytest.mark.parametrize("given", ["high", "0", "1", "-0.5", "nan", "inf", "68"])
def test_what_is_no_threshold_is_refused(given: str, installed: None) -> None:
    with pytest.raises(ConfigurationError, match=rf"takes a similarity threshold between 0 and 1, not '{given}'"):
        make_judge(f"heuristic:{given}")


def test_a_response_is_scored_without_any_model(installed: None) -> None:
    from regen import score

    documents = [document(SAME, "a"), document(OTHER_NUMBER, "b"), document(OTHER_TOPIC, "c")]
    report = score(CLAIM.text, documents, judge="heuristic", claim_kind="whole")
    stances = [item.stance.value for item in report.evidence]
    assert stances == ["supports", "contradicts", "irrelevant"]
    assert (report.cs_c, report.cs_r, report.warnings) == (1.0, 0.5, [])


# Calibration.


def test_the_threshold_is_in_the_middle_of_those_that_tell_best() -> None:
    """F1 by hand: from 0.41 to 0.50, of two on the topic and two that are not one is wrong, 2·2/5 and 2·1/3."""
    pairs = [(0.5, True), (0.7, True), (0.6, False), (0.4, False)]
    assert macro_f1(pairs, 0.5) == pytest.approx((4 / 5 + 2 / 3) / 2)
    assert best_threshold([(0.5, True), (0.4, False)]) == 0.46
    assert macro_f1([], 0.5) == 0.0


def test_the_threshold_is_calibrated_on_pairs_that_people_labelled() -> None:
    pairs = [
        (CLAIM.text, SAME, Stance.SUPPORTS),
        (CLAIM.text, f"{OTHER_TOPIC} {OTHER_NUMBER}", Stance.CONTRADICTS),
        (CLAIM.text, OTHER_TOPIC, Stance.IRRELEVANT),
        (CLAIM.text, "", Stance.IRRELEVANT),
    ]
    judge = HeuristicJudge(calibrated(pairs))
    assert judge.threshold < THRESHOLD
    assert [found(judge, text).stance for _, text, _ in pairs] == [stance for *_, stance in pairs]


def test_a_threshold_needs_both_kinds_of_pairs() -> None:
    with pytest.raises(InputError, match="label more of them"):
        calibrated([(CLAIM.text, SAME, Stance.SUPPORTS)] * 3)


def test_the_weights_are_named_and_licensed() -> None:
    notice = (Path(__file__).parent.parent / "NOTICE").read_text(encoding="utf-8")
    assert "all-MiniLM-L6-v2" in notice and "Apache License, Version 2.0" in notice
