"""What the Codex client is told by file: our gateway is its provider, and nothing asks, phones home or reads along.

Measured on codex 0.169.0: with its defaults it looks up four hosts before the first request; with these it speaks to
the gateway alone. Its own sandbox is off, because it runs in ours.
"""

import json
from collections.abc import Mapping

from matproof.agents.cli_client import Briefing

KEY = "GATEWAY_KEY"
"""Variable of the placeholder that the client sends as its key."""
PROVIDER = "gateway"
LONGEST_CALL_S = 72 * 3600
"""Of a tool of ours, such as the parsing of a long paper; the run's own walltime is what ends it."""
LONGEST_START_S = 60
"""Of the server of such a tool, on a busy node."""
LONGEST_SILENCE_MS = 30 * 60 * 1000
"""Of a model that thinks; five minutes by default."""
LONGEST_WAIT_MS = 3600 * 1000
"""Of one look at a command that runs on; each look is a request, and five minutes, the default, make many of a day."""

OFF = ("apps", "daemon_auto_start", "goals", "plugins", "remote_plugin", "shell_snapshot", "skill_search")
"""Features that reach out, or that leave something behind."""
RULES = """\
prefix_rule(pattern = ["rm"], decision = "allow")
prefix_rule(pattern = [["/bin/bash", "bash"], "-c"], decision = "allow")
"""
"""Commands that are run without a question. Of others it refuses some by their looks, such as `rm -rf build`, where
nobody can be asked. The first rule is for commands that it can take apart, the second for loops and the like."""

Table = Mapping[str, object]


def config_toml(briefing: Briefing) -> str:
    """`config.toml`."""
    tables: dict[str, Table] = {
        "": _top(briefing),
        f"model_providers.{PROVIDER}": {
            "name": PROVIDER,
            "base_url": f"{briefing.url}/v1",
            "env_key": KEY,
            "wire_api": "responses",
            # The gateway tries again itself; this is for an answer that breaks off.
            "request_max_retries": 0,
            "stream_max_retries": 1,
            "stream_idle_timeout_ms": LONGEST_SILENCE_MS,
        },
        "features": dict.fromkeys(OFF, False),
        "agents": {"enabled": False},
        "skills": {"include_instructions": False},
        "skills.bundled": {"enabled": False},
        "analytics": {"enabled": False},
        "feedback": {"enabled": False},
        "history": {"persistence": "none"},
        # Everything: the policy's variables are what MPI programs need in the sandbox, and none is a secret.
        "shell_environment_policy": {"inherit": "all", "ignore_default_excludes": True},
    }
    for name, command in briefing.servers.items():
        tables[f"mcp_servers.{name}"] = {
            "command": command[0],
            "args": list(command[1:]),
            "startup_timeout_sec": LONGEST_START_S,
            "tool_timeout_sec": LONGEST_CALL_S,
        }
    return "\n".join(_table(name, table) for name, table in tables.items())


def _top(briefing: Briefing) -> Table:
    top: dict[str, object] = {
        "model": briefing.model,
        "model_provider": PROVIDER,
        "model_instructions_file": briefing.system_prompt,
        "approval_policy": "never",
        "sandbox_mode": "danger-full-access",
        "check_for_update_on_startup": False,
        "web_search": "disabled",
        # A login shell reads /etc/profile, which sets PATH anew.
        "allow_login_shell": False,
        # AGENTS.md of a payload is data, not an instruction.
        "project_doc_max_bytes": 0,
        # What it would say of network and files is true of its own sandbox only.
        "include_permissions_instructions": False,
        # Its own directory may lie on a shared file system, where no SQLite must be; to resume, it reads plain files.
        "sqlite_home": "/tmp/codex",  # noqa: S108 - private to the sandbox
        "background_terminal_max_timeout": LONGEST_WAIT_MS,
        # The first request waits for the servers of tools, or the session goes on without those that are slow.
        "mcp_optional_startup_grace_ms": 1000 * LONGEST_START_S,
    }
    if briefing.effort is not None:
        top["model_reasoning_effort"] = briefing.effort
    if briefing.context_window is not None:
        top["model_context_window"] = briefing.context_window
    return top


def _table(name: str, table: Table) -> str:
    lines = [f"[{name}]"] if name else []
    # JSON's strings, numbers, booleans and lists are TOML's too, but for a control character that JSON leaves alone.
    lines += [
        f"{key} = {json.dumps(value, ensure_ascii=False)}".replace("\x7f", "\\u007f") for key, value in table.items()
    ]
    return "\n".join(lines) + "\n"
