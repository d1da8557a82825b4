"""Every prompt of regen: DSPy signatures and nothing else, one task a file."""

from signatures.answer import AnswerQuestion, ChooseAnswer, ChooseCarefully, ChooseUnaided
from signatures.asking import AskAbout
from signatures.claims import ExtractClaims
from signatures.reading import ReadDocument
from signatures.stance import JudgeDocument, Verdict

__all__ = [
    "AnswerQuestion",
    "AskAbout",
    "ChooseAnswer",
    "ChooseCarefully",
    "ChooseUnaided",
    "ExtractClaims",
    "JudgeDocument",
    "ReadDocument",
    "Verdict",
]
