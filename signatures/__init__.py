"""Every prompt of regen: DSPy signatures and nothing else, one task a file."""

from signatures.answer import AnswerQuestion, ChooseAnswer
from signatures.claims import ExtractClaims
from signatures.reading import ChooseReading, ReadAnswer
from signatures.stance import JudgeDocument, Verdict

__all__ = [
    "AnswerQuestion",
    "ChooseAnswer",
    "ChooseReading",
    "ExtractClaims",
    "JudgeDocument",
    "ReadAnswer",
    "Verdict",
]
