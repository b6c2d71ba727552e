package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/verdict"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// jsonObject is a JSON object with its members in order. Durations are in seconds; a number that there is none of is null, for
// JSON has neither NaN nor infinity.
type jsonObject []jsonMember

type jsonMember struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o jsonObject) MarshalJSON() ([]byte, error) {
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

// objectsOf is an object for each of a slice.
func objectsOf[T any](all []T, tell func(*T) jsonObject) []jsonObject {
	out := make([]jsonObject, len(all))
	for i := range all {
		out[i] = tell(&all[i])
	}
	return out
}

// nullUnless returns the number if given is above 0, otherwise null.
func nullUnless(given, number float64) any {
	if given > 0 {
		return number
	}
	return nil
}

// JSON writes every number of a comparison by its name. Dollars are null without a price. Sections that were not
// requested are left out. It returns the error of the writer.
func JSON(w io.Writer, c *compare.Comparison) error {
	a := objects{&c.Assumptions}
	out := jsonObject{
		{"assumptions", a.assumptions()},
		{"comparison", comparisonObject(c.Judged)},
		{"verdict", c.Verdict},
		{"too_short", c.TooShort},
		{"notes", append([]string{}, c.Notes...)},
		{"partial", c.Partial},
		{"policies", objectsOf(c.Policies, a.policy)},
	}
	if len(c.WhatIfs) > 0 {
		out = append(out, jsonMember{"what_if", objectsOf(c.WhatIfs, a.whatIf)})
	}
	if c.Wakes != nil {
		out = append(out, jsonMember{"wakes", a.wakes(c.Wakes)})
	}
	if c.Variants != nil {
		out = append(out, jsonMember{"variants", a.variants(c.Variants)})
	}
	if len(c.Shapes) > 0 {
		out = append(out, jsonMember{"shapes", objectsOf(c.Shapes, a.shape)})
	}
	if c.WarmPool != nil {
		out = append(out, jsonMember{"warm_pool", a.pool(c.WarmPool)})
	}
	if c.Forecasts != nil {
		out = append(out, jsonMember{"forecasts", forecastsObject(c.Forecasts)})
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, out jsonObject) error {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(out); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	return nil
}

// comparisonObject is forewarm against hpa at equal reliability; nil where one of them was not played.
func comparisonObject(v *verdict.Verdict) any {
	if v == nil {
		return nil
	}
	return jsonObject{
		{"verdict", v.Word},
		{"saved_fraction", v.Saved},
		{"saved_low", v.Low},
		{"saved_high", v.High},
		{"equally_reliable", v.Equal},
		{"objective", v.Forewarm.Setting},
		{"target", v.HPA.Setting},
		{"gpu_hours", v.Forewarm.Total()},
		{"hpa_gpu_hours", v.HPA.Total()},
	}
}

// objects are those of a comparison under its assumptions.
type objects struct{ *compare.Assumptions }

func (a objects) assumptions() jsonObject {
	return jsonObject{
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
		{"objective_limits", a.limited()},
		{"wait_seconds", a.Wait},
		{"deferrable", a.Deferrable},
		{"deadline_seconds", a.Deadline},
		{"gpus_per_replica", a.GPUs},
		{"gpu_price", nullUnless(a.GPUPrice, a.GPUPrice)},
	}
}

// limited is the name of the share that the objective limits.
func (a objects) limited() string {
	if a.BadHours {
		return "bad_hours_fraction"
	}
	return "late_fraction"
}

func (a objects) policy(p *compare.PolicyResult) jsonObject {
	return jsonObject{
		{"name", p.Name},
		{"gpu_hours", gpuHours(a.Assumptions, p)},
		{"dollars", nullUnless(a.GPUPrice, dollars(a.Assumptions, p))},
		{"late_fraction", p.Report.LateShare()},
		{"bad_hours_fraction", p.Report.BadHours.Share()},
		{"judged_hours", p.Report.BadHours.Hours},
		{"bad_hours", badHourObjects(&p.Report.BadHours)},
		{"dropped_fraction", p.Report.DroppedShare()},
		{"missed_fraction", p.Report.MissedShare()},
		{"cold_starts", p.Report.ColdStarts},
		{"churn_per_hour", p.Report.ChurnPerHour()},
		{"early_seconds", p.MeanEarly},
		{"late_seconds", p.MeanLate},
		{"peak_replicas", p.Report.Peak},
		{"target", p.Target},
		{"hindsight", p.Hindsight},
		{"meets_objective", p.MeetsObjective},
		{"relative_cost", p.Report.RelativeCost()},
		{"frontier", objectsOf(p.Frontier, func(at *compare.Point) jsonObject {
			return jsonObject{{"setting", at.Setting}, {a.limited(), at.Late}, {"relative_cost", at.RelativeCost}}
		})},
	}
}

// badHourObjects are the bad hours, oldest first.
func badHourObjects(b *sim.BadHours) []jsonObject {
	return objectsOf(b.List, func(h *sim.BadHour) jsonObject {
		return jsonObject{
			{"start", h.Start}, {"late_fraction", h.Late / h.Arrived}, {"demand_fraction", h.Arrived / b.Arrived},
		}
	})
}

func (a objects) whatIf(one *compare.WhatIf) jsonObject {
	return jsonObject{
		{"change", one.Change},
		{"lead_time_seconds", one.LeadTime},
		{"wait_seconds", one.Wait},
		{"gpu_hours", one.GPUHours()},
		{"dollars", nullUnless(one.GPUPrice, one.Dollars())},
		{a.limited(), one.Limited},
		{"meets_objective", one.MeetsObjective},
	}
}

func (a objects) shape(one *compare.WhatIf) jsonObject {
	return jsonObject{
		{"shape", one.Change},
		{"policy", compare.Forewarm},
		{"gpu_price", nullUnless(one.GPUPrice, one.GPUPrice)},
		{"capacity", one.Capacity},
		{"gpus_per_replica", one.GPUs},
		{"gpu_hours", one.GPUHours()},
		{"dollars", nullUnless(one.GPUPrice, one.Dollars())},
		{a.limited(), one.Limited},
		{"meets_objective", one.MeetsObjective},
	}
}

func (a objects) wakes(w *compare.WakesResult) []jsonObject {
	return objectsOf(append([]compare.WakeResult{w.Starts}, w.Wakes...), func(r *compare.WakeResult) jsonObject {
		return jsonObject{
			{"policy", r.Policy},
			{"gpu_hours_awake", r.Awake * a.GPUs},
			{"gpu_hours_asleep", r.Asleep * a.GPUs},
			{a.limited(), r.Limited},
			{"meets_objective", r.MeetsObjective},
			{"pays_below", w.BreakEven(r)},
		}
	})
}

func (a objects) variants(v *compare.VariantsResult) []jsonObject {
	return objectsOf(v.Results, func(one *compare.VariantResult) jsonObject {
		var hours jsonObject
		for i, name := range v.Names {
			hours = append(hours, jsonMember{name, one.ReplicaHours[i]})
		}
		return jsonObject{
			{"demand_on", variantsOf(v, one)},
			{"dollars", one.Dollars},
			{"replica_hours", hours},
			{"churn_per_hour", one.ChurnPerHour},
			{a.limited(), one.Limited},
			{"meets_objective", one.MeetsObjective},
		}
	})
}

func (a objects) pool(w *compare.PoolResult) jsonObject {
	p := &w.Pool
	return jsonObject{
		{"pool", p.Name},
		{"member", p.Member},
		{"members_played", w.Members},
		{"quantile", p.Spec.Quantile},
		{"min", p.Spec.Min},
		{"max", p.Spec.Max},
		{"fallback", p.Spec.Fallback},
		{"idle_gpu_hours_per_day", nullUnless(p.Spec.Budget, p.Spec.Budget)},
		{"chunks_per_replica", p.Chunks},
		{"gpus_per_chunk", p.Spec.GPUs},
		{"verdict", w.Verdict},
		{"notes", append([]string{}, w.Notes...)},
		{"trials", objectsOf(w.Trials, a.trial)},
	}
}

func (a objects) trial(t *compare.Trial) jsonObject {
	hours := t.Report.ReplicaHours * a.GPUs
	budget := 0.0
	if t.Holding == compare.HoldPlanned {
		budget = t.Budget
	}
	return jsonObject{
		{"policy", t.Policy},
		{"target", t.Target},
		{"holding", t.Holding},
		{"budget", nullUnless(budget, budget)},
		{"as_written", t.OwnBudget},
		{"spare_chunks", t.FixedChunks},
		{"hindsight", t.Hindsight},
		{"meets_objective", t.MeetsObjective},
		{"gpu_hours", hours},
		{"dollars", nullUnless(a.GPUPrice, hours*a.GPUPrice)},
		{"idle_gpu_hours", t.Report.IdleReplicaHours * a.GPUs},
		{"idle_gpu_hours_per_day", t.IdlePerDay() * a.GPUs},
		{"late_fraction", t.Report.LateShare()},
		{"bad_hours_fraction", t.Report.BadHours.Share()},
		{"starts", t.Report.Started},
		{"starts_that_waited", t.Report.WaitedForNode},
		{"mean_wait_seconds", t.Report.MeanNodeWait()},
		{"covered_fraction", t.Pool.Share(t.Pool.Covered)},
		{"fallback_fraction", t.Pool.Share(t.Pool.FellBack)},
		{"over_budget_fraction", t.Pool.Share(t.Pool.OverBudget)},
	}
}
