"""Makes what a command needs: the models, with their downloads shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regen.cli.terminal import console, download_bar
from regen.errors import ConfigurationError

if TYPE_CHECKING:
    from regen.models.choice import Role
    from regen.settings import Settings


def check(settings: Settings, *roles: Role) -> None:
    """Tells what is wrong with the models and the judge that are named, before anything is read, asked or fetched.

    Raises:
        ConfigurationError: a key or an address is missing, or there is no such judge.
    """
    from regen.judges import judge_names
    from regen.models import choose

    for role in roles:
        if missing := choose(settings, role).missing:
            raise ConfigurationError(missing)
    names = ["auto", *judge_names()]
    if settings.judge not in names:
        raise ConfigurationError(f"There is no judge {settings.judge!r}; there are: {', '.join(names)}.")


def make_model(settings: Settings, role: Role, *, quiet: bool) -> Any:
    """The `dspy.LM` for a role, fetched and started first where it is the embedded one."""
    from regen.models import choose, make_lm

    def note(text: str) -> None:
        if not quiet:
            console(stderr=True).print(text, style="dim")

    with download_bar("Fetching the embedded model (once)", quiet=quiet) as progress:
        return make_lm(choose(settings, role), settings, progress, note)
