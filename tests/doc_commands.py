"""Commands that documentation shows: whether they take what they are given."""

from __future__ import annotations

import click

from factcheck_local.commands import cli


def takes_its_options(arguments: list[str]) -> bool:
    """Whether a command line is one; options and choices are checked, and nothing is run.

    Raises:
        click.UsageError: if it is not.
    """
    context = click.Context(cli)
    command: click.Command = cli
    while isinstance(command, click.Group):
        name, found, arguments = command.resolve_command(context, arguments)
        assert found is not None, name
        command = found
    return bool(command.make_context(command.name, list(arguments)))
