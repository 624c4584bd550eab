#!/usr/bin/env bash
# Plays scripts natively and in the program of the page, with every rung, and compares the hash of the states and the bytes
# of each rung at every tick.
#
#   same.sh CUBEWIRE SECONDS SCRIPT...
set -euo pipefail
export cubewire=$1 seconds=$2
shift 2
export here=$(dirname "$0")
export folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT

one() {
    set -euo pipefail
    local script=$1 lane=link:wi-fi # Jitter, some losses, and room for uncompressed snapshots.
    local name native browser compared
    name=$(basename "$script" .ron)
    native=$folder/$name.csv browser=$folder/$name-browser.csv
    "$cubewire" play "$script" --ticks "$native" --seconds "$seconds" --lane "$lane" >"$folder/$name.log"
    node "$here/ticks.mjs" "$script" --seconds "$seconds" --lane "$lane" >"$browser"
    if ! cmp "$native" "$browser"; then
        diff "$native" "$browser" | head -4
        return 1
    fi
    compared=$(grep '^compared' "$native" | tr ',' '\n' | grep '[0-9]' | sort -n | head -1)
    if grep '^wrong' "$native" | grep '[1-9]' || [ "$compared" -lt "$seconds" ]; then
        grep '^compared' "$native"
        return 1
    fi
    echo "$name: $(grep -c '^[0-9]' "$native") ticks are the same; of each rung at least $compared snapshots arrived, none wrong"
}
export -f one

printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" bash -c 'one "$0"'
