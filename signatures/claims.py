"""Taking a response apart into claims."""

from __future__ import annotations

import dspy


class ExtractSalientClaims(dspy.Signature):
    """List the factual claims on which the response stands or falls: those that answer the question, at most three.

    Each claim is one short sentence that can be understood and checked alone: replace "it", "they" and "the company"
    by what they stand for, and keep numbers, dates, conditions and hedges as they are. Where the response says who
    says something ("document 2 says that ..."), keep that in the claim. Leave out background, examples, citations like
    [1], questions, advice, and remarks on what the documents don't say. Add nothing that the response does not say.
    """

    question: str | None = dspy.InputField(desc="what the response answers")
    response: str = dspy.InputField()
    claims: list[str] = dspy.OutputField(desc="one claim a line, the most important first")


class ExtractMergedClaims(dspy.Signature):
    """List what the response claims, with statements that qualify each other joined into one claim.

    Statements belong together when one limits, dates, contrasts or explains the other: "The fee was 10 euros until
    2023 and is 12 euros since" is one claim, not two. Each claim can be understood and checked alone: replace "it",
    "they" and "the company" by what they stand for, and keep numbers, dates, conditions, hedges, and who says
    something ("document 2 says that ..."). Leave out citations like [1], questions, advice, and remarks on what the
    documents don't say. Add nothing that the response does not say.
    """

    question: str | None = dspy.InputField(desc="what the response answers")
    response: str = dspy.InputField()
    claims: list[str] = dspy.OutputField(desc="one claim a line")


class ExtractClaims(dspy.Signature):
    """List the factual claims that the response makes.

    Each claim is one short sentence that can be understood and checked alone: replace "it", "they" and "the company"
    by what they stand for, and keep numbers, dates, conditions and hedges ("may", "according to some sources") as
    they are. One fact a claim. Where the response says who says something ("document 2 says that ..."), keep that in
    the claim. Leave out citations like [1], questions, advice, and remarks on what the documents don't say. Add
    nothing that the response does not say.
    """

    question: str | None = dspy.InputField(desc="what the response answers")
    response: str = dspy.InputField()
    claims: list[str] = dspy.OutputField(desc="one claim a line")
