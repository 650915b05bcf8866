"""`ParsePDF` as an MCP server over standard input and output, for every agent whose client speaks MCP.

The client starts it inside its own sandbox (`server_command`), so whatever it parses is parsed there. It serves the
parsed paper and reads other PDFs of the payload and the artifacts on demand. Only `core` and `papers` of this package
are visible there: nothing else may be imported here.

usage: python -m matproof.papers.server --payload DIR --paper FILE [--artifacts DIR]
       python -m matproof.papers.server --payload DIR --artifacts DIR --once PATH    one PDF as Markdown, then the end
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from matproof import __version__
from matproof.papers.tool import (
    AGENT_PAYLOAD,
    AGENT_WORKDIR,
    DESCRIPTION,
    NAME,
    PAPER,
    PARAMETERS,
    NotParsedError,
    parse_pdf_tool,
)

if TYPE_CHECKING:
    from matproof.papers.on_demand import OtherPdfs

NOT_PARSED = 3
"""Exit status of `--once` where the PDF gave no text; the last line of standard error is the sentence for the agent."""


def reader(payload: Path, artifacts: Path) -> Callable[[str], str]:
    """What reads other PDFs; it is imported with the first of them, so that the client waits less for the server."""
    made: list[OtherPdfs] = []

    def other(inside: str) -> str:
        from matproof.papers.on_demand import OtherPdfs

        if not made:
            made.append(OtherPdfs(payload=payload, artifacts=artifacts))
        return made[0](inside)

    return other


async def serve(payload: Path, paper: Path, other: Callable[[str], str]) -> None:
    """Answer one client until it closes our standard input."""
    import anyio.to_thread
    from mcp import types
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    tool = types.Tool(
        name=NAME,
        description=DESCRIPTION,
        input_schema=PARAMETERS,
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )

    async def tools(_context: object, _params: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call(_context: object, params: types.CallToolRequestParams) -> types.CallToolResult:
        asked = params.arguments or {}
        path, pages = asked.get("path"), asked.get("pages")
        if params.name != NAME or not isinstance(path, str) or not isinstance(pages, str | int | None):
            text = f"Refused: call {NAME} with a path, and pages such as '3-5' if wanted."
            return types.CallToolResult(content=[types.TextContent(text=text)], is_error=True)
        answer = partial(parse_pdf_tool, path, payload, paper, pages=None if pages is None else str(pages), other=other)
        text = await anyio.to_thread.run_sync(answer)
        return types.CallToolResult(content=[types.TextContent(text=text)])

    server = Server("matproof", version=__version__, on_list_tools=tools, on_call_tool=call)
    async with stdio_server() as (received, sent):
        await server.run(received, sent, server.create_initialization_options())


def once(inside: str, other: Callable[[str], str]) -> int:
    """Print the Markdown of one PDF."""
    try:
        sys.stdout.write(other(inside))
    except NotParsedError as error:
        sys.stderr.write(f"{error}\n")
        return NOT_PARSED
    return 0


def main(arguments: Sequence[str]) -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="matproof.papers.server", description="ParsePDF over MCP (stdio).")
    parser.add_argument("--payload", type=Path, default=Path(AGENT_PAYLOAD), help="the payload")
    parser.add_argument("--artifacts", type=Path, default=Path(AGENT_WORKDIR), help="the artifacts")
    parser.add_argument("--paper", type=Path, help="the parsed paper; paper.md of the payload if not given")
    parser.add_argument("--once", metavar="PATH", help="a PDF as the agent names it: print its Markdown and end")
    asked = parser.parse_args(arguments)
    other = reader(asked.payload, asked.artifacts)
    if asked.once is not None:
        return once(asked.once, other)
    import anyio

    anyio.run(serve, asked.payload, asked.paper or asked.payload / PAPER, other)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
