"""Which of a set of ordinary and hostile pages are read, cut or refused, and why.

    python benchmarks/pages.py

Serves the pages of `tests/search/hostile.py` on loopback, behind names that resolve to a public address, and reads
each as the page of a search result. Writes nothing, and asks nothing of the network.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from regen.types import Document
from search.reading import PageReader

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "search"))
from hostile import Internet, minimal_pdf, pages, serving

QUERY = "When was the observatory opened to visitors?"
SNIPPET = "A snippet."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deadline", type=float, default=4.0, help="seconds for all pages")
    options = parser.parse_args()
    internet = Internet({"rebinds.example": ["127.0.0.1"]})
    with (
        serving(pages(minimal_pdf("The observatory was opened in 1912."))) as site,
        tempfile.TemporaryDirectory() as cache,
    ):
        urls = {path: site.url(path, f"host-{n}.example") for n, path in enumerate(site.replies)}
        urls |= {
            "name of this machine": site.url("/ordinary", "rebinds.example"),
            "127.0.0.1": site.url("/ordinary", "127.0.0.1"),
            "credentials": "http://user:password@host.example/",
            "file:": "file:///etc/passwd",
            "javascript:": "javascript:alert(1)",
        }
        documents = [
            Document(id=name, url=url, text=SNIPPET, snippet=SNIPPET, rank=rank)
            for rank, (name, url) in enumerate(urls.items(), 1)
        ]
        reader = PageReader(deadline=options.deadline, cache=Path(cache), resolve=internet.resolve, backend=internet)
        results = reader.read(documents, QUERY)
    report(results.documents, results.warnings)


def report(documents: list[Document], warnings: list[str]) -> None:
    """Prints one row a page, as a table in Markdown, and how many there were of each."""
    counts = {"read": 0, "cut": 0, "refused": 0}
    print("| page | what became of it | why, or how its text begins |\n|---|---|---|")
    for place, document in enumerate(documents, 1):
        said = [
            warning.partition(" ")[2].partition(" ")[2] for warning in warnings if warning.startswith(f"[{place}] ")
        ]
        refused = document.text == SNIPPET
        became = "refused" if refused else "cut" if said else "read"
        counts[became] += 1
        why = said[0].removeprefix("could not be read (").removesuffix("): only its snippet was used.") if said else ""
        if not refused:
            start = " ".join(document.text.removeprefix("# A heading").split())[:60]
            why = f"{why.removeprefix('was not read whole: ')} {start}".strip()
        print(f"| {document.id} | {became} | {why.replace('|', ' ')} |")
    print("\n" + ", ".join(f"{count} {became}" for became, count in counts.items()))


if __name__ == "__main__":
    main()
