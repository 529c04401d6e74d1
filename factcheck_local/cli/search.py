"""factcheck search: the passages that a query finds."""

from __future__ import annotations

from typing import get_args

import click

from factcheck_local.cli.common import (
    as_option,
    json_option,
    rerank_option,
    valid_text,
    where_option,
    write_json,
)
from factcheck_local.cli.messages import tell
from factcheck_local.cli.places import open_stores, stores_option
from factcheck_local.core.errors import InputError
from factcheck_local.core.types import Atom
from factcheck_local.indexer.joined import ReadPlace
from factcheck_local.indexer.scope import Condition, as_seen, in_scope
from factcheck_local.models.registry import load_model
from factcheck_local.pipeline.retrieval.rerankers import load_reranker
from factcheck_local.pipeline.retrieval.search import retrieve
from factcheck_local.pipeline.settings import Retrieval, Settings
from factcheck_local.report.schema import context_to_dict
from factcheck_local.report.view import one_line


@click.command("search")
@click.argument("query", callback=valid_text)
@stores_option
@click.option("-k", type=click.IntRange(min=1), default=5, show_default=True)
@click.option(
    "--retrieval",
    type=click.Choice(get_args(Retrieval)),
    default=Settings().retrieval,
    show_default=True,
    help="By meaning, by words, or both.",
)
@where_option
@as_option
@rerank_option
@json_option
def command(
    query: str,
    store_path: ReadPlace | None,
    k: int,
    retrieval: Retrieval,
    where: tuple[str, ...] | None,
    as_groups: tuple[str, ...] | None,
    rerank: str | None,
    as_json: bool,
) -> None:
    """Show the passages that QUERY finds, with their similarity, place and prior.

    \b
    Example:
      factcheck search "how many days of leave" -k 3
    """
    if not query.strip():
        raise InputError("the query is empty")
    reranker = load_reranker(rerank) if rerank else None
    with open_stores(store_path) as store:
        made_with = store.fingerprint.embedder
        embedder = load_model(made_with.id, "embedder")
        made_with.check(embedder, store.place)
        conditions = [Condition.parse(text) for text in where or ()]
        scope = in_scope(store.sources(), conditions, as_groups)
        asked = [Atom("query", query, query)]
        found = retrieve(
            asked, store, embedder, k=k, retrieval=retrieval, scope=scope, reranker=reranker
        )
        if found.unread:
            tell(f"{rerank} cannot read the query; the order is the search's")
        seen = in_scope(store.sources(), groups=as_groups)
        hits = [as_seen(c, seen) for c in found.contexts]
        # In float64: in float32 the last digits depend on how many rows there are.
        similarities = found.context_vectors.astype(float) @ found.atom_vectors[0]
        rows = list(zip(hits, similarities.round(6).tolist(), strict=True))
    if as_json:
        write_json(
            [context_to_dict(c) | {"similarity": round(similarity, 6)} for c, similarity in rows]
        )
        return
    for c, similarity in rows:
        place = f"{c.source}, p. {c.page}" if c.page else f"{c.source}:{c.line}"
        rule = f"prior {c.prior:g} ({c.prior_rule})"
        click.echo("  ".join([f"{similarity:.3f}", *map(one_line, (place, rule, c.title))]))
        click.echo("       " + one_line(c.text)[:200])
