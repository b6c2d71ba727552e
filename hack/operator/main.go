// Command operator prints docs/reference/failures.md: an operator's days on which something goes wrong, and how one learns of it.
// Its tests play them.
package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

func main() { fmt.Print(page()) }

func page() string {
	var out strings.Builder
	out.WriteString(`<!-- Written by hack/generate.sh. Do not edit. -->

# What can go wrong, and how you learn of it

Each row is played by a test: in simulated time through the refresh loop and the alerts' own rules or, where a test is named, in parts
and on a real control plane.
"No alert" means that none fires until then. Each alert has a [runbook](../runbooks.md), each reason its [advice](conditions.md).

| what happens | what is served | condition | alert, after at most | what to do |
|---|---|---|---|---|
`)
	for _, d := range days() {
		name, condition, alert := "**"+d.Name+"**", "none", "no alert"
		if d.Test != "" {
			name += " (`" + d.Test + "`)"
		}
		if len(d.Conditions) > 0 {
			var all []string
			for _, kind := range slices.Sorted(maps.Keys(d.Conditions)) {
				all = append(all, "`"+kind+"`: `"+d.Conditions[kind]+"`")
			}
			condition = strings.Join(all, ", ")
		}
		if d.State != "" {
			condition += "; state `" + d.State + "`"
		}
		if d.Alert != "" {
			alert = fmt.Sprintf("[%s](../runbooks.md#%s), %s", d.Alert, strings.ToLower(d.Alert),
				humanize.Span(d.Within.Round(time.Minute)))
		}
		fmt.Fprintf(&out, "| %s: %s | %s | %s | %s | %s |\n", name, d.Happens, d.Served, condition,
			alert, cmp.Or(d.Do, "nothing"))
	}
	return out.String()
}
