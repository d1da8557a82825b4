"""Examples from files, and their parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from small_world import example

from optimizing.data import load, split, with_documents
from regen.errors import InputError
from regen.types import Document
from search.base import SearchResults

RAMDOCS = {
    "question": "Who?",
    "gold_answers": ["Ann"],
    "wrong_answers": ["Bob"],
    "documents": [{"text": "It was Ann.", "type": "correct", "answer": "Ann"}],
}
CONFLICT_NQ = {
    "id": 7,
    "cleaned_question": "When?",
    "real_short_answer": "1990",
    "fake_short_answer": "1991",
    "real_passages": [{"passage": "In 1990."}],
    "fake_passages": [{"passage": "In 1991."}],
}
OWN = {"id": "a", "question": "Which?", "choices": ["this", "that"], "answer": 1, "documents": ["It is that."]}
STANCE = {"claim": "It is so.", "document": "It isn't.", "stance": "contradicts", "question": "Is it so?"}
FACTCHECK = {"claim": "It is so.", "evidence": "It is.", "stance": "partially-support"}


def written(tmp_path: Path, *rows: object) -> Path:
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


@pytest.mark.parametrize(
    ("format", "row", "right"),
    [("ramdocs", RAMDOCS, "Ann"), ("conflict_nq", CONFLICT_NQ, "1990"), ("choices", OWN, "that")],
)
def test_sets_with_choices_become_examples(tmp_path: Path, format: str, row: object, right: str) -> None:
    [found] = load(written(tmp_path, row), format)
    assert found.choices[found.answer] == right
    assert list(found.inputs().keys()) == ["question", "choices", "documents"]
    assert isinstance(found.documents[0], Document)


def test_the_right_choice_does_not_always_stand_first(tmp_path: Path) -> None:
    found = load(written(tmp_path, *[{**RAMDOCS, "question": f"Who {number}?"} for number in range(20)]), "ramdocs")
    assert {one.answer for one in found} == {0, 1}


@pytest.mark.parametrize(
    ("format", "row", "stance"), [("stance", STANCE, "contradicts"), ("factcheck", FACTCHECK, "supports")]
)
def test_stances_become_examples_for_the_judge(tmp_path: Path, format: str, row: object, stance: str) -> None:
    [found] = load(written(tmp_path, row), format)
    assert (found.claim, found.stance) == ("It is so.", stance)
    assert set(found.inputs().keys()) == {"claim", "document", "question"}


def test_a_bad_line_is_told_with_its_number(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="line 2"):
        load(written(tmp_path, OWN, {"id": "b"}), "choices")


def test_parts_share_no_question_however_it_is_written_and_a_seed_draws_them() -> None:
    examples = [example(number % 10) for number in range(20)]
    examples += [one.copy(question=one.question.upper() + "!") for one in examples[:10]]
    parts = split(examples, (0.5, 0.25, 0.25), seed=3)
    numbers = [{one.question.upper().strip("!?") for one in part} for part in parts]
    assert list(map(len, numbers)) == [5, 3, 2] or list(map(len, numbers)) == [5, 2, 3]
    assert (
        sum(map(len, parts)) == 30 and not numbers[0] & numbers[1] | numbers[0] & numbers[2] | numbers[1] & numbers[2]
    )
    again, other = (split(examples, (0.5, 0.25, 0.25), seed=seed) for seed in (3, 4))
    assert [[one.question for one in part] for part in again] == [[one.question for one in part] for part in parts]
    assert [[one.question for one in part] for part in other] != [[one.question for one in part] for part in parts]


class Found:
    """Finds one page, and one that gives the answers away, for the first question alone."""

    name = "found"

    def top(self, query: str, k: int) -> SearchResults:
        urls = ["https://a.example/", "https://key.example/"] if "matter 1" in query else []
        documents = [Document(id=url, url=url, text="It is true.") for url in urls]
        return SearchResults(
            documents=documents, warnings=["One page could not be read.", "One page could not be read."]
        )


def test_questions_without_documents_get_those_that_are_found_for_them() -> None:
    bare = [example(number).copy(documents=None) for number in (1, 2)]
    found, warnings = with_documents(
        [*bare, example(3)],
        Found(),
        5,
        lambda *_: None,
        lambda url: "key" in url,  # type: ignore[arg-type]
    )
    assert [[document.url for document in one.documents] for one in found] == [["https://a.example/"], ["", "", ""]]
    # The third question was not searched for.
    assert warnings == {"One page could not be read.": 2, "Nothing was found, and the question is left out.": 1}
    assert list(found[0].inputs().keys()) == ["question", "choices", "documents"]
    with pytest.raises(InputError, match=r"No document was found .* One page could not be read\."):
        with_documents(bare[1:], Found(), 5, lambda *_: None, lambda _: False)  # type: ignore[arg-type]
