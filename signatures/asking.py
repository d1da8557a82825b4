"""Asking the question that a statement answers."""

from __future__ import annotations

import dspy


class AskAbout(dspy.Signature):
    """Write the question that the statement answers, so that other sources can be asked the same.

    Name the subject in full. Leave the answer itself out: the number, date, name, place or state of affairs that the
    statement gives. Reply with the question alone.
    """

    statement: str = dspy.InputField()
    question: str = dspy.OutputField(desc="one question")
