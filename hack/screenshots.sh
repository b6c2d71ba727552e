#!/usr/bin/env bash
# Draws docs/images from the demo after its first rise, at the width of a screen and of a telephone. It fails where the browser reports
# an error, or where the page does not say what the JSON says. Needs chromium, curl and jq.
# Usage: hack/screenshots.sh [FOLDER]
set -euo pipefail
cd "$(dirname "$0")/.."
images=${1:-docs/images}
for tool in chromium curl jq; do
    command -v "$tool" >/dev/null || { echo "screenshots: $tool is missing: install it" >&2; exit 1; }
done
work=$(mktemp -d)
port=${PORT:-8086}
bin/forewarm demo --port "$port" --speed 240 >"$work/demo" &
demo=$!
trap 'kill "$demo"; rm -rf "$work"' EXIT
until grep -q '^Ctrl-C' "$work/demo"; do
    kill -0 "$demo" || { cat "$work/demo"; exit 1; }
    sleep 1
done
sleep 75 # Five hours of the demo's clock: the rise, and what follows it.
outlook=http://127.0.0.1:$port/apis/inspect.forewarm.dev/v1alpha1/namespaces/demo/outlooks/requests
curl -sf "$outlook" >"$work/outlook.json"
curl -sf "$outlook/page" >"$work/outlook.html"
curl -sf "http://127.0.0.1:$port/" >"$work/front.html"

headline=$(jq -r .status.objective.headline "$work/outlook.json")
grep -qF "$headline" <(sed "s/&#39;/'/g" "$work/outlook.html") || { echo "screenshots: the page does not say: $headline" >&2; exit 1; }

# draw NAME WIDTH HEIGHT
draw() {
    # Chromium's windows are no narrower than 500 pixels: a telephone is a frame.
    printf '<body style="margin:0"><iframe src="%s.html" style="width:%spx;height:%spx;border:0"></iframe>' "$1" "$2" "$3" >"$work/frame.html"
    suffix=
    [ "$2" -ge 500 ] || suffix=-narrow
    chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --enable-logging=stderr \
        --window-size="$2,$3" --screenshot="$images/$1$suffix.png" "file://$work/frame.html" 2>"$work/log" >/dev/null
    if grep -F CONSOLE "$work/log"; then
        echo "screenshots: the browser reports errors on $1" >&2
        exit 1
    fi
}
draw outlook 1280 940
draw outlook 390 1000
draw front 1280 300
draw front 390 420
