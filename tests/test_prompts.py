"""The hash over prompts changes with their words, and with nothing else."""

from __future__ import annotations

import inspect
from importlib import import_module

import dspy
import pytest

from regen import Regen
from regen.prompts import prompts_hash


def test_the_same_prompts_have_the_same_hash() -> None:
    assert prompts_hash(Regen(seed=1)) == prompts_hash(Regen(seed=2))


def test_another_instruction_or_demonstration_is_another_hash() -> None:
    plain, told, shown = Regen(), Regen(), Regen()
    told.choose.signature = told.choose.signature.with_instructions("Choose.")
    shown.choose.demos = [dspy.Example(question="q", answer="A")]
    assert len({prompts_hash(program) for program in (plain, told, shown)}) == 3


@pytest.mark.parametrize(
    "name",
    "adapter choosing citations claims credibility feedback fence kinds readings resolution strategies "
    "judges.cascade judges.contrast judges.gather judges.lm judges.vote".split(),
)
def test_another_wording_around_the_instructions_is_another_hash(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    before, changed, source = prompts_hash(Regen()), import_module(f"regen.{name}"), inspect.getsource
    monkeypatch.setattr(inspect, "getsource", lambda thing: source(thing) + ("N = 1" if thing is changed else ""))
    assert prompts_hash(Regen()) != before


def test_another_type_of_a_reply_is_another_hash() -> None:
    plain, listed = Regen(), Regen()
    listed.choose.signature = listed.choose.signature.with_updated_fields("answer", type_=list[str])
    assert prompts_hash(plain) != prompts_hash(listed)
