"""factcheck doctor: whether everything is there that a run needs."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict

import click

from factcheck_local import __version__
from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import json_option, llm_option, relation_option, write_json
from factcheck_local.cli.places import nearest_store, open_store, store_option
from factcheck_local.core.errors import StoreError
from factcheck_local.doctor import Finding, examine
from factcheck_local.indexer.address import StorePlace
from factcheck_local.pipeline.settings import Settings
from factcheck_local.report.view import one_line

PROBLEMS = 1


@click.command("doctor", cls=SettingsCommand)
@store_option
@llm_option
@relation_option
@settings_options
@click.option("--speed", is_flag=True, help="Also time the models that the run would use.")
@json_option
def command(
    store_path: StorePlace | None,
    llm: str | None,
    relation: str | None,
    assigned: tuple[str, ...],
    preset: str | None,
    speed: bool,
    as_json: bool,
) -> None:
    """Check what a run needs: versions, models, the store, GPU, memory, disk, egress.

    Every model that is here is hashed, and every passage of the store is read. The
    options are those of verify, and say which run is meant.

    \b
    Exit codes:
      0 nothing, or warnings only
      1 some problem, each with what would mend it
      2 usage
    \b
    Example:
      factcheck doctor --llm qwen2.5-coder-0.5b --speed
    """
    chosen = {"llm": llm, "relation": relation}
    place = store_path or nearest_store()
    settings = _settings(chosen, assigned, preset, place)
    found: list[Finding] = []
    for finding in examine(settings, place, speed=speed):
        found.append(finding)
        if not as_json:
            click.echo(_line(finding))
    if as_json:
        write_json({"version": __version__, "findings": [asdict(f) for f in found]})
    sys.exit(PROBLEMS if any(f.state == "problem" for f in found) else 0)


def _settings(
    options: Mapping[str, str | None],
    assigned: tuple[str, ...],
    preset: str | None,
    place: StorePlace | None,
) -> Settings:
    """Those of verify with this store; without it where it cannot be opened, which is a finding."""
    try:
        if place is not None:
            with open_store(place) as store:
                return choose_settings(options, assigned, preset, store).settings
    except StoreError:
        pass
    return choose_settings(options, assigned, preset, None).settings


def _line(finding: Finding) -> str:
    fix = f" (try: {finding.fix})" if finding.fix else ""
    return f"{finding.state:<8} {finding.check:<8} {one_line(finding.message + fix)}"
