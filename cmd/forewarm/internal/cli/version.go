package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/exit"
)

func version() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  exit.Args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "forewarm", build())
			return err
		},
	}
}

// build says what the binary was made from: the module's version and the commit as the go command stamped them.
func build() string {
	stamp, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	settings := map[string]string{}
	for _, s := range stamp.Settings {
		settings[s.Key] = s.Value
	}
	text := stamp.Main.Version
	if commit := settings["vcs.revision"]; len(commit) >= 12 {
		text += " commit " + commit[:12]
	}
	if settings["vcs.modified"] == "true" {
		text += " (modified)"
	}
	return fmt.Sprintf("%s %s %s/%s", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
