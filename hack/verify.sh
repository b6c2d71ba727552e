#!/usr/bin/env bash
# Fails with a diff where a generated file differs from what hack/generate.sh writes.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
hack/generate.sh "$fresh"
stale=0
while IFS= read -r file; do
    if ! diff -u "$file" "$fresh/$file"; then
        stale=1
    fi
done < <(cd "$fresh" && find . -type f | sort)
if [ "$stale" -ne 0 ]; then
    echo "generated files are out of date: run hack/generate.sh and commit" >&2
    exit 1
fi
echo "generated files are up to date"
