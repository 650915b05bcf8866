#!/bin/sh
# Agent clients that come from npm, into .agents/, exactly as agents/package-lock.json says; does nothing where they are.
# The Claude client is not among them: the Python package claude-agent-sdk brings it.
set -eu
cd "$(dirname "$0")/.."
stamp=.agents/installed-$(cat agents/package.json agents/package-lock.json | sha256sum | cut -c1-16)
[ -e "$stamp" ] && exit 0
if ! command -v npm >/dev/null; then
    echo "the codex client is installed by npm, which is missing: sudo apt-get install --no-install-recommends nodejs npm" >&2
    exit 1
fi
echo "installing the codex client from agents/package-lock.json into .agents/"
mkdir -p .agents
rm -f .agents/installed-*
cp agents/package.json agents/package-lock.json agents/.npmrc .agents/
npm ci --prefix .agents --ignore-scripts --loglevel=error >/dev/null
touch "$stamp"
