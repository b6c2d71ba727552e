#!/usr/bin/env bash
# Shows where this revision and another one begin to serve different values, with some steps around: the time, what was observed
# and what is served, to the nine digits that count. Of the other revision a worktree is built.
# Usage: hack/served/diff.sh REVISION NAME/REQUEST…
set -euo pipefail
cd "$(dirname "$0")/../.."
[ $# -ge 2 ] || { echo "usage: hack/served/diff.sh REVISION NAME/REQUEST…" >&2; exit 2; }
revision=$1
shift
export CGO_ENABLED=0
work=$(mktemp -d)
trap 'git worktree remove --force "$work/tree" 2>/dev/null || true; rm -rf "$work"' EXIT
git worktree add --quiet --detach "$work/tree" "$revision"
[ -d "$work/tree/hack/served" ] || { echo "diff.sh: $revision has no hack/served to play it with" >&2; exit 1; }
(cd "$work/tree" && go build -o "$work/before" ./hack/served)
go build -o "$work/now" ./hack/served
for name in "$@"; do
    for of in before now; do
        "$work/$of" print "$name" >"$work/exact"
        awk '{ printf "%s %.9g %.9g\n", $1, $2, $3 }' "$work/exact" >"$work/$of.txt"
    done
    if difference=$(diff -U 4 --label "$revision" --label now "$work/before.txt" "$work/now.txt"); then
        echo "$name: no difference from $revision"
    else
        echo "$name:"
        head -n 16 <<<"$difference"
    fi
done
