package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/outlooks"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

// apiTimeout is how long an API server may take to answer.
const apiTimeout = 15 * time.Second

// forecastFlags says whose signal and workload are asked for, where it is those of a Forecast in a cluster.
type forecastFlags struct {
	name                string // NAMESPACE/NAME, "" for none
	kubeconfig, context string
}

// validate returns every problem with these flags.
func (f *forecastFlags) validate(o *capacityOptions) error {
	if f.name == "" {
		if f.kubeconfig != "" || f.context != "" {
			return errors.New("--kubeconfig and --context are for --forecast NAMESPACE/NAME, which is missing")
		}
		return nil
	}
	var problems []error
	if namespace, name, ok := strings.Cut(f.name, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--forecast %.200q is no Forecast, write NAMESPACE/NAME", f.name))
	}
	if o.preset != "" || o.history.Query != "" || o.target != "" || o.namespace != "" {
		problems = append(problems, errors.New("--forecast defines what --preset, --query, --target and --namespace "+
			"would, leave them out"))
	}
	if o.history.Trace != "" {
		problems = append(problems, errors.New("--forecast does not apply to --trace, leave it out"))
	}
	return errors.Join(problems...)
}

// fill puts the Forecast's words in the place of the flags that it excludes. It is read with the user's own rights, and so are
// its queries: nothing confines them to its namespace.
func (f *forecastFlags) fill(ctx context.Context, o *capacityOptions) error {
	if f.name == "" {
		return nil
	}
	forecast, err := f.read(ctx)
	if err != nil {
		return fmt.Errorf("--forecast %s: %w", f.name, err)
	}
	spec := &forecast.Spec
	o.preset, o.history.Query = spec.Signal.Preset, spec.Signal.Query
	if o.saturated == "" {
		o.saturated = spec.Signal.Saturated
	}
	o.target, o.namespace = spec.TargetRef.Kind+"/"+spec.TargetRef.Name, forecast.Namespace
	return nil
}

func (f *forecastFlags) read(ctx context.Context) (*v1alpha1.Forecast, error) {
	cluster := cmdline.Cluster{Kubeconfig: f.kubeconfig, Context: f.context, Timeout: apiTimeout}
	config, _, err := cluster.Config(ctx, "capacity")
	if err != nil {
		return nil, err
	}
	namespace, name, _ := strings.Cut(f.name, "/")
	return outlooks.ReadForecast(ctx, config, namespace, name)
}
