"""factcheck status: what the store holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from factcheck_local.cli.common import json_option, write_json
from factcheck_local.cli.places import open_store, store_option
from factcheck_local.core.text.language import MODELS_READ
from factcheck_local.indexer.address import StorePlace
from factcheck_local.indexer.contents import Coverage, coverage
from factcheck_local.indexer.folder import collections_in
from factcheck_local.indexer.manifest import LeftOut, SourceRecord
from factcheck_local.indexer.whose import organisations
from factcheck_local.pipeline.relation.calibration_file import read_calibrations
from factcheck_local.pipeline.relation.risk import read_risks
from factcheck_local.report.view import one_line


@click.command("status")
@store_option
@json_option
def command(store_path: StorePlace | None, as_json: bool) -> None:
    """Show the store's sources with their prior and the rule that gave it.

    What could not be read is listed with the reason, and what each folder
    contributes. What factcheck calibrate has stored is shown, too.

    \b
    Example:
      factcheck status
    """
    with open_store(store_path) as store:
        sources, left_out = store.sources(), store.left_out()
        size = store.size()
        embedder = store.fingerprint.embedder
        calibrations = read_calibrations(store.path)
        risks = read_risks(store.path)
        collections = collections_in(store.path)
        summary = {
            "store": store.place,
            "passages": store.count(),
            "digest": store.digest(),
            "collections": collections,
        }
    folders = coverage(sources, left_out)
    read_as = sorted(set(organisations(sources).values()))
    # The most frequent first, and of those that are equally so the first by name.
    formats = dict(Counter(sorted(s.extension for s in sources)).most_common())
    if as_json:
        write_json(
            summary
            | {
                "embedder": asdict(embedder),
                "organisations": read_as,
                "calibrations": [asdict(c) for c in calibrations],
                "thresholds": [asdict(r) for r in risks],
                "size": size,
                "formats": formats,
                "folders": {name: asdict(c) for name, c in folders.items()},
                "sources": [_source(s) for s in sources],
                "left_out": [asdict(entry) for entry in left_out],
            }
        )
        return
    for line in _lines(sources, left_out, folders, formats):
        click.echo(line)
    for name in read_as:
        click.echo(f"read as documents of {one_line(name)}")
    for c in calibrations:
        click.echo(
            f"calibration of {c.scorer}: {c.n} labels, ECE {c.ece_before:.3f} before, "
            f"{c.ece_after:.3f} after, {c.date}"
        )
    for r in risks:
        own = r.thresholds
        sides = {"supported": own.supported, "contradicted": own.contradicted}
        least = ", ".join(f"{side} from {t:.4f}" for side, t in sides.items() if t)
        click.echo(
            f"thresholds of {r.relation}, {own.assessor}: by certainty {least}, alpha {own.alpha}, "
            f"{own.claims} claims, {r.date}"
        )
    click.echo(
        f"{len(sources)} sources, {summary['passages']} passages, {size / 1e6:.1f} MB, "
        f"embedder {embedder.id}, digest {str(summary['digest'])[:16]}"
    )
    for name in collections:
        click.echo(f"collection {name}: a store of its own, --collection {name}")


def _source(record: SourceRecord) -> dict[str, Any]:
    """A source for JSON, with its JSON columns as values."""
    groups = record.groups
    return asdict(record) | {
        "access": None if groups is None else sorted(groups),
        "stated": record.metadata,
    }


def _lines(
    sources: Sequence[SourceRecord],
    left_out: Sequence[LeftOut],
    folders: Mapping[str, Coverage],
    formats: Mapping[str, int],
) -> Iterator[str]:
    for s in sources:
        groups = one_line(", ".join(sorted(s.groups or ()))) or "nobody"
        access = "" if s.groups is None else f"  only {groups}"
        state = "" if s.complete else "  (interrupted: index again)"
        name, rule = one_line(s.source), one_line(s.prior_rule)
        yield f"{s.prior:<8g} {s.chunks:>4} passages  {name}  [{rule}]{access}{state}"
        if s.note:
            yield f"{'':8} {one_line(s.note)}"
    for entry in left_out:
        if entry.failed:
            yield f"failed: {one_line(entry.source)}: {one_line(entry.reason)}"
    for folder, c in folders.items():
        name = f"{one_line(folder)}/" if folder else "(top)"
        yield (
            f"{name}: {c.documents} documents, {c.passages} passages, "
            f"{c.skipped} skipped, {c.failed} failed"
        )
    if foreign := sum(MODELS_READ in (s.note or "") for s in sources):
        yield f"{foreign} of {len(sources)} sources in another language: {MODELS_READ}"
    if formats:
        yield f"formats: {', '.join(f'{count} {name}' for name, count in formats.items())}"
