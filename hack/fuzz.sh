#!/usr/bin/env bash
# Runs fuzz targets one after the other. At the end it lists those that failed; go test says where the failing input lies. It fails
# where none matches.
# Usage: hack/fuzz.sh TIME TARGETS [FLAG...]   a target runs for the TIME; TARGETS is a regular expression; flags are go test's
set -uo pipefail
cd "$(dirname "$0")/.."
time=$1 targets=$2
shift 2
# No process may take more memory than this (KiB): one that does dies, and its input is a failure.
ulimit -d 4194304
failed=() ran=0
trap 'exit 130' INT
while IFS=: read -r file target; do
    target=${target#func }
    [[ $target =~ $targets ]] || continue
    ran=$((ran + 1))
    printf '== %s %s (%s)\n' "$(dirname "$file")" "$target" "$(date -u +%T)"
    go test -vet=off -run '^$' -fuzz "^$target\$" -fuzztime "$time" -fuzzminimizetime 10s "$@" "./$(dirname "$file")" </dev/null ||
        failed+=("$(dirname "$file") $target")
done < <(git grep -oE '^func Fuzz\w+' -- '*_test.go')
[ "$ran" -gt 0 ] || { echo "fuzz: no target matches $targets" >&2; exit 1; }
[ ${#failed[@]} -eq 0 ] || { printf 'FAILED: %s\n' "${failed[@]}"; exit 1; }
