package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/outlooks"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// runPast tells of the Forecasts that an HPA reads, at an earlier time.
func (o *explainOptions) runPast(ctx context.Context, of autoscalerName, out io.Writer) error {
	situation, err := o.fromCluster(ctx, of)
	if err != nil {
		return err
	}
	var keys []snapshot.Key
	namespace, _, _ := strings.Cut(situation.HPA, "/")
	for i := range situation.Metrics {
		if f := situation.Metrics[i].Forecast; f != nil {
			keys = append(keys, snapshot.Key{Namespace: namespace, Name: f.Name})
		}
	}
	if len(keys) == 0 {
		return fmt.Errorf("%s reads no Forecast, so nothing of it is recorded or replayed", situation.HPA)
	}
	config, _, err := o.Config(ctx, "explain")
	if err != nil {
		return err
	}
	all, err := o.past.Read(ctx, config, keys, o.past.From)
	if err != nil {
		return err
	}
	return outlooks.WritePast(out, &o.output, all)
}
