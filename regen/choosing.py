"""Choosing one of several options without letting the place it stands in decide.

Weak models, and some strong ones, prefer an option for its place. Where the model gives log-probabilities, the options
are shown in both orders and the log-probabilities of their letters are averaged; where it doesn't, the order is
shuffled by a seed.
"""

from __future__ import annotations

import math
import random
import re
from collections.abc import Sequence
from typing import Any

import dspy

from regen.adapter import PlainAdapter
from regen.errors import InputError, ProviderError, UnreadableError
from regen.fence import one_line
from regen.models import gives_logprobs
from regen.parallel import in_turn
from regen.quiet import cut_on_purpose

# N is kept for "neither".
LETTERS = "ABCDEFGHIJKLMOPQRSTUVWXYZ"
NEITHER = "neither of them, or the document is about something else"
# The log-probability of an option that is not among the tokens that the model reports, below the last of those.
_BELOW = 1.0
_TOP = 20
# More than a call is ever made again.
_ROLLOUTS = 100
# What one document is worth beside the answer's own log-odds, which are seldom beyond 1 once the order is taken out.
DOCUMENT_NATS = 1.0


def choose(
    predictor: Any,
    options: Sequence[str],
    inputs: dict[str, Any],
    *,
    neither: bool = False,
    seed: int = 0,
    shuffle: bool = True,
) -> list[float]:
    """How likely the model holds each option to be the right one.

    Args:
        predictor: A `dspy.Predict` with an `options` input and an `answer` output of one letter.
        options: Two or more texts, at most 25.
        inputs: The predictor's other inputs.
        neither: Whether to offer `N` beside them.
        seed: Decides the order where the model gives no log-probabilities.
        shuffle: Whether it does; else that order is the one of `options`.

    Returns:
        A log-probability for each option, and last one for `N` if it was offered; normalized over these.

    Raises:
        InputError: more than 25 options.
        UnreadableError: the model replied without one of the letters, twice.
    """
    if len(options) > len(LETTERS):
        raise InputError(f"{len(options)} choices are more than the {len(LETTERS)} that can be offered at once.")
    lm = predictor.lm or dspy.settings.lm
    forward = list(range(len(options)))
    with dspy.context(adapter=PlainAdapter()):
        if gives_logprobs(lm):
            both = in_turn(
                lambda order: _by_logprobs(predictor, options, order, neither, inputs), (forward, forward[::-1])
            )
            return _normalize([sum(pair) / 2 for pair in zip(*both, strict=True)])
        # Over many items the places must even out, so the order differs from item to item.
        if shuffle:
            random.Random(f"{seed}:{options!r}:{inputs.get('question')}:{inputs.get('document')}").shuffle(forward)
        return _by_letter(predictor, options, forward, neither, inputs)


def joined(scores: Sequence[float], evidence: Sequence[tuple[float, float]]) -> list[float]:
    """An answer's own log-probabilities and the documents' stances, added up as independent evidence.

    Args:
        scores: A log-probability for each option.
        evidence: For each option, how many documents support and how many contradict it, or what they weigh.

    Returns:
        A log-probability for each option. Each document that supports one option and contradicts another moves the
        two apart by `DOCUMENT_NATS`; documents that take no side move nothing.
    """
    return _normalize(
        [score + DOCUMENT_NATS * (plus - minus) / 2 for score, (plus, minus) in zip(scores, evidence, strict=True)]
    )


def again(lm: Any, attempt: int) -> dict[str, Any]:
    """The settings of a call that is made again: a little warmer, since at 0 it would come back the same.

    Models without a temperature (OpenAI's that reason) get none.
    """
    if not attempt:
        return {}
    given = getattr(lm, "kwargs", {})
    warmer = {} if given.get("temperature") is None else {"temperature": max(0.3, given["temperature"])}
    # One of several samples stays apart from the others.
    return {"rollout_id": attempt + _ROLLOUTS * (given.get("rollout_id") or 0), **warmer}


