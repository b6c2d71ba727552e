package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
)

func version(stamped string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "forewarm", build(stamped))
			return err
		},
	}
}

// build says what the binary was made from: the version that its build was given, or else the module's and the commit as
// the go command stamped them.
func build(stamped string) string {
	text := cmp.Or(stamped, "unknown")
	if info, ok := debug.ReadBuildInfo(); ok && stamped == "" {
		text = info.Main.Version
		settings := map[string]string{}
		for _, s := range info.Settings {
			settings[s.Key] = s.Value
		}
		if commit := settings["vcs.revision"]; len(commit) >= 12 && !strings.Contains(text, commit[:12]) {
			text += " commit " + commit[:12]
		}
	}
	return fmt.Sprintf("%s %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
