"""Three conflicts of newer and older documents, each answered naively and then from what `resolve="recency"` keeps.

With the model that `regen doctor` names, the embedded one without a key; `python examples/resolve_conflicts.py`.
"""

# %% The model.
from pathlib import Path

import dspy

from regen import Regen, result_of
from regen.fence import printable
from regen.models import choose, make_lm
from regen.settings import load
from search.local import LocalSearch

FOLDER = Path(__file__).parent / "three-conflicts"
QUESTIONS = [
    "What was Quillmont's revenue for fiscal 2025?",  # restated
    "May Quillmont employees use their own laptops for work?",  # a policy reversed
    "How many uploads an hour does the Tide API accept from each device?",  # a limit raised
]

settings = load()
dspy.configure(lm=make_lm(choose(settings), settings))
agent = Regen(LocalSearch(FOLDER), settings.judge, k=6, resolve="recency")

# %% The answer from all that was found, then the answer from what was kept.
for question in QUESTIONS:
    result = result_of(agent(question=question))
    places = {document.id: number for number, document in enumerate(result.documents, 1)}
    aside = {item.document_id: item for item in result.set_aside}
    print(f"\n{question}")
    print(f"  naive answer     {printable(result.initial_answer.text)}")
    print(f"  resolved answer  {printable(result.answer.text)}")
    print(f"  because          {printable(result.decision.reason)}")
    for number, document in enumerate(result.documents, 1):
        item = aside.get(document.id)
        print(f"  [{number}]  {document.dated or 'undated'}  {'kept' if item is None else 'set aside'}", end="  ")
        print(printable(document.id) + (f"  ({item.reason}: [{places[item.newer_id]}])" if item else ""))
    for warning in result.warnings:
        print(f"  ! {printable(warning)}")
