package report

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/forewarm/forewarm/pkg/figures"
	"github.com/forewarm/forewarm/pkg/simulate/compare"
)

// document is a comparison for programs. Durations are in seconds; a number that there is none of is null.
type document struct {
	Assumptions assumptions `json:"assumptions"`
	Verdict     string      `json:"verdict"`
	Notes       []string    `json:"notes"`
	Partial     bool        `json:"partial"`
	Policies    []outcome   `json:"policies"`
	Shapes      []trial     `json:"shapes,omitempty"`
	Sharing     *sharing    `json:"sharing,omitempty"`
	Spot        *spot       `json:"spot,omitempty"`
	Warm        *warm       `json:"warm_pool,omitempty"`
}

type assumptions struct {
	Source          string    `json:"source"`
	Start           time.Time `json:"start"`
	Duration        number    `json:"duration_seconds"`
	Step            number    `json:"step_seconds"`
	WarmUp          number    `json:"warm_up_seconds"`
	Gaps            number    `json:"gaps"`
	Autoscaler      string    `json:"autoscaler"`
	Target          number    `json:"target"`
	Capacity        number    `json:"capacity"`
	CapacityAssumed bool      `json:"capacity_assumed"`
	MinReplicas     int32     `json:"min_replicas"`
	MaxReplicas     int32     `json:"max_replicas"`
	LeadTime        string    `json:"lead_time"`
	Objective       number    `json:"objective"`
	Wait            number    `json:"wait_seconds"`
	GPUs            number    `json:"gpus_per_replica"`
	GPUPrice        *number   `json:"gpu_price"`
}

type outcome struct {
	Name      string  `json:"name"`
	GPUHours  number  `json:"gpu_hours"`
	Dollars   *number `json:"dollars"`
	Late      number  `json:"late_fraction"`
	Unserved  number  `json:"unserved_fraction"`
	Cold      int     `json:"cold_starts"`
	Churn     number  `json:"churn"`
	Early     number  `json:"early_seconds"`
	LateBy    number  `json:"late_seconds"`
	Peak      int     `json:"peak_replicas"`
	Target    number  `json:"target"`
	Hindsight bool    `json:"hindsight"`
	Meets     bool    `json:"meets"`
	Cost      number  `json:"cost"`
	Frontier  []point `json:"frontier"`
}

type point struct {
	Setting number `json:"setting"`
	Late    number `json:"late"`
	Cost    number `json:"cost"`
}

// number is null where it is none: JSON has neither NaN nor infinity.
type number float64

// MarshalJSON implements json.Marshaler.
func (n number) MarshalJSON() ([]byte, error) {
	if !figures.Known(float64(n)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(n))
}

// JSON writes every number of a comparison by its name. Churn is replicas started or stopped in an hour, cost the
// replica-hours paid for over those of the demand; dollars are null without a price. It returns the error of the writer.
func JSON(w io.Writer, c *compare.Comparison) error {
	out := document{
		Assumptions: assumed(&c.Assumptions), Verdict: c.Verdict, Partial: c.Partial,
		Notes: append([]string{}, c.Notes...), Policies: make([]outcome, len(c.Policies)),
		Shapes: trials(c.Shapes), Sharing: shared(c.Sharing, c.Assumptions.GPUPrice), Spot: divided(c.Spot),
		Warm: warmed(c.Warm, &c.Assumptions),
	}
	for i := range c.Policies {
		out.Policies[i] = told(&c.Assumptions, &c.Policies[i])
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func assumed(a *compare.Assumptions) assumptions {
	out := assumptions{
		Source: a.Source, Start: a.Start.UTC(), Duration: seconds(a.Duration), Step: seconds(a.Step),
		WarmUp: seconds(a.WarmUp), Gaps: number(a.Gaps), Autoscaler: a.Autoscaler, Target: number(a.Target),
		Capacity: number(a.Capacity), CapacityAssumed: a.CapacityAssumed, MinReplicas: a.MinReplicas,
		MaxReplicas: a.MaxReplicas, LeadTime: a.LeadTime, Objective: number(a.Objective), Wait: seconds(a.Wait),
		GPUs: number(a.GPUs),
	}
	if a.GPUPrice > 0 {
		out.GPUPrice = new(number(a.GPUPrice))
	}
	return out
}

func told(a *compare.Assumptions, p *compare.Policy) outcome {
	out := outcome{
		Name: p.Name, GPUHours: number(gpuHours(a, p)), Late: number(p.Report.LateShare()),
		Unserved: number(p.Report.UnservedShare()), Cold: p.Report.ColdStarts, Churn: number(p.Report.ChurnPerHour()),
		Early: seconds(p.Early), LateBy: seconds(p.LateBy), Peak: p.Report.Peak, Target: number(p.Target),
		Hindsight: p.Hindsight, Meets: p.Meets, Cost: number(p.Report.Cost()), Frontier: make([]point, len(p.Frontier)),
	}
	if a.GPUPrice > 0 {
		out.Dollars = new(number(dollars(a, p)))
	}
	for i, at := range p.Frontier {
		out.Frontier[i] = point{number(at.Setting), number(at.Late), number(at.Cost)}
	}
	return out
}

func seconds(d time.Duration) number { return number(d.Seconds()) }
