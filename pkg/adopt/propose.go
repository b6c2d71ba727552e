package adopt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// Config says how Propose recognizes the server of a workload, and what it writes.
type Config struct {
	// Trust says whose series count.
	Trust signal.Trust
	// Lead is the lead time until it is measured.
	Lead time.Duration
	// Simulate demands a verdict for each Forecast, from a history of Window in steps of Step.
	Simulate     bool
	Window, Step time.Duration
	// History reads the series of a query up to now. The error is series.ErrNoSeries where there is none, and
	// series.ErrUnavailable where the store does not answer.
	History func(ctx context.Context, query string, window, step time.Duration) (forecast.Series, error)
}

// Workload is a workload, KIND/NAME, and what becomes of it.
type Workload struct {
	Namespace string   `json:"namespace"`
	Workload  string   `json:"workload"`
	ScaledBy  []string `json:"scaledBy,omitempty"`
	Preset    string   `json:"preset,omitempty"`
	// Name is the Forecast's, LeftOut why there is none, Scaling where spec.scaling is from, or why there is none.
	Name    string `json:"forecast"`
	LeftOut string `json:"leftOut,omitempty"`
	Scaling string `json:"scaling,omitempty"`
	// Verdict is that of the simulation; Saved are GPU-hours against the autoscaler as written, at equal reliability.
	Verdict string  `json:"verdict,omitempty"`
	Saved   float64 `json:"savedGPUHours,omitempty"`
	Created bool    `json:"created,omitempty"`

	// Document is empty where there is none.
	Document

	ref     leadtime.Workload
	query   string
	gpus    int64
	scalers []*hpa.Autoscaler
	// metric is the autoscaler's metric in the preset's unit; nil if there is none.
	metric *hpa.AutoscalerMetric
}

// ID names a workload in a line: NAMESPACE/KIND/NAME.
func (w *Workload) ID() string { return w.Namespace + "/" + w.Workload }

// HasScaling reports whether its Forecast has spec.scaling.
func (w *Workload) HasScaling() bool { return w.metric != nil }

// Propose decides what to write for a workload. The error means that the store does not answer.
func Propose(ctx context.Context, cfg Config, w *Workload) error {
	if w.LeftOut != "" {
		return nil
	}
	if err := recognize(ctx, cfg, w); err != nil || w.Preset == "" {
		return err
	}
	w.readScaling()
	render(cfg, w)
	if cfg.Simulate && w.Manifest != "" {
		return simulate(ctx, cfg, w)
	}
	return nil
}

// recognize finds the server by its series of the last day.
func recognize(ctx context.Context, cfg Config, w *Workload) error {
	var found []string
	for _, source := range signal.Sources() {
		preset, err := signal.Lookup(source.Name + "/inflight")
		if err != nil {
			continue // An exporter reports pods of any server.
		}
		const day, step = 24 * time.Hour, 5 * time.Minute // As far as Prometheus looks back.
		query, err := preset.Render(w.Namespace, signal.Target{Kind: w.ref.Kind, Name: w.ref.Name}, cfg.Trust)
		if err == nil {
			_, err = cfg.History(ctx, query, day, step)
		}
		switch {
		case err == nil:
			found, w.query = append(found, preset.Name), query
		case errors.Is(err, series.ErrUnavailable) || ctx.Err() != nil:
			return err
		case !errors.Is(err, series.ErrNoSeries):
			w.LeftOut = err.Error()
			return nil
		}
	}
	switch len(found) {
	case 0:
		const none = "no known model server reported its pods in the last day: check that its metrics are scraped. " +
			"For a query to try, run forewarm presets --render vllm/inflight --target %s --namespace %s; for a server without metrics, see " +
			"dcgm/gpu-busy in docs/signals.md#which-signal"
		w.LeftOut = fmt.Sprintf(none, w.Workload, w.Namespace)
	case 1:
		w.Preset = found[0]
	default:
		w.LeftOut = strings.Join(found, " and ") + " both have series: docs/signals.md#which-signal helps you choose"
	}
	return nil
}

// readScaling finds the metric in the preset's unit, if the workload has a single autoscaler. Of several metrics, it uses the one with the
// smallest target, because its proposal is the largest.
func (w *Workload) readScaling() {
	preset, err := signal.Lookup(w.Preset)
	switch {
	case err != nil || len(w.scalers) == 0:
		w.Scaling = "nothing scales it"
		return
	case len(w.scalers) > 1:
		w.Scaling = strings.Join(w.ScaledBy, " and ") + " both scale it: keep one"
		return
	}
	var others []string
	metrics := w.scalers[0].Metrics
	if len(metrics) == 0 {
		metrics = []hpa.AutoscalerMetric{hpa.DefaultMetric()}
	}
	for i := range metrics {
		m := &metrics[i]
		spec := w.specOn(m)
		refused := m.Refused
		if err := spec.Validate(); refused == "" && err != nil {
			refused = strings.ReplaceAll(err.Error(), "\n", "; ")
		}
		if refused == "" && !preset.Counts(m.Query()) {
			refused = "it does not count what " + w.Preset + " counts"
		}
		switch {
		case refused != "":
			others = append(others, m.String()+": "+refused)
		case w.metric == nil || m.Target < w.metric.Target:
			w.metric = m
		}
	}
	w.Scaling = w.ScaledBy[0] + " on " + strings.Join(others, "; ")
	if w.metric != nil {
		w.Scaling = "taken from " + w.ScaledBy[0] + ", which scales on " + w.metric.String()
	}
}

