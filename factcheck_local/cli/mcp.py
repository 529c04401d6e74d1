"""factcheck mcp: checks and searches for an agent, over MCP."""

from __future__ import annotations

import click

from factcheck_local.cli.choosing import SettingsCommand, choose_settings, settings_options
from factcheck_local.cli.common import as_option
from factcheck_local.cli.messages import tell
from factcheck_local.cli.places import open_store, store_option
from factcheck_local.cli.serve import need_libraries, places
from factcheck_local.indexer.address import StorePlace


@click.command("mcp", cls=SettingsCommand)
@store_option
@as_option
@settings_options
def command(
    store_path: StorePlace | None,
    as_groups: tuple[str, ...] | None,
    assigned: tuple[str, ...],
    preset: str | None,
) -> None:
    """Serve checks and searches to an agent over MCP, on stdin and stdout (docs/mcp.md).

    An MCP client starts this by itself. factcheck serve has the same tools at /mcp.

    \b
    Example:
      factcheck mcp --store .factcheck
    """
    need_libraries("mcp", "mcp", "fastapi")
    from factcheck_local.serve.mcp_transports import serve_stdio

    _, place = places(store_path, None)
    with open_store(place) as store:
        settings = choose_settings({"as_groups": as_groups}, assigned, preset, store).settings
    tell(f"serving {place} over MCP on stdin and stdout")
    serve_stdio(place, settings)
