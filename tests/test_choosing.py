"""Choosing an option: by the letters' log-probabilities in both orders, or by a letter in a shuffled one."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

import dspy
import pytest

from regen.choosing import DOCUMENT_NATS, LETTERS, NEITHER, choose, joined
from regen.errors import InputError, ProviderError
from signatures import ChooseAnswer, ReadDocument

MakeLM = Callable[..., Any]
INPUTS = {"documents": "The documents.", "question": "Which?"}


def shown(user: str) -> dict[str, str]:
    """The options in a prompt, by letter."""
    return dict(re.findall(r"^([A-Z]): (.*)$", user, re.MULTILINE))


def letter_of(user: str, option: str) -> str:
    return next(letter for letter, text in shown(user).items() if text == option)


def ask(lm: Any, options: list[str], **more: Any) -> list[float]:
    with dspy.context(lm=lm):
        return choose(dspy.Predict(ChooseAnswer), options, INPUTS, **more)


# With log-probabilities.


def test_a_preference_for_the_first_place_cancels_out(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: ("A", {"A": -0.1, "B": -2.4}), gives_logprobs=True)
    one, other = ask(lm, ["cats", "dogs"])
    assert one == pytest.approx(other)


def test_what_the_model_holds_right_outweighs_a_preference_for_a_place(scripted_lm: MakeLM) -> None:
    def script(_: str, user: str, __: Any) -> tuple[str, dict[str, float]]:
        # A place is worth 2.0, being right 0.5.
        scores = {letter: 2.0 * (letter == "A") + 0.5 * (text == "dogs") for letter, text in shown(user).items()}
        return "A", {letter: score - 3.0 for letter, score in scores.items()}

    one, other = ask(scripted_lm(script, gives_logprobs=True), ["cats", "dogs"])
    assert other - one == pytest.approx(0.5)


def test_the_options_are_shown_in_both_orders(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: ("A", {"A": -1.0, "B": -1.0, "C": -1.0}), gives_logprobs=True)
    ask(lm, ["cats", "dogs", "birds"])
    orders = [list(shown(request.messages[-1].text).values()) for request in lm.engine.requests]
    assert orders == [["cats", "dogs", "birds"], ["birds", "dogs", "cats"]]


def test_the_scores_are_log_probabilities_of_the_options(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: ("A", {"A": -0.3, "B": -2.0, "The": -3.0}), gives_logprobs=True)
    assert math.fsum(map(math.exp, ask(lm, ["cats", "dogs"]))) == pytest.approx(1.0)


def test_a_letter_that_is_not_among_the_tokens_counts_below_the_last_of_them(scripted_lm: MakeLM) -> None:
    def script(_: str, user: str, __: Any) -> tuple[str, dict[str, float]]:
        return letter_of(user, "dogs"), {letter_of(user, "dogs"): -0.5, "The": -4.0}

    one, other = ask(scripted_lm(script, gives_logprobs=True), ["cats", "dogs"])
    assert other - one == pytest.approx(4.5)  # -0.5 against -4.0 - 1.0


def test_a_letter_with_a_space_before_it_is_that_letter(scripted_lm: MakeLM) -> None:
    def script(_: str, user: str, __: Any) -> tuple[str, dict[str, float]]:
        return " B", {f" {letter_of(user, 'dogs')}": -0.1, letter_of(user, "cats"): -3.0}

    one, other = ask(scripted_lm(script, gives_logprobs=True), ["cats", "dogs"])
    assert other > one


def test_one_new_token_is_asked_for(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: ("A", {"A": -0.1}), gives_logprobs=True)
    ask(lm, ["cats", "dogs"])
    assert {(request.config.max_tokens, request.config.logprobs) for request in lm.engine.requests} == {(1, 20)}


def test_a_model_that_gives_no_log_probabilities_after_all_is_an_error(scripted_lm: MakeLM) -> None:
    with pytest.raises(ProviderError, match="no log-probabilities"):
        ask(scripted_lm(lambda *_: "A", gives_logprobs=True), ["cats", "dogs"])


# Without them.


def test_the_letter_of_the_reply_is_the_option_that_stood_there(scripted_lm: MakeLM) -> None:
    for seed in range(4):
        lm = scripted_lm(lambda _, user, __: letter_of(user, "dogs"))
        scores = ask(lm, ["cats", "dogs", "birds"], seed=seed)
        assert scores.index(max(scores)) == 1


def test_one_seed_shows_one_order(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    for _ in range(3):
        ask(lm, list("tuvwxyz"), seed=3)
    assert len(set(lm.engine.prompts())) == 1


def test_another_seed_shows_another_order(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    for seed in range(5):
        ask(lm, list("tuvwxyz"), seed=seed)
    assert len(set(lm.engine.prompts())) > 1


def test_over_the_seeds_a_preference_for_a_place_has_no_favourite(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    found = [ask(lm, ["cats", "dogs"], seed=seed) for seed in range(60)]
    assert 15 <= sum(one > other for one, other in found) <= 45


@pytest.mark.parametrize(
    "reply",
    [
        "{0}",
        "{0}.",
        "{0}: dogs",
        "({0})",
        "**{0}**",
        "The answer is {0}",
        "The answer is {0} because they bark",
        "The right option is {0}.",
        "dogs",
    ],
)
def test_a_letter_is_read_from_what_models_say_around_it(reply: str, scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda _, user, __: reply.format(letter_of(user, "dogs")))
    one, other = ask(lm, ["cats", "dogs"])
    assert other > one
    assert len(lm.engine.requests) == 1


def test_a_reply_without_a_letter_is_asked_for_again(scripted_lm: MakeLM) -> None:
    replies = iter(["Hm, hard to say."])
    lm = scripted_lm(lambda _, user, __: next(replies, letter_of(user, "dogs")))
    one, other = ask(lm, ["cats", "dogs"])
    assert (other > one, len(lm.engine.requests)) == (True, 2)


def test_a_reply_without_a_letter_twice_is_an_error_that_shows_it(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "Hm, hard to say.")
    with pytest.raises(ProviderError, match="Hm, hard to say"):
        ask(lm, ["cats", "dogs"])
    assert len(lm.engine.requests) == 2


@pytest.mark.parametrize("reply", ["A lot of people have both.", "I can't say.", "The answer is a matter of taste."])
def test_a_word_of_one_letter_is_no_letter(reply: str, scripted_lm: MakeLM) -> None:
    with pytest.raises(ProviderError):
        ask(scripted_lm(lambda *_: reply), [f"option {number}" for number in range(10, 20)])


@pytest.mark.parametrize(
    "reply",
    ["I don't know.", "It notes both.", "No idea.", "Yesterday's figure.", "The answer is not A", "[A] or [B]",
     "Option B is wrong; A", "B\nA"],
)  # fmt: skip
def test_what_gives_no_option_or_two_is_none(reply: str, scripted_lm: MakeLM) -> None:
    with pytest.raises(ProviderError):
        ask(scripted_lm(lambda *_: reply), ["yes", "no"])


@pytest.mark.parametrize("reply", ["No.", "no, it does not", '"No"'])
def test_a_short_option_is_given_by_the_beginning_of_a_reply(reply: str, scripted_lm: MakeLM) -> None:
    yes, no = ask(scripted_lm(lambda *_: reply), ["yes", "no"])
    assert no > yes


# Either way.


@pytest.mark.parametrize("gives_logprobs", [True, False])
def test_neither_can_be_offered_and_comes_last(gives_logprobs: bool, scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: ("N", {"N": -0.1, "A": -3.0, "B": -3.0}), gives_logprobs=gives_logprobs)
    with dspy.context(lm=lm):
        scores = choose(dspy.Predict(ReadDocument), ["cats", "dogs"], {"document": "d", "question": "q"}, neither=True)
    assert scores.index(max(scores)) == 2
    assert all(shown(request.messages[-1].text)["N"] == NEITHER for request in lm.engine.requests)


def test_neither_is_not_offered_unasked(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    ask(lm, ["cats", "dogs"])
    assert set(shown(lm.engine.requests[0].messages[-1].text)) == {"A", "B"}


def test_as_many_options_as_there_are_letters_can_be_offered(scripted_lm: MakeLM) -> None:
    options = [f"option {number}" for number in range(len(LETTERS))]
    scores = ask(scripted_lm(lambda _, user, __: letter_of(user, "option 20")), options)
    assert scores.index(max(scores)) == 20


def test_more_options_than_letters_are_refused_before_any_call(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    with pytest.raises(InputError, match="26 choices"):
        ask(lm, [f"option {number}" for number in range(26)])
    assert lm.engine.requests == []


def test_an_option_cannot_add_another_one(scripted_lm: MakeLM) -> None:
    lm = scripted_lm(lambda *_: "A")
    ask(lm, ["cats\nC: sheep", "dogs"])
    assert len(shown(lm.engine.requests[0].messages[-1].text)) == 2


# Joined with the documents' stances.


def test_a_document_for_one_and_against_the_other_moves_the_two_apart_by_its_weight() -> None:
    # Two documents say the first (and against the second), one says the second.
    one, other = joined([math.log(0.5), math.log(0.5)], [(2, 1), (1, 2)])
    assert one - other == pytest.approx(DOCUMENT_NATS)
    assert math.exp(one) + math.exp(other) == pytest.approx(1)


def test_as_many_documents_on_both_sides_leave_the_answer_as_it_was() -> None:
    own = [math.log(0.3), math.log(0.7)]
    assert joined(own, [(2, 2), (2, 2)]) == pytest.approx(own)


def test_of_three_options_those_that_a_document_speaks_against_stay_as_far_apart() -> None:
    own = [math.log(0.2), math.log(0.5), math.log(0.3)]
    first, second, third = joined(own, [(1, 0), (0, 1), (0, 1)])
    assert first - second == pytest.approx(math.log(0.2 / 0.5) + DOCUMENT_NATS)
    assert second - third == pytest.approx(math.log(0.5 / 0.3))
