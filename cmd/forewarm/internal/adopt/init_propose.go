package adopt

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
	"github.com/forewarm/forewarm/pkg/core/series"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/catalogue"
)

// row is a workload, KIND/NAME, and what becomes of it.
type row struct {
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
	objectDocument

	ref      leadtime.Workload
	query    string
	gpus     int64
	outlines []autoscaler.Outline
	// metric is the autoscaler's that is in the preset's unit; nil without one.
	metric *autoscaler.OutlineMetric
}

func (r *row) id() string { return r.Namespace + "/" + r.Workload }

// propose decides what to write for a workload.
func (o *initOptions) propose(ctx context.Context, r *row) error {
	if r.LeftOut != "" {
		return nil
	}
	if err := o.recognize(ctx, r); err != nil || r.Preset == "" {
		return err
	}
	r.readScaling()
	o.render(r)
	if o.simulate && r.Manifest != "" {
		return o.play(ctx, r)
	}
	return nil
}

// recognize finds the server by its series of the last day.
func (o *initOptions) recognize(ctx context.Context, r *row) error {
	var found []string
	for _, source := range signal.Sources() {
		preset, err := signal.Lookup(source.Name + "/inflight")
		if err != nil {
			continue // An exporter, which reports any pod.
		}
		day := o.history
		day.Range = model.Duration(24 * time.Hour)
		day.Step = model.Duration(5 * time.Minute) // As far as Prometheus looks back.
		day.Query, err = preset.Render(r.Namespace, signal.Target{Kind: r.ref.Kind, Name: r.ref.Name}, o.trust)
		if err == nil {
			_, err = day.Read(ctx, nil, time.Now(), nil)
		}
		switch {
		case err == nil:
			found, r.query = append(found, preset.Name), day.Query
		case errors.Is(err, series.ErrUnavailable) || ctx.Err() != nil:
			return err
		case !errors.Is(err, series.ErrNoSeries):
			r.LeftOut = err.Error()
			return nil
		}
	}
	switch len(found) {
	case 0:
		const none = "no known server reported its pods in the last day: are its metrics scraped? A query to try: " +
			"forewarm presets --render vllm/inflight --target %s --namespace %s; for a server without metrics see " +
			"dcgm/gpu-busy in docs/signals.md#which-signal"
		r.LeftOut = fmt.Sprintf(none, r.Workload, r.Namespace)
	case 1:
		r.Preset = found[0]
	default:
		r.LeftOut = strings.Join(found, " and ") + " both have series: choose by docs/signals.md#which-signal"
	}
	return nil
}

// readScaling finds the metric of the workload's one autoscaler that is in the preset's unit: that of the smallest target, whose
// proposal is the largest.
func (r *row) readScaling() {
	preset, err := signal.Lookup(r.Preset)
	switch {
	case err != nil || len(r.outlines) == 0:
		r.Scaling = "nothing scales it"
		return
	case len(r.outlines) > 1:
		r.Scaling = strings.Join(r.ScaledBy, " and ") + " both scale it: keep one"
		return
	}
	var others []string
	for i := range r.outlines[0].Metrics {
		m := &r.outlines[0].Metrics[i]
		if m.Refused == "" && !preset.Counts(m.Query) {
			m.Refused = "it does not count what " + r.Preset + " counts"
		}
		switch {
		case m.Refused != "":
			others = append(others, m.String()+": "+m.Refused)
		case r.metric == nil || m.Spec.Metrics[0].Target < r.metric.Spec.Metrics[0].Target:
			r.metric = m
		}
	}
	r.Scaling = r.ScaledBy[0] + " on " + strings.Join(others, "; ")
	if r.metric != nil {
		r.Scaling = "of " + r.ScaledBy[0] + ", on " + r.metric.String()
	}
}

