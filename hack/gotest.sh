#!/usr/bin/env bash
# Runs go test under gotestsum. A failed run ends with the messages of the tests that failed, a good one with the ten slowest
# packages and tests. FORMAT is one of gotestsum's.
# Usage: hack/gotest.sh [ARGUMENT OF GO TEST …]
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
gotestsum=$(CGO_ENABLED=0 go tool -n -modfile="$root/hack/tools/go.mod" gotestsum)
events=$(mktemp)
trap 'rm -f "$events"' EXIT

# Without vet: the linter vets. The timeout is for a test that hangs: on a busy machine a good package takes ten minutes.
"$gotestsum" --format "${FORMAT:-pkgname-and-test-fails}" --format-hide-empty-pkg --hide-summary skipped \
    --jsonfile "$events" -- -vet=off -timeout=20m "$@"

# slowest KIND: what passed and took longest. A test whose result was reused counts with the time that it took when it ran.
slowest() {
    printf '\nSlowest %s, in seconds:\n' "$1"
    sed -nE 's/.*"Action":"pass","Package":"([^"]*)"(,"Test":"([^"]*)")?,"Elapsed":([0-9.]+)\}/\4 \1 \3/p' "$events" |
        awk -v fields="$2" 'NF == fields' | sort -rn | awk 'NR <= 10 { printf "%8.2f  %s %s\n", $1, $2, $3 }'
}
slowest packages 2
slowest tests 3
