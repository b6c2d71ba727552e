#!/usr/bin/env bash
# Counts the lines of Go by folder: hand-written source, tests, and generated code.
#
#     hack/lines.sh            # the files that git tracks, as they are
#     hack/lines.sh HEAD~5     # a commit
set -euo pipefail
cd "$(dirname "$0")/.."
if [ $# -gt 0 ]; then
    tree=$(mktemp -d)
    trap 'rm -rf "$tree"' EXIT
    git archive "$1" | tar -x -C "$tree"
    cd "$tree"
    files=$(find . -name '*.go' | sed 's|^\./||')
else
    files=$(git ls-files --cached '*.go')
fi
# The folder of a file is its first one, of pkg the first two.
printf '%s\n' "$files" | while IFS= read -r file; do
    [ -f "$file" ] || continue
    kind=source
    if head -n 5 "$file" | grep -q 'DO NOT EDIT'; then
        kind=generated
    elif [[ $file == *_test.go ]]; then
        kind=tests
    fi
    case $file in
        pkg/*/*) folder=$(cut -d/ -f1-2 <<<"$file") ;;
        *) folder=${file%%/*} ;;
    esac
    printf '%s %s %s\n' "$folder" "$kind" "$(wc -l <"$file")"
done | awk '
    { lines[$1, $2] += $3; total[$2] += $3; folders[$1] = 1 }
    END {
        printf "%-16s %8s %8s %10s\n", "FOLDER", "SOURCE", "TESTS", "GENERATED"
        for (folder in folders)
            printf "%-16s %8d %8d %10d\n", folder, lines[folder, "source"], lines[folder, "tests"], lines[folder, "generated"] | "sort"
        close("sort")
        printf "%-16s %8d %8d %10d\n", "all", total["source"], total["tests"], total["generated"]
    }'