// play simulates the workload on its history.
func (o *initOptions) play(ctx context.Context, r *row) error {
	if r.metric == nil {
		r.Verdict = "not simulated: what a replica sustains is not known"
		return nil
	}
	of := o.history
	of.Query = r.query
	var got *compare.Comparison
	demand, err := of.Read(ctx, nil, time.Now(), nil)
	if err == nil {
		got, err = compare.Compare(ctx, compare.Config{
			Demand:     demand.Series,
			Source:     r.Preset,
			HPA:        r.metric.Spec,
			Autoscaler: r.ScaledBy[0],
			Lead: compare.LeadTime{
				Median: o.lead,
			},
			Objective: compare.DefaultBadHours,
			BadHours:  true,
			GPUs:      float64(max(r.gpus, 1)),
			Only:      []string{compare.HPA, compare.BestTarget, compare.Forewarm},
		}, nil)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.Verdict = "not simulated: " + err.Error()
		return nil //nolint:nilerr // It is the verdict.
	}
	r.Verdict = got.Verdict
	if v := got.Judged; v != nil {
		r.Saved = v.HPA.Total() - v.Forewarm.Total()
		if v.Word == verdict.CostsMore || v.Word == verdict.TooLate {
			r.LeftOut, r.objectDocument = "it would not pay. "+got.Verdict, objectDocument{}
		}
	}
	return nil
}

// forecast is the object.
func (o *initOptions) forecast(r *row) *v1alpha1.Forecast {
	f := &v1alpha1.Forecast{
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: r.Name},
		Spec: v1alpha1.ForecastSpec{
			TargetRef: v1alpha1.TargetRef{APIVersion: r.ref.APIVersion, Kind: r.ref.Kind, Name: r.ref.Name},
			Signal:    v1alpha1.Signal{Preset: r.Preset},
			LeadTime: &v1alpha1.LeadTime{
				Mode:     v1alpha1.LeadTimeAuto,
				Fallback: v1alpha1.Duration(model.Duration(o.lead).String()),
			},
		},
	}
	if r.metric != nil {
		target, scaler := *resource.NewMilliQuantity(r.metric.Spec.Metrics[0].Target, resource.DecimalSI), &r.outlines[0]
		f.Spec.Scaling = &v1alpha1.Scaling{
			Target: target, MinReplicas: &scaler.Min, MaxReplicas: &scaler.Max,
			Before: &v1alpha1.BeforeScaling{Target: target, MinReplicas: max(scaler.Min, 1)},
		}
	}
	return f
}

// render writes the Forecast with its reasons. What is wrong with it leaves it out.
func (o *initOptions) render(r *row) {
	document, err := forecastDocument(o.forecast(r), catalogue.Signals{Trust: o.trust})
	if err != nil {
		r.LeftOut = err.Error()
		return
	}
	estimate := fmt.Sprintf("forewarm capacity --prometheus URL --preset %s --target %s -n %s", r.Preset, r.Workload,
		r.Namespace)
	scaling := "scaling: " + r.Scaling + ". target is the same as before's, the least that a replica sustains; the estimate of " +
		estimate + " may be higher."
	if r.metric == nil {
		scaling = "No scaling: " + r.Scaling + ". For a verdict add scaling: {target: …}, what one replica sustains, which " +
			estimate + " estimates; before Forewarm, an HPA with 70% of it as its target is assumed."
	}
	document.From, document.Why = r.Workload, []string{
		"signal: the only server with series of these pods in the last day.",
		scaling,
		"leadTime: from \"more replicas\" to \"ready\", measured on the workload's own pods, the fallback until then.",
		"serve: the observed demand is served until this line is removed: when the verdict of some days is good.",
		"Then keep a second metric that does not need Forewarm. " + r.withoutForewarm() +
			" See docs/hpa.md#a-second-metric-that-does-not-need-forewarm.",
	}
	r.objectDocument = document
}

// withoutForewarm is what scales the workload up while Forewarm is down: a metric that its autoscaler has already and that does not
// come from Forewarm, with a higher target, or a higher minimum.
func (r *row) withoutForewarm() string {
	const target = "raised to just below what a replica sustains (60 for 64)."
	field := "minReplicas"
	if len(r.outlines) > 0 && strings.HasPrefix(r.outlines[0].Ref, autoscaler.KindScaledObject+"/") {
		field = "minReplicaCount"
	}
	minimum := "raise " + field + " to what a normal busy hour needs."
	switch {
	case r.metric == nil:
		return "None is known here: " + minimum
	case field == "minReplicaCount":
		return "Keep " + r.metric.String() + ", with its threshold " + target +
			" Let KEDA read Forewarm's value by a prometheus trigger, too, or " + minimum
	case r.metric.Spec.Metrics[0].Source == hpa.External && !strings.HasPrefix(r.metric.Type, "Pods"):
		return r.metric.String() + " comes from Forewarm once Forewarm serves External metrics: add a Pods metric of another adapter, or " +
			minimum
	}
	return "Keep " + r.metric.String() + ", with its target " + target
}
