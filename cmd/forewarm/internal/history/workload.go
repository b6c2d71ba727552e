package history

import (
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/signal"
)

// Workload has the flags of a workload whose demand a preset reads from a Prometheus.
type Workload struct {
	// Preset is a server, "vllm", or one of its presets, "vllm/arrivals"; empty for none.
	Preset string
	// Target is the workload, KIND/NAME, in Namespace; both are empty if they are not given.
	Target, Namespace string
	Trust             signal.Trust
}

// AddFlags binds the workload. otherwise says in the help what a target is that is not given, "(default: …)".
func (w *Workload) AddFlags(flags *pflag.FlagSet, otherwise string) {
	if otherwise != "" {
		otherwise = " " + otherwise
	}
	flags.StringVar(&w.Preset, "preset", w.Preset,
		"model server (vllm) or preset (vllm/arrivals) that defines the demand; see forewarm presets")
	flags.StringVar(&w.Target, "target", w.Target,
		"workload that serves the demand, for example deployment/llama"+otherwise)
	flags.StringVarP(&w.Namespace, "namespace", "n", w.Namespace, "namespace of the workload"+otherwise)
	cmdline.AddTrustFlags(flags, &w.Trust)
}

// Demand returns the preset and its PromQL for a target. A server alone means its requests in flight.
func (w *Workload) Demand(target signal.Target) (preset signal.Preset, promQL string, err error) {
	name := w.Preset
	if !strings.Contains(name, "/") {
		name += "/inflight"
	}
	if preset, err = signal.Lookup(name); err != nil {
		return preset, "", err
	}
	promQL, err = preset.Render(w.Namespace, target, w.Trust)
	return preset, promQL, err
}

// Validate returns every problem with the workload's flags next to those of the history.
func (w *Workload) Validate(o *Options) error {
	if o.Trace != "" {
		return o.RefuseFlags("--trace", func(name string) bool {
			return slices.Contains([]string{"preset", "target", "namespace"}, name)
		})
	}
	problems := []error{w.Trust.Validate()}
	if w.Preset != "" && o.Query != "" {
		problems = append(problems, errors.New("--query and --preset both define the demand, keep one"))
	}
	return errors.Join(problems...)
}
