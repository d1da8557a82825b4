"""The hash over prompts changes with their words, and with nothing else."""

from __future__ import annotations

import dspy

from regen import Regen
from regen.prompts import prompts_hash


def test_the_same_prompts_have_the_same_hash() -> None:
    assert prompts_hash(Regen(seed=1)) == prompts_hash(Regen(seed=2))


def test_another_instruction_or_demonstration_is_another_hash() -> None:
    plain, told, shown = Regen(), Regen(), Regen()
    told.choose.signature = told.choose.signature.with_instructions("Choose.")
    shown.choose.demos = [dspy.Example(question="q", answer="A")]
    assert len({prompts_hash(program) for program in (plain, told, shown)}) == 3