// specOn returns how the workload's autoscaler scales on the total demand with one of its metrics. The averageValue of a mean over the pods
// is also the demand for each replica.
func (w *Workload) specOn(m *hpa.AutoscalerMetric) hpa.Spec {
	total := *m
	total.Source = cmp.Or(m.Source, hpa.External)
	return w.scalers[0].SpecOf(&total)
}

// simulate simulates the workload on its history.
func simulate(ctx context.Context, cfg Config, w *Workload) error {
	if w.metric == nil {
		w.Verdict = "not simulated: what a replica sustains is not known"
		return nil
	}
	var got *compare.Comparison
	demand, err := cfg.History(ctx, w.query, cfg.Window, cfg.Step)
	if err == nil {
		got, err = compare.Compare(ctx, compare.Config{
			Demand:     demand,
			Source:     w.Preset,
			HPA:        w.specOn(w.metric),
			Autoscaler: w.ScaledBy[0],
			Lead:       compare.LeadTime{Median: cfg.Lead},
			Objective:  compare.DefaultBadHours,
			BadHours:   true,
			GPUs:       float64(max(w.gpus, 1)),
			Only:       []string{compare.HPA, compare.BestTarget, compare.Forewarm},
		}, nil)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		w.Verdict = "not simulated: " + err.Error()
		return nil //nolint:nilerr // It is the verdict.
	}
	w.Verdict = cmp.Or(got.Verdict, got.NoVerdict)
	if v := got.Judged; v != nil {
		w.Saved = v.HPA.Total() - v.Forewarm.Total()
		if v.Word == verdict.CostsMore || v.Word == verdict.TooLate {
			w.LeftOut, w.Document = "it would not pay. "+got.Verdict, Document{}
		}
	}
	return nil
}

// render writes the Forecast with its reasons. If the Forecast is invalid, it is left out.
func render(cfg Config, w *Workload) {
	lead := v1alpha1.Duration(model.Duration(cfg.Lead).String())
	f := v1alpha1.Forecast{
		ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: w.Name},
		Spec: v1alpha1.ForecastSpec{
			TargetRef: v1alpha1.TargetRef{APIVersion: w.ref.APIVersion, Kind: w.ref.Kind, Name: w.ref.Name},
			Signal:    v1alpha1.Signal{Preset: w.Preset},
			LeadTime:  &v1alpha1.LeadTime{Mode: v1alpha1.LeadTimeAuto, Fallback: lead},
		},
	}
	if w.metric != nil {
		target, scaler := *resource.NewMilliQuantity(w.metric.Target, resource.DecimalSI), w.scalers[0]
		f.Spec.Scaling = &v1alpha1.Scaling{
			Target: target, MinReplicas: &scaler.Min, MaxReplicas: &scaler.Max,
			Before: &v1alpha1.BeforeScaling{Target: target, MinReplicas: max(scaler.Min, 1)},
		}
	}
	document, err := forecastDocument(&f, catalogue.Signals{Trust: cfg.Trust})
	if err != nil {
		w.LeftOut = err.Error()
		return
	}
	estimate := fmt.Sprintf("forewarm capacity --prometheus URL --preset %s --target %s -n %s", w.Preset, w.Workload,
		w.Namespace)
	scaling := "scaling: " + w.Scaling + ". The target is the same as in before: a replica sustains at least this " +
		"much. It may sustain more; for an estimate, run " + estimate + "."
	if w.metric == nil {
		scaling = "No scaling: " + w.Scaling + ". For a verdict, add scaling: {target: …} with what one replica sustains; " +
			"for an estimate, run " + estimate + ". Forewarm is then compared with an HPA whose target is 70% of that."
	}
	document.From, document.Why = w.Workload, []string{
		"signal: the only model server with series for these pods in the last day.",
		scaling,
		"leadTime: the time from a scale-up to ready, measured on the workload's own pods; until then, the fallback applies.",
		"serve: Forewarm serves the observed demand until you remove this line, when the verdict of some days is good.",
		"Then keep a second metric that does not need Forewarm. " + w.withoutForewarm() +
			" See docs/hpa.md#a-second-metric-that-does-not-need-forewarm.",
	}
	w.Document = document
}

// withoutForewarm says what scales the workload up while Forewarm is down: a metric that its autoscaler already has and that does not come
// from Forewarm, with a higher target, or a higher minimum.
func (w *Workload) withoutForewarm() string {
	const target = "raised to just below what a replica sustains (60 if it sustains 64)."
	field := "minReplicas"
	if len(w.scalers) > 0 && w.scalers[0].Kind == hpa.KindScaledObject {
		field = "minReplicaCount"
	}
	minimum := "raise " + field + " to what a normal busy hour needs."
	switch {
	case w.metric == nil:
		return "No such metric is known here: " + minimum
	case field == "minReplicaCount":
		return "Keep " + w.metric.String() + ", with its threshold " + target +
			" Let KEDA read Forewarm's value with a prometheus trigger, too, or " + minimum
	case w.metric.Source == hpa.External:
		return w.metric.String() + " comes from Forewarm once Forewarm serves External metrics: add a Pods metric from another adapter, or " +
			minimum
	}
	return "Keep " + w.metric.String() + ", with its target " + target
}
