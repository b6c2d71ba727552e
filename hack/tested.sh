#!/usr/bin/env bash
# Prints docs/reference/versions.md: the versions of other projects that Forewarm is tested with, which are those of the modules in
# hack/components.
#
#     hack/tested.sh record TARGET COMPONENT …
#
# writes to hack/components/tested.txt that a target of make has passed today with the present versions of these components. The targets
# do so with RECORD=1.
set -euo pipefail
export LC_ALL=C
cd "$(dirname "$0")/components"

# parts COMPONENT prints the modules of its programs, or its direct requirements if it has no programs: module, version, programs.
parts() {
    local files=("$1/go.mod")
    [ ! -f "$1/binaries" ] || files=("$1/binaries" "$1/go.mod")
    awk '
        FILENAME ~ /binaries$/ { name[++n] = $1; package[n] = $2; next }
        /^require [^(]/ { version[$2] = $3; direct[$2] = !/indirect/ }
        /^\t[^ ]+ v/ { version[$1] = $2; direct[$1] = !/indirect/ }
        END {
            for (i = 1; i <= n; i++) {
                best = ""
                for (module in version)
                    if (index(package[i] "/", module "/") == 1 && length(module) > length(best))
                        best = module
                programs[best] = programs[best] (programs[best] ? ", " : "") name[i]
            }
            for (module in version)
                if (n ? module in programs : direct[module])
                    print module, version[module], n ? programs[module] : "CustomResourceDefinitions only"
        }' "${files[@]}" | sort
}

if [ "${1:-}" = record ]; then
    target=$2
    {
        grep -v "^$target " tested.txt 2>/dev/null || true
        for component in "${@:3}"; do
            parts "$component" | awk -v about="$target $component" -v day="$(date -u +%F)" '{ print about, $1, $2, day }'
        done
    } | sort -u >tested.part
    mv tested.part tested.txt
    exit
fi

cat <<'PAGE'
<!-- Written by hack/generate.sh. Do not edit. -->

# Versions that Forewarm is tested with

This page lists the versions of other projects that Forewarm is tested with, and the day of the last test that passed. The tests build
these programs from source. The last column has each make target that tests the version, with the day of its last run that passed.
*CustomResourceDefinitions only* means that the tests create objects of the project, but do not run its programs.

| program | module | version | tested by |
|---|---|---|---|
PAGE
find . -name go.mod | sed 's|^\./||; s|/go.mod$||' | sort | while read -r component; do
    parts "$component" | while read -r module version programs; do
        runs=$(awk -v of="$component $module $version" '$2 " " $3 " " $4 == of { print "`make " $1 "` on " $5 }' tested.txt | paste -sd, |
            sed 's/,/, /g')
        printf '| %s | `%s` | %s | %s |\n' "$programs" "$module" "$version" "${runs:-no run is recorded with this version}"
    done
done
cat <<'PAGE'

## Newer versions that could not be tested

The tests download modules from the Go module proxy. It did not have these versions on the day of the attempt.

| module | version | day | what is tested instead |
|---|---|---|---|
PAGE
grep -v '^#' unavailable.txt | while read -r module version day instead; do
    printf '| `%s` | %s | %s | %s |\n' "$module" "$version" "$day" "$instead"
done
