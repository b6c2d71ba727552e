package explaincmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/cmd/forewarm/internal/past"
)

// validatePast returns every problem of --at.
func (o *options) validatePast() error {
	switch {
	case o.at == "" && o.past.Prometheus.URL != "":
		return errors.New("--prometheus is for --at TIME, which is missing")
	case o.at == "":
		return nil
	case o.file != "":
		return errors.New("--at needs a cluster, leave out --file")
	}
	_, err := past.ParseTime(o.at, time.Now())
	if err != nil {
		err = fmt.Errorf("--at %w", err)
	}
	return errors.Join(err, o.past.Validate("--at"))
}

// runPast tells of the Forecasts that an HPA reads, at an earlier time.
func (o *options) runPast(ctx context.Context, of autoscalerName, out io.Writer) error {
	at, err := past.ParseTime(o.at, time.Now())
	if err != nil {
		return err
	}
	situation, err := o.fromCluster(ctx, of)
	if err != nil {
		return err
	}
	config, _, err := cmdline.LoadKubeconfig(ctx, o.kubeconfig, o.context)
	if err != nil {
		return err
	}
	config.UserAgent, config.Timeout = "forewarm-explain", o.timeout
	namespace, _, _ := strings.Cut(situation.HPA, "/")
	var all []*past.Past
	for i := range situation.Metrics {
		f := situation.Metrics[i].Forecast
		if f == nil {
			continue
		}
		forecast, err := past.FromCluster(ctx, config, namespace, f.Name)
		if err != nil {
			return err
		}
		p, err := o.past.Read(ctx, forecast, at, at, 1)
		if err != nil {
			return err
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return fmt.Errorf("%s reads no Forecast, so nothing of it is recorded or replayed", situation.HPA)
	}
	if o.output.ForScripts() {
		return o.output.Write(out, all)
	}
	for _, p := range all {
		if err := p.WriteText(out); err != nil {
			return err
		}
	}
	return nil
}
