"""Every prompt of regen: DSPy signatures and nothing else, one task a file."""

from signatures.answer import AnswerQuestion, ChooseAnswer, ChooseCarefully, ChooseUnaided
from signatures.asking import AskAbout
from signatures.assess_credibility import AssessCredibility, Assessment
from signatures.claims import ExtractClaims, ExtractMergedClaims, ExtractSalientClaims
from signatures.reading import ReadDocument
from signatures.stance import DocumentVerdict, JudgeDocument, JudgeDocuments, Verdict

__all__ = [
    "AnswerQuestion",
    "AskAbout",
    "AssessCredibility",
    "Assessment",
    "ChooseAnswer",
    "ChooseCarefully",
    "ChooseUnaided",
    "DocumentVerdict",
    "ExtractClaims",
    "ExtractMergedClaims",
    "ExtractSalientClaims",
    "JudgeDocument",
    "JudgeDocuments",
    "ReadDocument",
    "Verdict",
]
