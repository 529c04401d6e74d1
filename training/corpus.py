"""Passages of permissively licensed documentation, as raw material for unlabelled pairs.

    python -m training.corpus --out passages.jsonl

Downloads the packages of ``PACKAGES`` with ``apt-get download``, unpacks them
without installing anything, and writes one line per section of a page:
``{"package", "title", "sentences": [...]}``. Needs Debian and its archive.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from lxml import etree, html

from factcheck_local.core.text.sentences import sentence_spans

#: Debian's documentation packages and their licences.
PACKAGES = {
    "apache2-doc": "Apache-2.0",
    "cinder-doc": "Apache-2.0",
    "erlang-doc": "Apache-2.0",
    "keystone-doc": "Apache-2.0",
    "neutron-doc": "Apache-2.0",
    "nodejs-doc": "MIT",
    "nova-doc": "Apache-2.0",
    "postgresql-doc-15": "PostgreSQL",
    "python-django-doc": "BSD-3-Clause",
    "python-sqlalchemy-doc": "MIT",
    "python3.11-doc": "PSF-2.0",
    "sqlite3-doc": "public domain",
    "swift-doc": "Apache-2.0",
    "tomcat10-docs": "Apache-2.0",
}
MAX_PAGES = 900
MIN_SENTENCES = 2
MAX_SENTENCES = 12
BLOCKS = {"p", "li", "dd", "td"}
HEADINGS = {"h1", "h2", "h3", "h4"}


def sections(page: bytes) -> Iterator[tuple[str, list[str]]]:
    """(title, sentences) of each section of an HTML page."""
    try:
        root = html.document_fromstring(page)
    except (ValueError, etree.ParserError):
        return
    title = ""
    found: list[str] = []
    if not (root.get("lang") or "en").startswith("en"):
        return
    for element in root.iter():
        tag = element.tag
        if not isinstance(tag, str):
            continue
        if tag in HEADINGS:
            yield title, found
            title, found = " ".join(element.text_content().split()).strip("¶ "), []
        elif tag in BLOCKS and not any(
            c.tag in BLOCKS | {"pre"} for c in element.iterdescendants()
        ):
            text = " ".join(element.text_content().split())
            found += [s.of(text) for s in sentence_spans(text, 0, len(text))]
    yield title, found


def is_prose(sentence: str) -> bool:
    """Whether a sentence reads as one: 6 to 45 words, mostly letters, closed by a stop."""
    words = sentence.split()
    letters = sum(c.isalpha() or c == " " for c in sentence)
    return (
        6 <= len(words) <= 45
        and sentence[0].isupper()
        and sentence.endswith(".")
        and letters > 0.86 * len(sentence)
        and not re.search(r"[{}<>=\\|]|::|\(\)", sentence)
    )


@click.command()
@click.option("--out", type=click.Path(path_type=Path), required=True)
@click.option("--seed", type=int, default=1, show_default=True)
def main(out: Path, seed: int) -> None:
    """Write the passages to a JSONL file."""
    rng = random.Random(seed)
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder, out.open("w", encoding="utf-8") as lines:
        subprocess.run(["apt-get", "download", "-q", *PACKAGES], cwd=folder, check=True)
        for package in PACKAGES:
            deb = next(Path(folder).glob(f"{package}_*.deb"))
            target = Path(folder) / package
            subprocess.run(["dpkg-deb", "-x", deb, target], check=True)
            pages = sorted(p for p in target.rglob("*.html") if not p.is_symlink())
            rng.shuffle(pages)
            count = 0
            for page in pages[:MAX_PAGES]:
                for title, sentences in sections(page.read_bytes()):
                    kept = [s for s in sentences if is_prose(s) and s not in seen]
                    seen.update(kept)
                    for at in range(0, len(kept), MAX_SENTENCES):
                        part = kept[at : at + MAX_SENTENCES]
                        if len(part) >= MIN_SENTENCES:
                            row = {"package": package, "title": title, "sentences": part}
                            lines.write(json.dumps(row, ensure_ascii=False) + "\n")
                            count += 1
            click.echo(f"{package}: {count} passages of {len(pages)} pages", err=True)


if __name__ == "__main__":
    main()
