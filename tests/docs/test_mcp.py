"""docs/mcp.md: a client's configuration starts the server, and every tool is named."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

from factcheck_local.serve.access import LOCAL
from factcheck_local.serve.mcp_tools import make_server
from factcheck_local.serve.service import Config, Service

from .pages import PAGES, blocks, takes_its_options

PAGE = "docs/mcp.md"


def test_the_configurations_are_as_clients_read_them() -> None:
    stdio, http = (json.loads(text)["mcpServers"]["factcheck"] for text in blocks(PAGE, "json"))
    assert stdio["command"].endswith("/factcheck")
    assert takes_its_options(stdio["args"])
    assert http["url"].endswith("/mcp")
    assert http["headers"]["Authorization"].startswith("Bearer fck_")


def test_every_tool_is_named(tmp_path: Path) -> None:
    server = make_server(Service(Config(tmp_path, tmp_path / "data")), lambda _request: LOCAL)
    named = re.findall(r"^\| `(\w+)`", PAGES[PAGE], re.MULTILINE)
    assert named == [tool.name for tool in asyncio.run(server.list_tools())]
