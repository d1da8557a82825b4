"""Documents' own answers: which of them say the same, and which say nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from regen.quotes import sentences
from regen.readings import (
    asks_who,
    bearing,
    best_sentence,
    content,
    fits,
    group,
    in_full,
    is_none,
    is_yes_or_no,
    made_up,
    names_somebody,
    numbers,
    same_answer,
)

SAME = [
    ("Paris", "paris."),
    ("Paris", "Paris, France"),
    ("Bob Dylan", "Dylan"),
    ("red and blue", "blue and red"),
    ("a dog", "dogs"),
    ("the Beatles", "Beatles"),
    ("yes", "Yes, you can."),
    ("1,000", "1000"),
    ("2.50", "2.5"),
    ("10.0", "10"),
    ("five days", "5 days"),
    ("14 days", "up to 14 days"),
    ("30 days", "within 30 working days"),
    ("1969", "in the year 1969"),
    ("1969", "July 20, 1969"),
    ("10%", "10 percent"),
    ("not allowed", "It is not allowed"),
    ("never", "no, never"),
    ("", " "),
    ("the", "The"),
]
DIFFERENT = [
    ("Paris", "Rome"),
    ("yes", "no"),
    ("It is allowed", "It is not allowed"),
    ("causes autism", "doesn't cause autism"),
    ("causes autism", "doesn\u2019t cause autism"),
    ("can be refunded", "cannot be refunded"),
    ("legal", "illegal"),
    ("1969", "1970"),
    ("in May", "in June"),
    ("May 2020", "May 2021"),
    ("5 days", "6 days"),
    ("5 days", "5 weeks"),
    ("30 euros", "30 percent"),
    ("between 5 and 7", "between 5 and 8"),
    ("Bob Dylan", "Bob Marley"),
    ("the", "of"),
    ("Paris", ""),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_these_are_one_answer(one: str, other: str) -> None:
    assert same_answer(one, other)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_these_are_two_answers(one: str, other: str) -> None:
    assert not same_answer(one, other)


answers = st.sampled_from(sorted({text for pair in SAME + DIFFERENT for text in pair}))


@settings(max_examples=100, deadline=None)
@given(one=answers | st.text(max_size=20), other=answers | st.text(max_size=20))
def test_whether_answers_agree_does_not_depend_on_their_order(one: str, other: str) -> None:
    assert same_answer(one, other) == same_answer(other, one)


@settings(max_examples=60, deadline=None)
@given(answer=answers | st.text(max_size=20))
def test_every_answer_agrees_with_itself(answer: str) -> None:
    assert same_answer(answer, answer)


def test_groups_come_by_size_and_then_by_first_mention() -> None:
    assert group(["Rome", "Paris", "Oslo", "Paris, France", "paris"]) == [[1, 3, 4], [0], [2]]


def test_an_answer_joins_a_group_only_when_it_agrees_with_all_of_it() -> None:
    # "Paris Rome" agrees with each, and these don't agree with each other.
    assert group(["Paris Rome", "Paris", "Rome"]) == [[0, 1], [2]]


def test_no_answers_make_no_groups() -> None:
    assert group([]) == []


@settings(max_examples=60, deadline=None)
@given(given_answers=st.lists(answers, max_size=6))
def test_every_answer_is_in_one_group(given_answers: list[str]) -> None:
    places = [place for places in group(given_answers) for place in places]
    assert sorted(places) == list(range(len(given_answers)))


@pytest.mark.parametrize(
    "answer",
    [
        *["", " ", "none", "None.", "N/A", "unknown", "Not stated.", "no answer", "No information is given."],
        *["Not mentioned in the document.", "It is not specified.", "It's not stated", "No information about that."],
        *["The document does not say.", "The document doesn't say.", "This passage doesn\u2019t mention the fee."],
        "The text is not about this question.",
    ],
)
def test_saying_that_there_is_no_answer_is_no_answer(answer: str) -> None:
    assert is_none(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *["no", "No, it is not.", "nobody", "nothing", "none of the above", "not allowed", "No information was leaked"],
        *["The text says it is not allowed.", "The document says no.", "not until 2025"],
    ],
)
def test_a_denial_is_an_answer(answer: str) -> None:
    assert not is_none(answer)


def test_content_words_are_stemmed_and_numbers_plain() -> None:
    assert content("The two museums were opened for 1,250.50 euros.") == {"2", "museum", "open", "1250.5", "euro"}


TEXT = "The museum opened in 1969. Tickets cost ten euros. It closes on Mondays."


def test_the_best_sentence_shares_most_with_what_is_wanted() -> None:
    assert best_sentence(TEXT, "10 euros", "What do tickets cost?") == "Tickets cost ten euros."


def test_what_is_wanted_first_counts_most() -> None:
    assert best_sentence(TEXT, "closes Mondays", "museum opened") == "It closes on Mondays."


def test_the_best_sentence_of_nothing_is_nothing() -> None:
    assert best_sentence("", "museum") == ""


@settings(max_examples=60, deadline=None)
@given(text=st.text(min_size=1, max_size=60), wanted=st.text(max_size=20))
def test_the_best_sentence_is_one_of_the_text(text: str, wanted: str) -> None:
    assert best_sentence(text, wanted) in [*sentences(text), ""]


@pytest.mark.parametrize(
    ("one", "other"),
    [("12 March 2020", "12 April 2020"), ("$4.2 million", "$4.2 billion")],
)
def test_equal_numbers_of_other_months_or_scales_are_other_answers(one: str, other: str) -> None:
    assert not same_answer(one, other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Yes", "The service is available to all customers, at no extra cost.", True),
        ("No.", "The service is not available to customers.", True),
        ("Yes", "No", False),
        ("No", "The service is available.", False),
        ("It is a myth that everyone needs eight glasses a day.", "Eight glasses a day.", False),
        ("It is a myth that everyone needs eight glasses a day.", "That it takes eight glasses is a myth.", True),
    ],
)
def test_yes_no_and_myths_agree_with_what_they_say(one: str, other: str, same: bool) -> None:
    assert same_answer(one, other) is same
    assert same_answer(other, one) is same


@pytest.mark.parametrize(
    ("answer", "expected"), [("Yes.", True), ("no", True), ("No, never", False), ("", False), ("25 days", False)]
)
def test_only_yes_and_no_are_yes_or_no(answer: str, expected: bool) -> None:
    assert is_yes_or_no(answer) is expected


def test_bearing_is_the_share_of_what_is_asked_about_without_the_words_that_ask() -> None:
    question = "When was Brindlecart founded?"
    assert bearing("The company was founded in 2016.", question) == 0.5
    assert bearing("From April 15, 2025, the limit is 500.", question) == 0.0
    assert bearing("anything", "When is it?") == 1.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("200 stops", True),
        ("Up to twelve.", True),
        ("There is no limit.", True),
        ("As many as you like", True),
        ("millions", True),
        ("It is a myth that there is a limit.", True),
        ("Customers can press the Help button", False),
        ("The Fleet plan", False),
    ],
)
def test_how_many_is_answered_by_a_number_or_a_word_for_one(answer: str, expected: bool) -> None:
    assert fits(answer, "How many stops can a single route have?") is expected
    assert fits(answer, "What can customers do?")


def test_numbers_are_told_however_they_are_written() -> None:
    assert numbers("Eight of 1,200 cost $4.20 at 7:00.") == {"8", "1200", "4.2", "7"}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [("Raman", True), ("Priya Raman, head of support", True), ("The release lead", False), ("Head of support", False)],
)
def test_a_name_is_what_a_text_only_writes_with_a_capital(answer: str, expected: bool) -> None:
    text = "Priya Raman is head of support. The release lead changes. Release notes follow."
    assert names_somebody(answer, text) is expected


def test_who_is_asked_for_somebody() -> None:
    assert asks_who("Who leads the team?") and asks_who("On whose desk is it?")
    assert not asks_who("When is the whole team open?")


@pytest.mark.parametrize(
    ("question", "yes"),
    [
        ("Is the ferry open?", "Yes, it is"),
        ("May crews use it?", "Yes, it may"),
        ("Are cats allowed?", "Yes, they are"),
        ("Should I go?", "Yes, you should"),
        ("In Oslo, is it dark?", "Yes, it is"),
    ],
)
def test_a_short_answer_has_the_verb_of_its_question(question: str, yes: str) -> None:
    assert in_full(question) == (yes, yes.replace("Yes", "No") + " not")


def test_an_answer_that_says_just_what_is_asked_is_yes_and_its_denial_is_no() -> None:
    said = ["Yes", "Crews may use the crane on Mondays.", "Yes, crews may use the crane."]
    assert in_full("May crews use the crane?", said) == ("crews may use the crane.", "crews may not use the crane.")


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Is the ferry open?", "The ferry is closed."),
        ("Is smoking allowed here?", "Smoking is banned here."),
        ("May crews use it?", "Crews may not use it."),
        ("Do crews use it?", "Crews use it."),
        ("Are vaccines that are approved safe?", "Vaccines that are approved are safe."),
        ("Who may use it?", "Crews may use it."),
    ],
)
def test_no_other_answer_is_taken_for_yes(question: str, answer: str) -> None:
    assert answer not in in_full(question, [answer])


@pytest.mark.parametrize(
    ("answer", "text", "is_made_up"),
    [
        ("Salaries are paid together with your next salary.", "Claims are paid together with your next salary.", True),
        ("Salaries are paid at the end of the paid month.", "All is deleted at the end of the paid month.", True),
        ("Salaries are paid on the last business day.", "Brindlecart pays salaries on the last business day.", False),
        ("The 25th", "The money arrives on the 25th.", False),
        ("Salaries are paid on the 25th, salaries for May on the 24th.", "Salaries: the 25th, in May the 24th.", False),
    ],
    ids=["by itself", "not in the text", "in the text", "not repeated", "twice, with numbers"],
)
def test_an_answer_that_repeats_what_is_asked_about_has_it_from_the_text(
    answer: str, text: str, is_made_up: bool
) -> None:
    assert made_up(answer, "When in the month are salaries paid?", text) is is_made_up


@pytest.mark.parametrize(
    ("question", "answer", "text"),
    [
        ("When was the harbour founded?", "It was founded in 1990.", "It was established in 1990."),
        ("Who leads the team?", "The team leads itself, the team says.", "Nothing."),
        ("What is the rate limit?", "The rate limit is 100.", "Clients are held to a limit of 100."),
        ("How many days do employees have?", "Employees have 25 days a year.", "Staff have 25 days a year."),
        ("Where do employees eat?", "Employees eat in the canteen downstairs.", "Staff eat in the canteen downstairs."),
        ("Is glass a liquid?", "Glass is a solid; glass does not flow.", "Glass is a solid and does not flow."),
    ],
    ids=["another verb", "a question with no such verb", "one word of several", "a synonym", "words", "two clauses"],
)
def test_other_words_for_what_is_asked_are_no_sign_of_an_answer_that_is_made_up(
    question: str, answer: str, text: str
) -> None:
    assert not made_up(answer, question, text)
