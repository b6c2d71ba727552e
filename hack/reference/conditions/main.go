// Command conditions writes docs/reference/conditions.md from the constants of the conditions and their reasons. It runs in
// the root of the repository.
package main

import (
	"fmt"
	"os"

	"github.com/forewarm/forewarm/hack/reference"
)

const head = `<!-- Written by hack/generate.sh. Do not edit. -->

# Conditions and their reasons

` + "`kubectl describe`" + ` shows the conditions of an object, each with a status, a reason and a message. The message has the numbers.
`

func main() {
	fmt.Print(head)
	err := reference.WriteConditions(os.Stdout,
		reference.ConditionKind{
			Title: "Forecast",
			Text: "The Outlook of a Forecast has the same conditions, except `Reachable`. Where a condition is absent, " +
				"there is nothing to report.",
			Folder: "pkg/core/snapshot",
			Values: []string{"pkg/core/decide/objective"},
		},
		reference.ConditionKind{
			Title: "WarmPool", Text: "See [warm pools](../warm-pools.md).", Folder: "pkg/api/v1alpha1",
		})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
