"""How fast an evaluation goes: a server that answers every call after the same time, and what regen adds to that.

    python benchmarks/evaluation.py
    python benchmarks/evaluation.py --items 40 --latency 0 --concurrency 1 --profile

Items have ten documents and five choices, so that the judge `lm` has ten documents and five claims to judge. Prints
the seconds taken against calls x latency / concurrency, and regen's own processor time an item.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import tempfile
import time
from multiprocessing.connection import Connection
from pathlib import Path

import dspy

from eval_truthfulqa.items import ChoiceItem
from eval_truthfulqa.metrics import SETTINGS
from eval_truthfulqa.runner import Evaluation
from regen import Document, Regen, settings
from regen.journal import Calls, Journal
from regen.models import choose, make_lm
from regen.runner import work_through
from regen.runs import Run

DOCUMENTS, CHOICES = 10, 5
TEXT = "The survey of the harbour went on for years, and its reports differ in what they say about the depth. " * 12
VERDICTS = [{"claim": n, "quote": "", "stance": "irrelevant", "confidence": 0.9} for n in range(1, CHOICES + 1)]


def serve(latency: float, ready: Connection) -> None:
    """An OpenAI-compatible server in a process of its own: a letter for choices, verdicts for the judge."""

    def reply(body: bytes) -> bytes:
        text = json.dumps({"answer": "none", "verdicts": VERDICTS}) if b"Say for each claim" in body else "A"
        message = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        usage = {"prompt_tokens": len(body) // 4, "completion_tokens": len(text) // 4 + 1}
        usage["total_tokens"] = sum(usage.values())
        return json.dumps({"id": "1", "object": "chat.completion", "choices": [message], "usage": usage}).encode()

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line[15:]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
                )
                body = await reader.readexactly(length)
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


class Silent:
    """A board that nobody looks at."""

    def stage(self, name: str, seconds: float | None) -> None: ...

    def item(self) -> None: ...


def item(number: int) -> ChoiceItem:
    """An item whose documents all differ."""
    return ChoiceItem(
        id=f"i{number}",
        question=f"How deep is harbour {number}?",
        choices=[f"{metres} metres" for metres in range(CHOICES)],
        answer=0,
        documents=[Document(id=str(n), text=f"Harbour {number}, report {n}. {TEXT}") for n in range(1, DOCUMENTS + 1)],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.3)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()

    ours, theirs = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(options.latency, theirs), daemon=True)
    server.start()
    given = settings.load(
        {"model": "openai/x", "api_base": f"http://127.0.0.1:{ours.recv()}/v1", "concurrency": options.concurrency}
    )
    items = [item(number) for number in range(options.items)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Run.begin(Path(folder), "speed", {}, [(one.id, one.model_dump(mode="json")) for one in items]) as run,
    ):
        journal = Journal(Calls(run), concurrency=options.concurrency)
        with dspy.context(lm=journal.lm(make_lm(choose(given), given))):
            stages = Evaluation(SETTINGS, lambda: Regen(judge="lm", shuffle=False)).stages()
            profile = cProfile.Profile() if options.profile else None
            began, busy = time.monotonic(), time.process_time()
            if profile:
                profile.enable()
            work_through(run, journal, stages, Silent(), at_once=options.concurrency)
            if profile:
                profile.disable()
            seconds, own = time.monotonic() - began, time.process_time() - busy
        calls = journal.calls.spent().calls
    ideal = calls * options.latency / options.concurrency
    print(f"{options.items} items, {calls} calls in {seconds:.1f} s", end="")
    print(f", {seconds / ideal:.2f} times calls x latency / concurrency ({ideal:.1f} s)" if ideal else "")
    print(
        f"regen's own processor time: {1000 * own / options.items:.1f} ms an item, {1000 * own / calls:.2f} ms a call"
    )
    if profile:
        pstats.Stats(profile).sort_stats("cumulative").print_stats(25)
    server.kill()


if __name__ == "__main__":
    main()
