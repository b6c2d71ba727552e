package capacity

import (
	"fmt"
	"math"
	"slices"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/report"
)

// text returns the estimate and the advice, followed by the evidence.
func (r *result) text() string {
	var advice string
	if target := r.estimate.Target(); !math.IsNaN(target) {
		advice = fmt.Sprintf("Set averageValue: %q in the HorizontalPodAutoscaler, or "+
			"target: %[1]q in KEDA's trigger and in the Forecast's scaling. This is the lower end of the interval, because a "+
			"target that is too high makes requests late. Add no headroom: the value that Forewarm serves contains it. "+
			"Nothing was changed.", quantity(target))
	}
	bands := r.estimate.Bands
	for len(bands) > 1 && bands[0].Calm+bands[0].Growing == 0 { // A service that never rests has no low loads.
		bands = bands[1:]
	}
	evidence := report.Section{Sentences: []string{r.demand.Describe() + "."}}
	for _, note := range slices.Sorted(slices.Values(r.notes)) {
		evidence.Notes = append(evidence.Notes, "- "+note)
	}
	return report.Text([]report.Section{
		{Sentences: []string{r.estimate.Sentences(r.unit)}},
		{Sentences: []string{advice}},
		{Table: report.Records(bands, band)},
		evidence,
	}, cmdline.Page)
}

// band adds the evidence of a band: how often the queue grew at these loads.
func band(r *report.Record, b *capacity.Band) {
	r.Add("from", "LOAD OF A REPLICA", b.From, formatBand(b))
	r.Data("to", b.To)
	r.Text("", "HOURS", fmt.Sprintf("%.2f", (b.Calm+b.Growing).Hours()))
	r.Data("calmHours", b.Calm.Hours())
	r.Data("growingHours", b.Growing.Hours())
	r.Text("", "QUEUE GREW", humanize.Percent(b.Share()))
}

// formatBand formats a band's range of loads.
func formatBand(b *capacity.Band) string {
	if math.IsInf(b.To, 1) {
		return humanize.Significant(b.From, 3) + " and more"
	}
	return humanize.Significant(b.From, 3) + " to " + humanize.Significant(b.To, 3)
}

// quantity formats a target like Kubernetes does. It is rounded down to two digits, because an interval does not justify more, and is in
// thousandths if it is not an integer.
func quantity(v float64) string {
	const digits, milli = 2, 1000
	power := math.Pow(10, math.Floor(math.Log10(v))-digits+1)
	// The small addition compensates for a rounding error, for example if 4.5 has become slightly less.
	v = math.Floor(v/power+0.001) * power
	most := math.Nextafter(math.MaxInt64, 0) // As a float, MaxInt64 itself would be rounded up.
	thousandths := min(max(math.Round(v*milli), 1), most)
	return resource.NewMilliQuantity(int64(thousandths), resource.DecimalSI).String()
}

// record returns the estimate for scripts. Loads are in the demand's unit, and unknown values are null.
func (r *result) record() *report.Record {
	var d, evidence report.Record
	e := &r.estimate
	var target any
	if v := e.Target(); !math.IsNaN(v) {
		target = quantity(v)
	}
	d.Data("verdict", e.Verdict)
	d.Data("message", e.Sentences(r.unit))
	d.Data("target", target)
	if r.unit != "" {
		d.Data("unit", r.unit)
	}
	d.Data("value", e.Value)
	d.Data("low", e.Low)
	d.Data("high", e.High)
	d.Data("edge", e.Edge)
	d.Data("full", e.Full)
	d.Data("carried", e.Carried)
	d.Data("plateaus", e.Plateaus)
	d.Data("evidence", &evidence)
	evidence.Data("history", r.demand.Source)
	evidence.Data("start", r.demand.Start)
	evidence.Data("end", r.demand.End())
	evidence.Data("step", model.Duration(r.demand.Step))
	evidence.Data("knownHours", e.Evidence.Known.Hours())
	evidence.Data("calmHours", e.Evidence.Calm.Hours())
	evidence.Data("growingHours", e.Evidence.Growing.Hours())
	evidence.Data("episodes", e.Evidence.Episodes)
	d.Data("bands", report.Records(e.Bands, band))
	if len(r.notes) > 0 {
		d.Data("notes", slices.Sorted(slices.Values(r.notes)))
	}
	return &d
}
