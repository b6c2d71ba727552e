package capacity

import (
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
	"github.com/forewarm/forewarm/pkg/printable"
)

// writeText writes the estimate and the advice, then the evidence.
func (r *report) writeText(out io.Writer) error {
	fmt.Fprint(out, printable.Wrap("", r.estimate.Sentences(r.unit), "", cmdline.Page))
	if target := r.estimate.Target(); !math.IsNaN(target) {
		fmt.Fprintf(out, "\n%s", printable.Wrap(

			"", fmt.Sprintf("Set averageValue: %q in the HorizontalPodAutoscaler, or "+
				"target: %[1]q in KEDA's trigger and in the Forecast's scaling. This is the lower end of the interval, because a "+
				"target that is too high makes requests late. Add no headroom: the value that Forewarm serves contains it. "+
				"Nothing was changed.", quantity(target)), "", cmdline.Page,
		))
	}
	if len(r.estimate.Bands) > 0 {
		fmt.Fprintf(out, "\n%s", r.bandTable())
	}
	fmt.Fprintf(out, "\n%s", printable.Wrap("", r.demand.Describe()+".", "", cmdline.Page))
	for _, note := range slices.Sorted(slices.Values(r.notes)) {
		fmt.Fprintf(out, "- %s\n", note)
	}
	return nil
}

// bandTable is the evidence: how often the queue grew at which load.
func (r *report) bandTable() string {
	lines := [][]string{{"LOAD OF A REPLICA", "HOURS", "QUEUE GREW"}}
	bands := r.estimate.Bands
	for len(bands) > 1 && bands[0].Calm+bands[0].Growing == 0 { // A service that never rests has none of the low loads.
		bands = bands[1:]
	}
	for i := range bands {
		b := &bands[i]
		share := humanize.Unknown
		if !math.IsNaN(b.Share()) {
			share = fmt.Sprintf("%.1f%%", 100*b.Share())
		}
		lines = append(lines, []string{formatBand(b), fmt.Sprintf("%.2f", (b.Calm + b.Growing).Hours()), share})
	}
	return printable.Table(lines, 0, 3) //nolint:mnd // All are numbers.
}

// formatBand is a band's range of load.
func formatBand(b *capacity.Band) string {
	if math.IsInf(b.To, 1) {
		return humanize.Significant(b.From, 3) + " and more"
	}
	return humanize.Significant(b.From, 3) + " to " + humanize.Significant(b.To, 3)
}

// quantity is a target as Kubernetes writes it: rounded down to two digits, for an interval bears no more, in thousandths where it is no whole number.
func quantity(v float64) string {
	const digits, milli = 2, 1000
	power := math.Pow(10, math.Floor(math.Log10(v))-digits+1)
	// A thousandth of a step forgives what 4.5 may have become.
	v = math.Floor(v/power+0.001) * power
	most := math.Nextafter(math.MaxInt64, 0) // As a float MaxInt64 itself is one more.
	thousandths := min(max(math.Round(v*milli), 1), most)
	return resource.NewMilliQuantity(int64(thousandths), resource.DecimalSI).String()
}

// The JSON of an estimate. Loads are in the demand's unit; null is what cannot be told.
type (
	document struct {
		Verdict  capacity.Verdict `json:"verdict"`
		Message  string           `json:"message"`
		Target   *string          `json:"target"`
		Unit     string           `json:"unit,omitempty"`
		Value    *float64         `json:"value"`
		Low      *float64         `json:"low"`
		High     *float64         `json:"high"`
		Edge     *float64         `json:"edge"`
		Full     *float64         `json:"full"`
		Carried  *float64         `json:"carried"`
		Plateaus bool             `json:"plateaus"`
		Evidence evidence         `json:"evidence"`
		Bands    []band           `json:"bands"`
		Notes    []string         `json:"notes,omitempty"`
	}
	evidence struct {
		History      string         `json:"history"`
		Start        time.Time      `json:"start"`
		End          time.Time      `json:"end"`
		Step         model.Duration `json:"step"`
		KnownHours   float64        `json:"known_hours"`
		CalmHours    float64        `json:"calm_hours"`
		GrowingHours float64        `json:"growing_hours"`
		Episodes     int            `json:"episodes"`
	}
	band struct {
		From         float64  `json:"from"`
		To           *float64 `json:"to"`
		CalmHours    float64  `json:"calm_hours"`
		GrowingHours float64  `json:"growing_hours"`
	}
)

func (r *report) document() document {
	e := &r.estimate
	d := document{
		Verdict:  e.Verdict,
		Message:  e.Sentences(r.unit),
		Unit:     r.unit,
		Value:    cmdline.OrNull(e.Value),
		Low:      cmdline.OrNull(e.Low),
		High:     cmdline.OrNull(e.High),
		Edge:     cmdline.OrNull(e.Edge),
		Full:     cmdline.OrNull(e.Full),
		Carried:  cmdline.OrNull(e.Carried),
		Plateaus: e.Plateaus,
		Evidence: evidence{
			History: r.demand.Source, Start: r.demand.Start, End: r.demand.End(), Step: model.Duration(r.demand.Step),
			KnownHours: e.Evidence.Known.Hours(), CalmHours: e.Evidence.Calm.Hours(),
			GrowingHours: e.Evidence.Growing.Hours(), Episodes: e.Evidence.Episodes,
		},
		Bands: []band{},
		Notes: slices.Sorted(slices.Values(r.notes)),
	}
	if target := e.Target(); !math.IsNaN(target) {
		text := quantity(target)
		d.Target = &text
	}
	for _, b := range e.Bands {
		d.Bands = append(d.Bands, band{
			From: b.From, To: cmdline.OrNull(b.To), CalmHours: b.Calm.Hours(), GrowingHours: b.Growing.Hours(),
		})
	}
	return d
}
