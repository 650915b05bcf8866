#!/bin/sh
# The sample claims on a real Slurm: a throw-away cluster of four virtual nodes on this machine, which ends with the demo.
# Shows the queue while it works, then the leaderboard. Needs no cluster, no key and no network.
set -eu
cd "$(dirname "$0")/.."
PATH="$PWD/.venv/bin:$PATH"
export PATH
if [ "${1:-}" != on-the-cluster ]; then
    exec python tests/slurm/cluster.py --nodes 4 --cpus 2 --gpus 2 -- "$0" on-the-cluster "$@"
fi
shift
sinfo --Node --partition main --format '%8N %6T %.4c cores %.6m MB  %G'
echo
# Results of its own, so that those of `make demo` don't leave it without work.
set -- --profile slurm --matproof-slurm-poll-seconds 2 --config results=results-slurm "$@"
(
    while sleep 10; do
        squeue --noheader --sort=i --format '         %.4i  %9T %4N %8M  %j' | head -12
    done
) &
watching=$!
status=0
snakemake "$@" || status=$?
kill "$watching" 2>/dev/null || true
if [ "$status" -ne 0 ]; then
    snakemake "$@" -- leaderboard || exit "$status"
fi
echo
cat results-slurm/tables/leaderboard.md
echo
echo "report: $PWD/results-slurm/report/index.html"
exit "$status"
