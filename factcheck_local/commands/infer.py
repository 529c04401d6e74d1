"""factcheck infer: posteriors of a given fact graph."""

from __future__ import annotations

from typing import get_args

import click

from factcheck_local.commands.common import read_input, write_json
from factcheck_local.errors import RecordError
from factcheck_local.markov import (
    Method,
    Parameterisation,
    infer,
    marginals_to_json,
    network_from_graph,
)
from factcheck_local.records import decode_answer, load_json


@click.command("infer")
@click.argument("graph")
@click.option("--method", type=click.Choice(get_args(Method)), default="auto", show_default=True)
@click.option(
    "--factors",
    type=click.Choice(get_args(Parameterisation)),
    default="conditional",
    show_default=True,
    help="Parameterisation of the relations.",
)
def command(graph: str, method: Method, factors: Parameterisation) -> None:
    """Compute the posteriors of GRAPH, a fact graph in FactReasoner's JSON; - is stdin.

    \b
    Example:
      factcheck infer graph.json --factors table1
    """  # noqa: D301
    data, name = read_input(graph)
    value = load_json(decode_answer(data, name), name)
    try:
        network = network_from_graph(value, factors)
    except RecordError as error:
        raise RecordError(f"{name}: {error}") from error
    write_json(marginals_to_json(infer(network, method)))
