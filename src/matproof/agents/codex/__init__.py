"""The Codex CLI, from npm: `codex exec` without questions, over the Responses API of the gateway."""
