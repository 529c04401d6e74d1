"""factcheck sign: a run signed with the user's own key."""

from __future__ import annotations

from pathlib import Path

import click

from factcheck_local.cli.common import (
    STDIN,
    check_writable,
    read_input,
    refuse_overwriting,
    replace_file,
)
from factcheck_local.cli.messages import tell
from factcheck_local.core.errors import InputError
from factcheck_local.pipeline.claims.records import decode_answer, load_json
from factcheck_local.report.signatures import sign
from factcheck_local.report.stored import checked

#: What a signature's file is called beside the file that it is of.
ENDING = ".sig"


def signature_file(run: str, given: Path | None) -> Path:
    """Where the signature of a run is: where the user says, else beside it.

    Raises:
        InputError: if it has no file to be beside.
    """
    if given is None and run == STDIN:
        raise InputError("standard input has no file beside it: expected --signature FILE")
    return given or Path(run + ENDING)


signature_option = click.option(
    "--signature",
    type=click.Path(path_type=Path, dir_okay=False),
    help=f"The signature's file; by default RUN{ENDING}.",
)


@click.command("sign")
@click.argument("run")
@click.option(
    "--key",
    required=True,
    type=click.Path(dir_okay=False),
    help="Your private Ed25519 key, a PEM file; a passphrase is asked for.",
)
@signature_option
def command(run: str, key: str, signature: Path | None) -> None:
    """Sign RUN, the JSON of verify, with your own key.

    The signature is of the file's bytes and stands in a file of its own. OpenSSL makes the keys,
    and can check it, too:

    \b
      openssl genpkey -algorithm ed25519 -out me.pem
      openssl pkey -in me.pem -pubout -out me.pub
    \b
    Exit codes:
      0 signed
      2 usage or bad input
    \b
    Example:
      factcheck sign run.json --key me.pem
    """
    target = signature_file(run, signature)
    check_writable(target)
    refuse_overwriting([target], [run, key])
    data, name = read_input(run)
    checked(load_json(decode_answer(data, name), name), name)
    secret, _ = read_input(key)
    made = sign(data, secret, key, passphrase=lambda: _passphrase(key))
    replace_file(target, made)
    tell(f"written to {target}")


def _passphrase(key: str) -> str:
    said: str = click.prompt(f"passphrase of {key}", hide_input=True, err=True)
    return said
