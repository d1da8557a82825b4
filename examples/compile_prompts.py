"""Compile the prompts with plain DSPy: the program is plain DSPy. Cells for a notebook, or `python` it."""

# %% A model: DSPy's, or with `regen.models` the one that `regen doctor` names.
import sys
from pathlib import Path

import dspy

from optimizing.data import load, split
from regen import Regen
from regen.metrics import truthful_choice

dspy.configure(lm=dspy.LM("openai/gpt-4.1-mini", temperature=0.0))

# %% Questions with choices and documents, as `regen eval choices` takes them; no question is in two parts.
train, val, test = split(load(Path(sys.argv[1]), "choices"), (0.5, 0.25, 0.25), seed=0)

# %% GEPA writes instructions from what the metric says of each answer: which claim, which documents, what was right.
gepa = dspy.GEPA(
    metric=truthful_choice,
    auto="light",
    reflection_lm=dspy.LM("openai/gpt-4.1", temperature=1.0, max_tokens=8000),
    component_selector="all",  # some prompts are not used for choices
)
compiled = gepa.compile(Regen(judge="lm"), trainset=train, valset=val)

# %% What it is worth on items that it has not seen.
evaluate = dspy.Evaluate(devset=test, metric=truthful_choice)
print("default ", evaluate(Regen(judge="lm")).score)
print("compiled", evaluate(compiled).score)

# %% The prompts, as JSON; `Regen(judge="lm").load("compiled.json")` reads them.
compiled.save("compiled.json")
