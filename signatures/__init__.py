"""Every prompt of regen: DSPy signatures and nothing else, one task a file."""

from signatures.adherence import (
    AdheresComplementary,
    AdheresMisinformation,
    AdheresNoConflict,
    AdheresOpinions,
    AdheresOutdated,
)
from signatures.answer import AnswerQuestion, ChooseAnswer, ChooseCarefully, ChooseUnaided
from signatures.answer_by_kind import AnswerByKind, AnswerWithKind
from signatures.asking import AskAbout
from signatures.assess_credibility import AssessCredibility, Assessment
from signatures.claims import ExtractClaims, ExtractMergedClaims, ExtractSalientClaims
from signatures.conflict_kind import ChooseKind, NameKind
from signatures.inclusion import IncludesAnswer
from signatures.reading import ReadDocument
from signatures.report import WriteBalancedReport, WriteReport, WriteSuperBalancedReport
from signatures.stance import DocumentVerdict, JudgeDocument, JudgeDocuments, Verdict

__all__ = [
    "AdheresComplementary",
    "AdheresMisinformation",
    "AdheresNoConflict",
    "AdheresOpinions",
    "AdheresOutdated",
    "AnswerByKind",
    "AnswerQuestion",
    "AnswerWithKind",
    "AskAbout",
    "AssessCredibility",
    "Assessment",
    "ChooseAnswer",
    "ChooseCarefully",
    "ChooseKind",
    "ChooseUnaided",
    "DocumentVerdict",
    "ExtractClaims",
    "ExtractMergedClaims",
    "ExtractSalientClaims",
    "IncludesAnswer",
    "JudgeDocument",
    "JudgeDocuments",
    "NameKind",
    "ReadDocument",
    "Verdict",
    "WriteBalancedReport",
    "WriteReport",
    "WriteSuperBalancedReport",
]
