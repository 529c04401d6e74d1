"""factcheck check-signature: whether a run is what its signer signed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from factcheck_local.cli.common import read_input
from factcheck_local.cli.sign import signature_file, signature_option
from factcheck_local.report.signatures import is_signed

#: Exit code of a signature that is not of this file by this key.
INVALID = 1


@click.command("check-signature")
@click.argument("run")
@click.option(
    "--key",
    required=True,
    type=click.Path(dir_okay=False),
    help="The signer's public Ed25519 key, a PEM file.",
)
@signature_option
def command(run: str, key: str, signature: Path | None) -> None:
    """Check that RUN is, to the byte, what the owner of a key signed.

    \b
    Exit codes:
      0 it is
      1 it is not: the file, the signature or the key is another
      2 usage or bad input
    \b
    Example:
      factcheck check-signature run.json --key me.pub
    """
    data, name = read_input(run)
    given, _ = read_input(str(signature_file(run, signature)))
    public, _ = read_input(key)
    valid = is_signed(data, given, public, key)
    click.echo(f"{name}: {'signed by' if valid else 'not signed by'} the owner of {key}")
    sys.exit(0 if valid else INVALID)
