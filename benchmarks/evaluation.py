"""How fast an evaluation goes: a server that answers every call after the same time, and what regen adds to that.

    python benchmarks/evaluation.py
    python benchmarks/evaluation.py --most 20
    python benchmarks/evaluation.py --items 40 --latency 0 --concurrency 1 --profile

Items have ten documents and five choices, so that the judge `lm` has ten documents and five claims to judge. Prints
the seconds taken against the least possible (calls x latency / concurrency), and regen's own processor time an item.
With `--most N` the server answers 429 to more than N calls in any second: also prints the rate that was kept, the
share of calls that were refused, and the items that were lost.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import tempfile
import threading
import time
from collections import deque
from contextlib import nullcontext
from multiprocessing.connection import Connection
from pathlib import Path
from urllib.request import urlopen

import dspy

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS
from eval_truthfulqa.runner import Evaluation
from regen import Document, Regen, settings
from regen.journal import Calls, Journal
from regen.models import choose, make_lm
from regen.runner import work_through
from regen.runs import Run
from regen.settings import Settings

DOCUMENTS, CHOICES = 10, 5
TEXT = "The survey of the harbour went on for years, and its reports differ in what they say about the depth. " * 12
VERDICTS = [{"claim": n, "quote": "", "stance": "irrelevant", "confidence": 0.9} for n in range(1, CHOICES + 1)]


def serve(latency: float, most: int | None, ready: Connection) -> None:
    """An OpenAI-compatible server in a process of its own: a letter for choices, verdicts for the judge.

    It takes `most` calls in any second, and tells through `ready` where it is, and how many it refused when asked.
    """
    taken: deque[float] = deque()
    refused = 0

    def reply(body: bytes) -> bytes:
        text = json.dumps({"answer": "none", "verdicts": VERDICTS}) if b"Say for each claim" in body else "A"
        message = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4 + 1}
        usage["total_tokens"] = sum(usage.values())
        return json.dumps({"id": "1", "object": "chat.completion", "choices": [message], "usage": usage}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal refused
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [line[15:] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")]
                length = int(lengths[0]) if lengths else 0
                body = await reader.readexactly(length)
                if head.startswith(b"GET"):
                    said = b"%d" % refused
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
                    continue
                now = time.monotonic()
                while taken and taken[0] <= now - 1:
                    taken.popleft()
                if most is not None and len(taken) >= most:
                    refused += 1
                    said = b'{"error": {"message": "Slow down.", "type": "rate_limit_error"}}'
                    writer.write(
                        b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: application/json\r\n"
                        b"Content-Length: %d\r\n\r\n%s" % (len(said), said)
                    )
                    continue
                taken.append(now)
                await asyncio.sleep(latency)
                said = reply(body)
                writer.write(
                    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(said)
                )
                writer.write(said)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=512)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


class Profiles:
    """A profile of the processor time of every thread that begins while inside."""

    def __init__(self) -> None:
        self._of: list[cProfile.Profile] = []

    def __enter__(self) -> Profiles:
        threading.setprofile(self._begin)
        return self

    def __exit__(self, *_: object) -> None:
        threading.setprofile(None)

    def _begin(self, *_: object) -> None:
        self._of.append(cProfile.Profile(time.thread_time))
        self._of[-1].enable()

    def show(self, most: int = 45) -> None:
        pstats.Stats(*self._of).sort_stats("cumulative").print_stats(most)


class Silent:
    """A board that nobody looks at."""

    def stage(self, name: str, seconds: float | None) -> None: ...

    def item(self) -> None: ...

    def batch(self, number: int, done: int, total: int) -> None: ...


def item(number: int) -> ChoiceItem:
    """An item whose documents all differ."""
    return ChoiceItem(
        id=f"i{number}",
        question=f"How deep is harbour {number}?",
        choices=[f"{metres} metres" for metres in range(CHOICES)],
        answer=0,
        documents=[Document(id=str(n), text=f"Harbour {number}, report {n}. {TEXT}") for n in range(1, DOCUMENTS + 1)],
    )


def refusals(address: str) -> int:
    """How many calls the server refused so far."""
    with urlopen(address) as reply:
        return int(reply.read())


def evaluate(items: list[ChoiceItem], given: Settings) -> tuple[int, int, float, float]:
    """Goes through the items: calls, items lost, seconds, and seconds of this process's own work."""
    with (
        tempfile.TemporaryDirectory() as folder,
        Run.begin(Path(folder), "speed", {}, [(one.id, one.model_dump(mode="json")) for one in items]) as run,
    ):
        journal = Journal(Calls(run), concurrency=given.concurrency)
        with dspy.context(lm=journal.lm(make_lm(choose(given), given))):
            stages = Evaluation(SETTINGS, lambda: Regen(judge="lm", shuffle=False)).stages()
            began, busy = time.monotonic(), time.process_time()
            work_through(run, journal, stages, Silent(), at_once=given.concurrency)
            seconds, own = time.monotonic() - began, time.process_time() - busy
        return journal.calls.spent().calls, len(run.failures()), seconds, own


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--most", type=int, metavar="N", help="calls a second that are not refused")
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()

    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(options.latency, options.most, theirs), daemon=True
    )
    server.start()
    address = f"http://127.0.0.1:{ours.recv()}"
    given = settings.load({"model": "openai/x", "api_base": f"{address}/v1", "concurrency": options.concurrency})
    # What is imported at the first call is paid once, whatever the number of items.
    evaluate([item(-1)], given)
    before = refusals(address)
    profiles = Profiles()
    with profiles if options.profile else nullcontext():
        calls, lost, seconds, own = evaluate([item(number) for number in range(options.items)], given)
    ideal = max(calls * options.latency / options.concurrency, calls / options.most if options.most else 0.0)
    print(f"{options.items} items, {calls} calls in {seconds:.1f} s", end="")
    print(f", {seconds / ideal:.2f} times the least that is possible ({ideal:.1f} s)" if ideal else "")
    print(
        f"regen's own processor time: {1000 * own / options.items:.1f} ms an item, {1000 * own / calls:.2f} ms a call"
    )
    if options.most:
        refused = refusals(address) - before
        print(f"{calls / seconds:.1f} calls a second of {options.most} that the server takes")
        print(f"refused: {refused} of {calls + refused} ({refused / (calls + refused):.1%}); lost: {lost} items")
    if options.profile:
        profiles.show()
    server.kill()


if __name__ == "__main__":
    main()
