"""Checks and makes what a command needs: its models."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regen.errors import ConfigurationError, InputError

if TYPE_CHECKING:
    from regen.cli.terminal import Steps
    from regen.compiled import Compiled
    from regen.credibility import SourceList
    from regen.models.choice import ModelChoice, Role
    from regen.settings import Settings


def check(settings: Settings, *roles: Role) -> None:
    """Tells what is wrong with the models and the judge that are named, before anything is read, asked or fetched.

    Raises:
        ConfigurationError: a key or an address is missing, or there is no such judge.
    """
    from regen.judges import check_judge
    from regen.models import choose

    for role in roles:
        if missing := choose(settings, role).missing:
            raise ConfigurationError(missing)
    check_judge(settings.judge)


def with_program(settings: Settings, folder: Path | None) -> tuple[Settings, Compiled | None]:
    """The compiled program in a folder, where one is named, and the settings with the judge and claims it is for.

    A judge, or kind of claims, that was asked for stays: the program then says itself that it is not for it.

    Raises:
        InputError: it cannot be read, or is of another version of regen.
    """
    if folder is None:
        return settings, None
    from regen.compiled import Compiled

    compiled = Compiled.read(folder)
    meant = {"judge": compiled.card.judge} if settings.judge == "auto" else {}
    meant |= {"claims": compiled.card.claims} if "claims" not in settings.model_fields_set else {}
    return settings.model_copy(update=meant), compiled


def source_list(settings: Settings, given: Path | None) -> SourceList | None:
    """The list of sources that is named, read before anything costs something; None where credibility is off.

    Args:
        settings: In force.
        given: The file that was named on the command line.

    Raises:
        InputError: the list cannot be read, or is named on the command line where credibility is off.
    """
    if settings.credibility == "off":
        if given is not None:
            raise InputError("--credibility-list goes with --credibility weight or filter.")
        return None
    if settings.credibility_list is None:
        return None
    from regen.credibility import SourceList

    return SourceList.read(settings.credibility_list)


def deciding(
    settings: Settings, compiled: Compiled | None, sources: SourceList | None, *roles: Role, searches: bool = False
) -> dict[str, Any]:
    """What decides a result beside the input, as values that JSON has, so that one file holds results of a kind.

    An address is not in it: the same server may be at another one the next time.

    Args:
        settings: In force.
        compiled: The compiled program, if there is one.
        sources: The list of sources, if there is one.
        roles: What models are asked for.
        searches: Whether documents are searched for.
    """
    from regen import __version__
    from regen.judges import default_judge
    from regen.models import choose
    from regen.settings import ANSWERING, JUDGING

    found: dict[str, Any] = {
        "regen": __version__,
        "models": [_named(choose(settings, role)) for role in roles],
        "judge": default_judge(choose(settings, "judge")) if settings.judge == "auto" else settings.judge,
        "program": compiled.sha256 if compiled else None,
        "settings": settings.model_dump(mode="json", include=set(ANSWERING if searches else JUDGING)),
    }
    if not roles:
        # Of what a model does alone.
        found["settings"] = {**found["settings"], "temperature": None, "seed": None, "max_tokens": None}
    if settings.credibility != "off":
        threshold = settings.credibility_threshold if settings.credibility == "filter" else None
        found["credibility"] = [settings.credibility, threshold, asdict(sources) if sources else None]
    if searches:
        from regen.cli.searching import search_options
        from search.base import provider_class
        from search.build import chosen

        names, _ = chosen(settings.search, search_options(settings))
        folders = [path and str(path.resolve()) for path in (settings.docs, settings.recorded)]
        # Which index, of which engine; keys are not told by it.
        own = {name: getattr(provider_class(name), "settings", None) for name in names}
        found["search"] = [folders, {name: of and of.read().model_dump(mode="json") for name, of in own.items()}]
    return found


def _named(choice: ModelChoice) -> list[str]:
    """What tells a model from others; where an address alone names it, that."""
    return [choice.model or str(choice.api_base), str(choice.path.resolve()) if choice.path else ""]


def make_model(settings: Settings, role: Role, steps: Steps) -> Any:
    """The `dspy.LM` for a role, fetched and started first where it is the embedded one."""
    steps("loading the model")
    from regen.models import choose, make_lm

    return make_lm(choose(settings, role), settings, steps.transfer("fetching the embedded model (once)"), steps.note)


@contextmanager
def one_sentence() -> Iterator[None]:
    """While inside, a model's failure becomes an error of ours."""
    from regen.models.failures import expected, translate

    try:
        yield
    except expected() as error:
        raise translate(error) from error
