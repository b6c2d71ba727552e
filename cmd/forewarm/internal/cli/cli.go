// Package cli is the command line of forewarm as a function: arguments in, output and an exit code out. Each command is in
// the files that begin with its name.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/adopt"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/capacity"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/demo"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/doctor"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/events"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/explain"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/inspect"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/pause"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/presets"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/serve"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	"github.com/forewarm/forewarm/pkg/printable"
)

const about = `Forewarm scales GPU inference on Kubernetes before the load arrives. It reads the history of a workload's demand,
forecasts it, and serves the forecast as a metric for a HorizontalPodAutoscaler or KEDA.

Try it on this machine, without a cluster:

  forewarm demo

While the demo runs, inspect it from another terminal:

  forewarm inspect --server http://127.0.0.1:8080`

// Program is forewarm's command line.
type Program struct {
	// Version of the binary; empty means the one that the go command stamped into it.
	Version string
	// Name is the path by which the binary was called. As kubectl-forewarm it is kubectl's plugin, and as
	// kubectl_complete-forewarm it completes the plugin's words, as kubectl asks for it.
	Name string
	// Stdin is what commands read for a file named "-"; nil means the process's.
	Stdin io.Reader
}

// Run runs one command line until it is done or the context ends, and returns the exit code. Data goes to stdout,
// messages to stderr. Both are written without the characters that control a terminal.
func (p Program) Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	stdout, stderr = printable.NewWriter(stdout), printable.NewWriter(stderr)
	// Libraries log to stderr, too. A command with log flags sets its own logger.
	log := cmdline.DefaultLog()
	log.New(stderr)
	root := p.Command() //nolint:contextcheck // Commands get the context when they run, from cobra.
	if p.calledAs("kubectl_complete-forewarm") {
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	root.SetIn(p.Stdin)
	root.SetOut(stdout)
	root.SetErr(stderr)
	cmd, err := root.ExecuteContextC(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "forewarm: %v\n", err)
		if errors.Is(err, fs.ErrPermission) {
			fmt.Fprintf(stderr, "It runs as user %d: grant that user access, or use another file.\n", os.Getuid())
		}
		if cmdline.IsUsage(err) {
			fmt.Fprintf(stderr, "Run '%s --help' for usage.\n", cmd.CommandPath())
		}
	}
	return cmdline.ExitCode(err)
}

// Command is forewarm with all of its commands.
func (p Program) Command() *cobra.Command {
	root := &cobra.Command{
		Use:           "forewarm",
		Short:         "Scale before the load arrives",
		Long:          about,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       buildVersion(p.Version),
		// Without a command it prints the help.
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cmdline.UsageError(flagError(err)) })
	root.AddCommand(demo.New(), simulate.New(), newBacktest(), serve.New(), inspect.New(), inspect.NewFleet(),
		explain.New(), adopt.NewInit(), adopt.NewConvert(), adopt.NewHandover(), events.New(), presets.New(),
		capacity.New(), doctor.New(), pause.New(), pause.NewResume(), newVersionCommand(p.Version))
	root.SetVersionTemplate("forewarm {{.Version}}\n")
	root.Flags().Bool("version", false, "print the version of this binary") // Cobra's flag has the short form -v.
	addCompletions(root)
	if p.calledAs("kubectl-forewarm") || p.calledAs("kubectl_complete-forewarm") {
		asPlugin(root)
	}
	return root
}

// calledAs reports whether the binary was called by a name, with or without .exe.
func (p Program) calledAs(name string) bool {
	return strings.TrimSuffix(filepath.Base(p.Name), ".exe") == name
}

// asPlugin changes usage lines and examples to those of kubectl's plugin.
func asPlugin(root *cobra.Command) {
	const own, plugin = "forewarm ", "kubectl forewarm "
	root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: strings.TrimSpace(plugin)}
	for _, cmd := range append(root.Commands(), root) {
		cmd.Long = strings.ReplaceAll(cmd.Long, own, plugin)
		cmd.Example = strings.ReplaceAll(cmd.Example, own, plugin)
	}
}

// flagError returns a flag's error in which the value appears only once. pflag's own error and its cause both contain it.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return err
	}
	if invalid.GetFlag().Value.Type() == "stringToString" { // Headers have secret values.
		return fmt.Errorf("--%s: one of its arguments is not NAME=VALUE", invalid.GetFlag().Name)
	}
	cause := invalid.Unwrap()
	if parse := (*strconv.NumError)(nil); errors.As(cause, &parse) {
		cause = parse.Err
	}
	reason := strings.TrimSuffix(cause.Error(), strconv.Quote(invalid.GetValue()))
	return fmt.Errorf("invalid argument %.200q for --%s: %s", invalid.GetValue(), invalid.GetFlag().Name,
		strings.TrimRight(reason, ": "))
}

func newVersionCommand(stamped string) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this binary",
		Args:  cmdline.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), "forewarm", buildVersion(stamped))
			return err
		},
	}
}

// buildVersion returns the version that the linker set. Without one, it returns the module's version and the commit that the go command
// recorded.
func buildVersion(stamped string) string {
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

// newBacktest returns the former command "backtest", which says which command has replaced it.
func newBacktest() *cobra.Command {
	return &cobra.Command{
		Use:                "backtest",
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("backtest was removed: forewarm simulate --forecasts shows the accuracy of forecasts")
		},
	}
}
