#!/bin/sh
# Builds the images of the sandbox: one line for each that says what was built, with its digest, or why not.
# usage: scripts/containers.sh [NAME…]        dft, md, statml, ddd, small; all without a name
# They go to containers/, or to the directory MATPROOF_IMAGES.
set -u
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- dft md statml ddd small
if ! command -v apptainer >/dev/null; then
    echo "apptainer is not on PATH; load it (module load apptainer), or on Debian: PATH=\$(scripts/unpack-apptainer.sh)/usr/bin:\$PATH" >&2
    exit 1
fi
images=${MATPROOF_IMAGES:-containers}
mkdir -p "$images/build"
export APPTAINER_CACHEDIR="${APPTAINER_CACHEDIR:-$(cd "$images" && pwd)/build/cache}"
status=0
for name in "$@"; do
    fast=''
    image=$images/$name.sif log=$images/build/$name.log
    if [ "$name" = small ]; then
        # From this machine's own files: needs no network.
        rm -rf "$images/build/small"
        if ! python3 containers/local_root.py "$images/build/small" >"$log" 2>&1; then
            echo "$name: not built: $(tail -n1 "$log") (all of it: $log)"
            status=1
            continue
        fi
        source=$images/build/small
        # Small and short-lived: built quickly rather than tightly.
        fast="-comp zstd -Xcompression-level 1"
    elif [ -e "containers/$name.def" ]; then
        source=containers/$name.def
    else
        echo "$name: not built: there is no containers/$name.def"
        status=1
        continue
    fi
    [ -t 1 ] && printf '%s: building, see %s\r' "$name" "$log"
    if apptainer --nocolor build --force ${fast:+--mksquashfs-args "$fast"} "$image.new" "$source" >"$log" 2>&1; then
        mv "$image.new" "$image"
        echo "$name: built $image, $(du -h "$image" | cut -f1), sha256:$(sha256sum "$image" | cut -c1-64)"
    else
        rm -f "$image.new"
        why=$(grep 'FATAL:' "$log" | tail -n1 | sed 's/.*FATAL: *//')
        echo "$name: not built: ${why:-$(tail -n1 "$log")} (all of it: $log)"
        status=1
    fi
done
exit $status
