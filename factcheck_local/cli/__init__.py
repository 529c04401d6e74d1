"""The command line: one command a file, gathered here.

Data goes to stdout, progress and messages to stderr.
"""

from __future__ import annotations

import logging
import os
import sys
import threading
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path

import click

from factcheck_local import __version__
from factcheck_local.cli.messages import complain, formerly, set_up, tell
from factcheck_local.core import egress
from factcheck_local.core.errors import FactcheckError
from factcheck_local.models.offline import go_offline

#: Commands and what --help says of them, so that none is imported to list it.
COMMANDS = {
    "demo": "Verify a sample answer against a sample handbook.",
    "index": "Bring the store up to date with folders and files.",
    "prepare": "Have the LLM read the store's passages ahead.",
    "verify": "Judge every claim of answers.",
    "report": "Show an earlier verification in another form.",
    "diff": "Compare two verifications of an answer.",
    "recheck": "Verify past claims against the store as it is now.",
    "replay": "Repeat a verification and say whether anything differs.",
    "sign": "Sign a verification with your own key.",
    "check-signature": "Check that a verification is what was signed.",
    "correct": "Propose edits of an answer that its evidence bears out.",
    "atoms": "List the atomic claims of an answer.",
    "search": "Show the passages that a query finds.",
    "relate": "Score pairs of a premise and a hypothesis.",
    "calibrate": "Fit probabilities and thresholds to your own labels.",
    "infer": "Compute the posteriors of a network.",
    "bench": "Compare assessors on labelled data.",
    "serve": "Serve checks and searches over HTTP.",
    "mcp": "Serve checks and searches to an agent over MCP.",
    "audit": "Check and export a server's audit log.",
    "models": "List, fetch, add, check and carry models.",
    "settings": "Show every setting, its value and where that comes from.",
    "status": "Show the store's sources with their priors.",
    "doctor": "Check that everything is here that a run needs.",
}

#: Commands under the names that they had.
RENAMED = {"verify-signature": "check-signature"}

INTERRUPTED = 130

#: Seconds that an interrupted process has to end.
PATIENCE = 5.0


class _Commands(click.Group):
    """The commands of this package, each in a module of its own."""

    def list_commands(self, _ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _ctx: click.Context, name: str) -> click.Command | None:
        now = RENAMED.get(name, name)
        if now not in COMMANDS:
            return None
        module = import_module(f"{__name__}.{now.replace('-', '_')}")
        found: click.Command = module.command
        return found if now == name else formerly(found, name, now)

    def format_commands(self, _ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands; click would import each for its help."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> object:
        """Run the command; a reader of its output that goes away, as `head` does, is no error."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Caught before click, which would exit with 1; nothing more can be flushed.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="factcheck")
@click.option("-q", "--quiet", is_flag=True, help="Say only what goes wrong.")
@click.option("-v", "--verbose", is_flag=True, help="Say what is done, and how long it takes.")
@click.option(
    "--log-file", type=click.Path(dir_okay=False, path_type=Path), help="Add that to a file."
)
def cli(quiet: bool, verbose: bool, log_file: Path | None) -> None:
    """Check an LLM's answer against your own documents, on this machine alone.

    \b
    factcheck index ./docs
    factcheck verify answer.md
    """
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose exclude each other")
    set_up(only_errors=quiet, verbose=verbose, log_file=log_file)


def main() -> None:
    """Run the command line; a known failure is one line and its exit code."""
    _ready_streams()
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    for handler in logging.getLogger().handlers:
        # What --verbose and --log-file are for is below that, and goes where they say.
        handler.setLevel(logging.WARNING)
    go_offline()
    egress.guard()
    refused, said = len(egress.refusals()), ""
    try:
        code = cli.main(prog_name="factcheck", standalone_mode=False)
    except click.exceptions.Abort:
        tell("factcheck: interrupted; what was written is kept")
        code = INTERRUPTED
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        code = error.exit_code
    except click.ClickException as error:
        code = complain(error.format_message(), _help_hint(error), error.exit_code)
    except FactcheckError as error:
        said = str(error)
        code = complain(said, error.hint, error.exit_code)
    except OSError as error:
        code = complain(str(error), None, FactcheckError.exit_code)
    except MemoryError:
        code = complain(
            "out of memory; what was written is kept", "a smaller model", FactcheckError.exit_code
        )
    finally:
        # What a library tried, and kept the refusal to itself.
        for address in egress.refusals()[refused:]:
            if address not in said:
                complain(f"{address}: refused, something tried to reach it", None, 0)
    sys.exit(code if isinstance(code, int) else 0)


def _ready_streams() -> None:
    """Have the three standard streams, and a stdout that no character brings to an end."""
    # In this order: what is opened first gets the lowest number that is free, its own.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:  # whoever started this has closed it
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")


def script() -> None:
    """The installed command: ``main``, but after an interrupt the process ends, whatever hangs.

    An error that nobody foresaw is shown as Python does, and ends it with 2: 1 would say that an
    answer is below ``--fail-under``.
    """
    try:
        main()
    except KeyboardInterrupt:
        _end_soon()
        sys.exit(INTERRUPTED)
    except SystemExit as ended:
        if ended.code == INTERRUPTED:
            _end_soon()
        raise
    except Exception:
        sys.excepthook(*sys.exc_info())
        sys.exit(FactcheckError.exit_code)


def _end_soon() -> None:
    """End the process in a moment, if it does not come to its end by itself.

    By then everything that was open is closed, but threads of libraries that Python waits for
    at its end may themselves wait for what the interrupt broke off.
    """
    watchdog = threading.Timer(PATIENCE, os._exit, (INTERRUPTED,))
    watchdog.daemon = True
    watchdog.start()


def _help_hint(error: click.ClickException) -> str | None:
    context = error.ctx if isinstance(error, click.UsageError) else None
    return f"{context.command_path} --help" if context else None
