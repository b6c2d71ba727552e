package cli

import (
	"math"
	"slices"
	"time"

	"github.com/prometheus/common/model"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/cmdline"
	"github.com/forewarm/forewarm/pkg/offline/capacity"
)

// The JSON of an estimate. Loads are in the demand's unit; null is what cannot be told.
type (
	capacityDocument struct {
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

func (r *capacityReport) document() capacityDocument {
	e := &r.estimate
	d := capacityDocument{
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
