"""How long it takes to read ten pages that each come a second after they are asked for.

    python benchmarks/latency.py

Serves the pages on loopback, first as those of ten sites (what a search brings back), then as ten pages of one site,
of which only two are fetched at a time. Prints the seconds waited, and their ratio to the slowest page.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from regen.types import Document
from search.reading import PageReader

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "search"))
from hostile import SENTENCE, Internet, Reply, Site, article, serving

QUERY = "When was the observatory opened to visitors?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=1.0, help="latency of each page")
    options = parser.parse_args()
    filler = "\n\n".join(f"Paragraph {n} is about the weather in the valley, and nothing else." for n in range(100))
    reply = Reply(article(f"{filler}\n\n{SENTENCE}\n\n{filler}"), seconds=options.seconds)
    with serving({f"/{n}": reply for n in range(options.pages)}) as site:
        for name, hosts in (("ten sites", options.pages), ("one site", 1)):
            urls = [site.url(f"/{n}", f"site-{n % hosts}.example") for n in range(options.pages)]
            # A new reader each time: its parser starts while the pages are on their way.
            seconds, read = measure(site, urls)
            print(
                f"{name}: {read} of {options.pages} pages read in {seconds:.2f} s, "
                f"{seconds / options.seconds:.2f} times the slowest page"
            )


def measure(site: Site, urls: list[str]) -> tuple[float, int]:
    """Seconds that one reading took, and how many of the pages were read."""
    internet = Internet()
    documents = [Document(id=url, url=url, text="", rank=rank) for rank, url in enumerate(urls, 1)]
    with tempfile.TemporaryDirectory() as cache:
        reader = PageReader(cache=Path(cache), resolve=internet.resolve, backend=internet)
        start = time.monotonic()
        results = reader.read(documents, QUERY)
        return time.monotonic() - start, sum(SENTENCE in document.text for document in results.documents)


if __name__ == "__main__":
    main()
