"""What the commands of evaluations share: going through a run with a bar, and what is said where it ends early."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from regen.cli.terminal import complain
from regen.errors import ConfigurationError, InputError, LimitError, ProviderError, RegenError

if TYPE_CHECKING:
    from regen.journal import Journal
    from regen.models.choice import Role
    from regen.runner import Stage
    from regen.runs import Run
    from regen.settings import Settings

# Warnings that are shown; the report has them all.
_WARNINGS = 5


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """What every evaluation is told. `data` says which items they are, for the run's configuration."""

    settings: Settings
    data: dict[str, Any]
    run: Path | None = None
    batch: bool = False
    max_calls: int | None = None
    max_cost: float | None = None
    retry_failed: bool = False
    json: bool = False
    quiet: bool = False


class Failed(Protocol):
    """An item that failed, and why."""

    @property
    def id(self) -> str: ...
    @property
    def message(self) -> str: ...


def go_through(
    run: Run,
    journal: Journal,
    stages: Sequence[Stage],
    *,
    at_once: int,
    quiet: bool,
    write: Callable[[bool, str | None], int],
) -> None:
    """Does what is left of a run.

    Args:
        run: Held by this process.
        journal: Of the run.
        stages: In order.
        at_once: Items at the same time.
        quiet: Show no progress.
        write: Writes the figures, however this ends: it is told whether the run is complete, and why not where that is
            known, and gives the number of items that they are over.

    Raises:
        RegenError, KeyboardInterrupt: as `regen.runner.work_through`, once the figures are written.
    """
    from regen.cli.progress import RunBoard
    from regen.runner import complete, work_through

    left = _left(run, [stage.name for stage in stages])
    total = run.counts()[0]
    board = RunBoard(total, total - left.pop("items"), left, journal.calls.spent, quiet=quiet)
    stopped: str | None = None
    mend = limited = False
    with run.session() as end:
        try:
            with board.live():
                work_through(run, journal, stages, board, at_once=at_once)
            stopped = journal.calls.stopped
            limited = stopped is not None
        except KeyboardInterrupt:
            stopped = "It was interrupted."
            raise
        except (RegenError, OSError) as error:
            stopped = str(error)
            mend = getattr(error, "exit_code", None) == ConfigurationError.exit_code
            raise
        finally:
            done = complete(run, stages)
            asked = write(done, stopped)
            if not done:
                end(stopped or "It stopped.")
                first = "Once that is mended, give" if mend else "With a higher one, give" if limited else "Give"
                complain(
                    f"{asked} of {total} items were asked; what was paid for is kept in {run.folder}. {first} the same "
                    f"command with --run {run.folder} to go on."
                )
                if run.batches():
                    complain(f"The provider goes on with {_batches(run)}, which that command fetches.")


def configured(settings: Settings, lm: Any, judge_lm: Any, judge: str) -> dict[str, Any]:
    """What the figures of answers that are checked depend on, in any evaluation of them, and no secret.

    How often and how long a call is tried is not in it, where that only decides whether an item fails: whoever is told
    to try longer must be able to go on with the run.
    """
    from regen.models import choose
    from regen.models.wire import without_credentials

    address = choose(settings).api_base
    return {
        "model": lm.model,
        "api_base": without_credentials(address) if address else None,
        "judge": judge,
        "judge_model": judge_lm.model if judge_lm is not None else None,
        "judge_samples": settings.judge_samples,
        "seed": settings.seed,
        "max_rounds": settings.max_rounds,
        "support": settings.support,
        "check_quotes": settings.check_quotes,
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens,
    }


def tell_stopped(complete: bool, stopped: str | None) -> None:
    """Says why a run is not complete, and ends with the exit code of a limit; nothing where it is."""
    if not complete:
        error = LimitError(stopped or "The run stopped.")
        complain(error)
        raise typer.Exit(error.exit_code)


def tell_warnings(warnings: Mapping[str, int], of: str, report: Path) -> None:
    """The first warnings, each with how many times there was one, in words after the count: "of 20 items"."""
    for warning, count in list(warnings.items())[:_WARNINGS]:
        complain(f"{warning} ({count} {of})")
    if len(warnings) > _WARNINGS:
        complain(f"{len(warnings) - _WARNINGS} more warnings are in {report}.")


def tell_failures(failures: Sequence[Failed], of: int, *, provider_failed: bool) -> None:
    """How many of the items failed, and the first cause; ends with a provider's exit code where one failed for good."""
    if failures:
        failed = len({failure.id for failure in failures})
        complain(
            f"{failed} of {of} items failed, the first one so: {failures[0].message} "
            "--retry-failed has them done again."
        )
    if provider_failed:
        raise typer.Exit(ProviderError.exit_code)


def items_at_once(settings: Settings, *roles: Role) -> int:
    """How many items are worked on at the same time with the models in these roles."""
    from regen.models import choose

    # The local model has one slot: items side by side would push each other's documents out of its prompt cache.
    return 1 if any(choose(settings, role).kind == "embedded" for role in roles) else settings.concurrency


def check_batches(settings: Settings, *roles: Role) -> None:
    """Raises ConfigurationError where the model in a role cannot be asked in batches, before it is fetched."""
    from regen.models import choose
    from regen.models.batch_api import unfit

    for role in roles:
        choice = choose(settings, role)
        if choice.kind != "openai-compatible":
            raise unfit(choice.model)


def check_waiting(run: Run, batch: bool) -> None:
    """Raises InputError where a run waits for batches that this session would not fetch."""
    if run.batches() and not batch:
        raise InputError(f"The run in {run.folder} waits for {_batches(run)}: give --batch as well, to fetch it.")


def batch_notes(run: Run) -> list[str]:
    """For a report: how many calls came of batches."""
    count, calls = run.batched(), run.usage().calls
    if not count:
        return []
    return [
        f"{count:,} of {calls:,} calls went through the provider's Batch API, and are counted at its price. The time "
        "that they took is not counted."
    ]


def file_hash(path: Path) -> str:
    """The SHA-256 of a file of data."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _batches(run: Run) -> str:
    """The batches under way, in words."""
    under_way = run.batches()
    calls = sum(len(batch.calls) for batch in under_way)
    return f"a batch of {calls:,} calls" if len(under_way) == 1 else f"{len(under_way)} batches of {calls:,} calls"


def _left(run: Run, names: Sequence[str]) -> Counter[str]:
    """How many stages are left by name, and in how many `items`."""
    finished, failures = run.finished(), run.failures()
    left: Counter[str] = Counter({"items": 0})
    for item in run.items():
        todo = [name for name in names if name not in finished.get(item, {}) and not failures.get(item, {}).get(name)]
        left.update(todo)
        left["items"] += bool(todo)
    return left
