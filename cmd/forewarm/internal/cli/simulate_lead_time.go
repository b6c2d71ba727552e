package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/outlooks"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// measuredLead is a lead time as a forewarm that runs knows it.
type measuredLead struct {
	outlooks.Connection

	of string // NAMESPACE/NAME of the Forecast; empty for none
}

// validate returns every problem; given is true if --lead-time is set.
func (m *measuredLead) validate(given bool) error {
	if m.of == "" {
		if m.Server != "" || m.Kubeconfig != "" || m.Context != "" {
			return errors.New(
				"--server, --kubeconfig and --context are for --lead-time-of NAMESPACE/NAME, which is missing",
			)
		}
		return nil
	}
	problems := []error{m.Validate()}
	if namespace, name, ok := strings.Cut(m.of, "/"); !ok || namespace == "" || name == "" ||
		strings.Contains(name, "/") {
		problems = append(problems, fmt.Errorf("--lead-time-of %.200q is no Forecast, write NAMESPACE/NAME", m.of))
	}
	if given {
		problems = append(problems, errors.New("--lead-time excludes --lead-time-of, keep one"))
	}
	return errors.Join(problems...)
}

// read replaces the lead time by that of the Forecast, where one is named. What forewarm reckons with is a high quantile of
// what it saw, so every replica is taken to need as long.
func (m *measuredLead) read(ctx context.Context, lead *compare.LeadTime) error {
	if m.of == "" {
		return nil
	}
	client, err := m.Connect(ctx, "simulate")
	if err != nil {
		return fmt.Errorf("--lead-time-of %s: %w", m.of, err)
	}
	namespace, name, _ := strings.Cut(m.of, "/")
	outlook, _, err := client.Outlook(ctx, namespace, name)
	if err != nil {
		return fmt.Errorf("--lead-time-of %s: %w", m.of, err)
	}
	known := outlook.Status.LeadTime
	if known.Duration.Duration <= 0 {
		return fmt.Errorf("--lead-time-of %s: its lead time is not known yet, set --lead-time instead", m.of)
	}
	*lead = compare.LeadTime{Median: known.Duration.Duration, Known: "of Forecast " + m.of}
	if known.Source != "" {
		lead.Known += ": " + known.Source
	}
	return nil
}