def _by_logprobs(
    predictor: Any, options: Sequence[str], order: Sequence[int], neither: bool, inputs: dict[str, Any]
) -> list[float]:
    letters, shown = _show(options, order, neither)
    config = {"logprobs": True, "top_logprobs": _TOP, "max_tokens": 1}
    with cut_on_purpose():
        prediction = predictor(**inputs, options=shown, config=config)
    tokens = (prediction.get("logprobs") or {}).get("content") or []
    if not tokens:
        raise ProviderError(
            "The model gave no log-probabilities: where its endpoint has none, name it as openai/NAME; for the judge "
            "contrast, name one that gives them, or another judge."
        )
    top = [(token["token"].strip(), token["logprob"]) for token in tokens[0]["top_logprobs"]]
    if not any(token in letters for token, _ in top):
        raise UnreadableError(
            f"The model was asked for one letter and would reply {one_line(tokens[0]['token'], 20)!r}."
        )
    floor = min((logprob for _, logprob in top), default=0.0) - _BELOW
    scores = [max((logprob for token, logprob in top if token == letter), default=floor) for letter in letters]
    by_option = [0.0] * len(options)
    for place, option in enumerate(order):
        by_option[option] = scores[place]
    return _normalize([*by_option, *scores[len(options) :]])


def _by_letter(
    predictor: Any, options: Sequence[str], order: Sequence[int], neither: bool, inputs: dict[str, Any]
) -> list[float]:
    letters, shown = _show(options, order, neither)
    for attempt in range(2):
        config = again(predictor.lm or dspy.settings.lm, attempt)
        reply = str(predictor(**inputs, options=shown, config=config).answer)
        place = _letter(reply, letters, [options[option] for option in order])
        if place is not None:
            break
    else:
        raise UnreadableError(f"The model was asked for one letter and replied {one_line(reply, 60)!r}.")
    chosen = order[place] if place < len(order) else len(options)
    return _normalize([0.0 if option == chosen else -3.0 for option in range(len(letters))])


def _show(options: Sequence[str], order: Sequence[int], neither: bool) -> tuple[list[str], str]:
    letters = list(LETTERS[: len(options)]) + (["N"] if neither else [])
    texts = [one_line(options[option], 400) for option in order] + ([NEITHER] if neither else [])
    return letters, "\n".join(f"{letter}: {text}" for letter, text in zip(letters, texts, strict=True))


def _letter(reply: str, letters: Sequence[str], texts: Sequence[str]) -> int | None:
    letter = f"([{''.join(letters)}])\\b"
    found = re.match(
        # "a" and "I" before another word are words, not letters.
        rf"\W*(?:(?:the )?(?:right |correct )?(?:answer|option|choice)(?: is)?\W*(?!(?-i:a)\s+\w){letter}"
        rf"|(?![ai]\s+\w){letter})",
        reply.strip(),
        re.IGNORECASE,
    )
    if found:
        chosen = (found.group(1) or found.group(2)).upper()
        # "A or B" and "B is wrong; A" choose neither; "A document" names no letter.
        named = set(re.findall(rf"(?<!\w)([{''.join(letters)}])(?!\w|[ \t]+\w)", reply))
        return letters.index(chosen) if named <= {chosen} else None
    said = [place for place, text in enumerate(texts) if _is_said(text, reply)]
    return said[0] if len(said) == 1 else None


def _is_said(text: str, reply: str) -> bool:
    """Whether a reply gives an option by its text: as whole words, and one of a word or two as its beginning."""
    if len(text.split()) > 2:
        return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", reply, re.IGNORECASE) is not None
    return re.match(rf"\W*{re.escape(text)}(?!\w| +\w)", reply, re.IGNORECASE) is not None


def _normalize(scores: Sequence[float]) -> list[float]:
    peak = max(scores)
    total = peak + math.log(math.fsum(math.exp(score - peak) for score in scores))
    return [score - total for score in scores]
