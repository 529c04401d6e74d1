"""factcheck infer: posteriors of a given fact graph or Markov network."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

import click

from factcheck_local.cli.common import (
    check_writable,
    read_input,
    refuse_overwriting,
    write_json,
    write_text,
)
from factcheck_local.core.errors import InputError, RecordError
from factcheck_local.markov import (
    Limits,
    Method,
    Parameterisation,
    infer,
    infer_by_pgmpy,
    marginals_to_json,
    named_for_bif,
    network_from_graph,
    network_from_uai,
    network_to_bif,
    network_to_uai,
)
from factcheck_local.pipeline.claims.records import decode_answer, load_json
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report import SCHEMA
from factcheck_local.report.network import network_of
from factcheck_local.report.stored import complete

PGMPY = "pgmpy"


@click.command("infer")
@click.argument("graph")
@click.option(
    "--method",
    type=click.Choice([*get_args(Method), PGMPY]),
    default="auto",
    show_default=True,
    help="pgmpy is another engine, to compare with; the settings below are not for it.",
)
@click.option(
    "--factors",
    type=click.Choice(get_args(Parameterisation)),
    help="Parameterisation of a fact graph's relations; by default the run's, or conditional.",
)
@click.option(
    "--max-width",
    type=click.IntRange(1, 26),
    default=Limits().max_width,
    show_default=True,
    help="Widest part solved exactly; each more doubles time and memory.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True)
@click.option(
    "--write-uai",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write the network in UAI format, too, for another solver.",
)
@click.option(
    "--write-bif",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Write a Bayesian network of the same distribution in BIF, too; what BIF cannot hold of "
    "a name is _ there.",
)
def command(
    graph: str,
    method: Method | Literal["pgmpy"],
    factors: Parameterisation | None,
    max_width: int,
    seed: int,
    write_uai: Path | None,
    write_bif: Path | None,
) -> None:
    """Compute the posteriors of GRAPH; - is stdin.

    GRAPH is a fact graph in FactReasoner's JSON, the JSON of an earlier verify, or a
    Markov network of binary variables in the UAI format. With --write-uai and --write-bif other
    tools can look at the network of a verification.

    \b
    Example:
      factcheck infer graph.json --factors table1
    """
    check_writable(write_uai)
    check_writable(write_bif)
    refuse_overwriting([path for path in (write_uai, write_bif) if path], [graph])
    data, name = read_input(graph)
    text = decode_answer(data, name)
    try:
        if text.split(maxsplit=1)[0] == "MARKOV":
            if factors is not None:
                raise click.UsageError("--factors is for a fact graph, not for a UAI network")
            network = network_from_uai(text)
        else:
            value = load_json(text, name)
            if isinstance(value, dict) and value.get("schema") == SCHEMA:
                with complete(name):
                    if factors is not None:
                        value["run"]["settings"]["factors"] = factors
                    network = network_of(value).network
            else:
                network = network_from_graph(value, factors or Settings().factors)
    except InputError as error:
        # What is not JSON is named already.
        if str(error).startswith(name):
            raise
        raise RecordError(f"{name}: {error}", hint=error.hint) from error
    if write_uai is not None:
        write_text(write_uai, network_to_uai(network))
    if write_bif is not None:
        write_text(write_bif, network_to_bif(named_for_bif(network)))
    if method == "pgmpy":
        found = infer_by_pgmpy(network)
    else:
        found = infer(network, method, Limits(max_width=max_width, seed=seed))
    write_json(marginals_to_json(found))
