#!/usr/bin/env bash
# Builds the binaries for tests on a real control plane, from source and once.
#
#   build.sh [--built] COMPONENT [BINARY …]
#
# A component is a folder next to this script: a Go module of its own (Kubernetes and KEDA pin versions that the product
# must not inherit), a file `binaries` with a name and a package on each line, and optionally the files `ldflags` and `tags`.
# Where its go.mod needs a newer Go, the go command downloads the toolchain that is named there from the module proxy.
# The binaries (all, or those named) are in a cache folder for the module and the Go version; its path is the last line of
# output. Several runs at once are safe. With --built nothing is built: it fails where a binary is missing.
set -euo pipefail
only_built=
if [ "${1:-}" = --built ]; then
    only_built=1
    shift
fi
component=${1:?which component? one of: $(cd "$(dirname "$0")" && echo */ | tr -d /)}
shift
cd "$(dirname "$0")/$component"
export GOTOOLCHAIN=auto
key=$({ cat go.mod go.sum binaries; cat ldflags tags 2>/dev/null || true; go version; } | sha256sum | cut -c1-16)
cache=${FOREWARM_COMPONENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/forewarm}/$component/$key
[ -n "$only_built" ] || mkdir -p "$cache"
while read -r name package; do
    if [ -x "$cache/$name" ] || { [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; }; then
        continue
    fi
    if [ -n "$only_built" ]; then
        echo "$component: $name is not built" >&2
        exit 1
    fi
    echo "building $name (minutes, once) …" >&2
    part=$(mktemp "$cache/.part-XXXXXX")
    trap 'rm -f "$part"' EXIT
    CGO_ENABLED=0 go build -ldflags "-s -w $(cat ldflags 2>/dev/null || true)" -tags "$(cat tags 2>/dev/null || true)" \
        -o "$part" "$package"
    chmod 755 "$part"
    mv "$part" "$cache/$name"
done <binaries
echo "$cache"
