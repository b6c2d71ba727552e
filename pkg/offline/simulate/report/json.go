package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// object is a JSON object with its members in order. Durations are in seconds; a number that there is none of is null, for
// JSON has neither NaN nor infinity.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	for i, m := range o {
		out.WriteString([]string{"{", ","}[min(i, 1)] + strconv.Quote(m.name) + ":")
		if d, ok := m.value.(time.Duration); ok {
			m.value = d.Seconds()
		}
		if v, ok := m.value.(float64); ok && !humanize.Known(v) {
			m.value = nil
		}
		if err := encoder.Encode(m.value); err != nil {
			return nil, err
		}
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

// each is an object for each of a slice.
func each[T any](all []T, tell func(*T) object) []object {
	out := make([]object, len(all))
	for i := range all {
		out[i] = tell(&all[i])
	}
	return out
}

// where is a number that is told where it is more than 0, and otherwise null.
func where(given, number float64) any {
	if given > 0 {
		return number
	}
	return nil
}

// JSON writes every number of a comparison by its name. Churn is replicas started or stopped in an hour, cost the
// replica-hours paid for over those of the demand; dollars are null without a price. The answers beside the comparison are
// left out where they were not asked for. It returns the error of the writer.
func JSON(w io.Writer, c *compare.Comparison) error {
	a := &c.Assumptions
	out := object{
		{"assumptions", assumed(a)},
		{"verdict", c.Verdict},
		{"notes", append([]string{}, c.Notes...)},
		{"partial", c.Partial},
		{"policies", each(c.Policies, func(p *compare.Policy) object { return told(a, p) })},
	}
	if len(c.Shapes) > 0 {
		out = append(out, member{"shapes", each(c.Shapes, shape)})
	}
	if c.Sharing != nil {
		out = append(out, member{"sharing", shared(c.Sharing, a.GPUPrice)})
	}
	if c.Spot != nil {
		out = append(out, member{"spot", divided(c.Spot)})
	}
	if c.Warm != nil {
		out = append(out, member{"warm_pool", warmed(c.Warm, a)})
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

func assumed(a *compare.Assumptions) object {
	return object{
		{"source", a.Source},
		{"start", a.Start.UTC()},
		{"duration_seconds", a.Duration},
		{"step_seconds", a.Step},
		{"warm_up_seconds", a.WarmUp},
		{"gaps", a.Gaps},
		{"autoscaler", a.Autoscaler},
		{"target", a.Target},
		{"capacity", a.Capacity},
		{"capacity_assumed", a.CapacityAssumed},
		{"min_replicas", a.MinReplicas},
		{"max_replicas", a.MaxReplicas},
		{"lead_time", a.LeadTime},
		{"objective", a.Objective},
		{"wait_seconds", a.Wait},
		{"gpus_per_replica", a.GPUs},
		{"gpu_price", where(a.GPUPrice, a.GPUPrice)},
	}
}

func told(a *compare.Assumptions, p *compare.Policy) object {
	return object{
		{"name", p.Name},
		{"gpu_hours", gpuHours(a, p)},
		{"dollars", where(a.GPUPrice, dollars(a, p))},
		{"late_fraction", p.Report.LateShare()},
		{"unserved_fraction", p.Report.UnservedShare()},
		{"cold_starts", p.Report.ColdStarts},
		{"churn", p.Report.ChurnPerHour()},
		{"early_seconds", p.Early},
		{"late_seconds", p.LateBy},
		{"peak_replicas", p.Report.Peak},
		{"target", p.Target},
		{"hindsight", p.Hindsight},
		{"meets", p.Meets},
		{"cost", p.Report.Cost()},
		{"frontier", each(p.Frontier, func(at *compare.Point) object {
			return object{{"setting", at.Setting}, {"late", at.Late}, {"cost", at.Cost}}
		})},
	}
}

func shape(t *fleet.Trial) object {
	return object{
		{"shape", t.Name},
		{"policy", t.Policy},
		{"gpu_price", t.Price},
		{"capacity", t.Capacity},
		{"gpus_per_replica", t.GPUs},
		{"gpu_hours", t.GPUHours()},
		{"dollars", t.Dollars()},
		{"late_fraction", t.Late},
		{"meets", t.Meets},
	}
}

func shared(p *fleet.Packing, price float64) object {
	wasted, _ := p.Wasted().Float64()
	part := func(one *fleet.Part) object {
		return object{{"load", one.Load}, {"slice", one.Slice}, {"count", one.Count}}
	}
	return object{
		{"by", p.Sharing},
		{"gpus", p.GPUs},
		{"gpus_unsliced", p.Unsliced},
		{"gpus_at_least", p.Least},
		{"gpus_wasted", wasted},
		{"saved_fraction", p.Saved()},
		{"dollars_per_hour", where(price, price*float64(p.GPUs))},
		{"dollars_per_hour_unsliced", where(price, price*float64(p.Unsliced))},
		{"plan", each(p.Plan, func(h *fleet.Holding) object {
			free, _ := h.Free.Float64()
			return object{{"gpus", h.GPUs}, {"free", free}, {"parts", each(h.Parts, part)}}
		})},
		{"note", p.Sharing.Note()},
	}
}

func divided(s *fleet.Split) object {
	return object{
		{"gpu_price", s.Price},
		{"interruptions_per_replica_hour", s.Interruptions},
		{"lead_time_seconds", s.Lead},
		{"replicas_on_demand", s.Base},
		{"gpu_hours_on_demand", s.OnDemand},
		{"gpu_hours_on_spot", s.Spot},
		{"restarts", s.Restarts},
		{"restarting_fraction", s.Missing},
		{"dollars", s.Dollars},
		{"dollars_all_on_demand", s.AllOnDemand},
		{"saved_fraction", s.Saved()},
	}
}

func warmed(w *compare.Warm, a *compare.Assumptions) object {
	p := &w.Pool
	return object{
		{"pool", p.Name},
		{"member", p.Member},
		{"members_played", w.Members},
		{"quantile", p.Asked.Quantile},
		{"min", p.Asked.Min},
		{"max", p.Asked.Max},
		{"fallback", p.Asked.Fallback},
		{"idle_gpu_hours_per_day", where(p.Asked.Budget, p.Asked.Budget)},
		{"chunks_per_replica", p.Chunks},
		{"gpus_per_chunk", p.Asked.GPUs},
		{"verdict", w.Verdict},
		{"notes", append([]string{}, w.Notes...)},
		{"trials", each(w.Trials, func(t *compare.Trial) object { return held(t, a) })},
	}
}

func held(t *compare.Trial, a *compare.Assumptions) object {
	hours := t.Report.Replicas * a.GPUs
	budget := 0.0
	if t.Holding == compare.Planned {
		budget = t.Budget
	}
	return object{
		{"policy", t.Policy},
		{"target", t.Target},
		{"holding", t.Holding},
		{"budget", where(budget, budget)},
		{"as_written", t.Own},
		{"spare_chunks", t.Spare},
		{"hindsight", t.Hindsight},
		{"meets", t.Meets},
		{"gpu_hours", hours},
		{"dollars", where(a.GPUPrice, hours*a.GPUPrice)},
		{"idle_gpu_hours", t.Report.Idle * a.GPUs},
		{"idle_gpu_hours_a_day", t.IdlePerDay() * a.GPUs},
		{"late_fraction", t.Report.LateShare()},
		{"starts", t.Report.Started},
		{"starts_that_waited", t.Report.Queued},
		{"mean_wait_seconds", t.Report.MeanWait()},
		{"covered_fraction", t.Pool.Share(t.Pool.Covered)},
		{"fallback_fraction", t.Pool.Share(t.Pool.FellBack)},
		{"over_budget_fraction", t.Pool.Share(t.Pool.OverBudget)},
	}
}
