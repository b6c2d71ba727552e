package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// record has the lines of a run, as --json prints them.
type record []line

// readRecord reads the lines that a run printed, and skips its tables.
func readRecord(path string) (record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out record
	for row := range strings.Lines(string(text)) {
		if !strings.HasPrefix(row, "{") {
			continue
		}
		var l line
		if err := json.Unmarshal([]byte(row), &l); err != nil {
			return nil, fmt.Errorf("%s: line %d that begins with {: %w", path, len(out)+1, err)
		}
		out = append(out, l)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: no line of JSON: name the output of a run with --json", path)
	}
	return out, nil
}

// byBadHours returns the record with the share of the demand in bad hours instead of the late share.
func (r record) byBadHours() record {
	out := slices.Clone(r)
	for i := range out {
		out[i].Late = out[i].BadHours
	}
	return out
}

func (r record) where(is func(line) bool) record {
	return slices.DeleteFunc(slices.Clone(r), func(l line) bool { return !is(l) })
}

// distinct returns the distinct values of the lines, in their order.
func (r record) distinct(of func(line) string) []string {
	var out []string
	for _, l := range r {
		if !slices.Contains(out, of(l)) {
			out = append(out, of(l))
		}
	}
	return out
}

// judged is the result of Forewarm on a trace under an objective.
type judged struct {
	trace     string
	objective float64
	// ratio is the lateness divided by the objective.
	ratio float64
	// regret is the cost divided by the cost of the best constant headroom, and overHPA is the cost divided by the cost of the HPA with its
	// best target. They are NaN if the run is later than the objective allows, or if no headroom or target meets the objective.
	regret, overHPA float64
}

// runs returns the judged runs of one lead time.
func (r record) runs() []judged {
	var out []judged
	for _, trace := range r.distinct(func(l line) string { return l.Trace }) {
		own := r.where(func(l line) bool { return l.Trace == trace && !l.FirstDay })
		hpa := own.points(func(l line) bool { return l.Policy == compare.BestTarget })
		for _, objective := range judgedObjectives() {
			asked := own.where(func(l line) bool { return l.Policy == compare.Forewarm && l.Setting == objective })
			served := slices.IndexFunc(asked, func(l line) bool { return l.Headroom == nil })
			if served < 0 {
				continue
			}
			got := asked[served]
			one := judged{
				trace: trace, objective: objective, ratio: got.Late / objective, regret: math.NaN(),
				overHPA: got.Cost / costAt(hpa, max(objective, got.Late)),
			}
			if got.Late <= objective {
				one.regret = got.Cost / costAt(asked.points(func(l line) bool { return l.Headroom != nil }), objective)
			}
			out = append(out, one)
		}
	}
	return out
}

func (r record) points(is func(line) bool) []point {
	var out []point
	for _, l := range r.where(is) {
		out = append(out, point{l.Late, l.Cost})
	}
	return out
}

// oneSetting returns the settings of a policy, each used for all traces: the mean lateness, and the geometric mean of the cost. Families
// have equal weights. The order is that of the simulation.
func (r record) oneSetting(policy string, firstDay bool) map[float64]point {
	bySetting := map[float64]record{}
	for _, l := range r {
		if l.Policy == policy && l.Headroom == nil && l.FirstDay == firstDay && l.Cost > 0 {
			bySetting[l.Setting] = append(bySetting[l.Setting], l)
		}
	}
	out := map[float64]point{}
	for setting, lines := range bySetting {
		var families []string
		for _, l := range lines {
			families = append(families, l.Family)
		}
		var p point
		for i, w := range familyWeights(families) {
			p.late += w * lines[i].Late
			p.cost += w * math.Log(lines[i].Cost)
		}
		out[setting] = point{p.late, math.Exp(p.cost)}
	}
	return out
}

// figures has the figures of a lead time.
type figures struct {
	runs                     int
	regret                   spread
	under, over              int
	worst                    float64
	cheaper, rivals          int
	worstCost, medianOverHPA float64
	asked1, firstDay, mean1  point
	// missed is the share of the deferrable work that missed its deadline at an objective of 1 %, on the worst trace.
	missed float64
}

// spread has the median, the 0.9 quantile and the worst value.
type spread struct{ median, p90, worst float64 }

// missed returns the share of missed deadlines at an objective of 1 %, on the worst trace.
func (r record) missed() (worst float64) {
	for _, l := range r {
		if l.Policy == compare.Forewarm && l.Setting == 0.01 && l.Headroom == nil && !l.FirstDay {
			worst = max(worst, l.Missed)
		}
	}
	return worst
}

// figures returns the figures of one lead time.
func (r record) figures() figures {
	all := r.runs()
	f := figures{runs: len(all)}
	var regret, overHPA []float64
	for _, one := range all {
		f.worst = max(f.worst, one.ratio)
		if one.ratio < minOfAsked {
			f.under++
		}
		if one.ratio > maxOfAsked {
			f.over++
		}
		if !math.IsNaN(one.regret) {
			regret = append(regret, one.regret)
		}
		if !math.IsNaN(one.overHPA) {
			overHPA = append(overHPA, one.overHPA)
			if one.overHPA <= 1 {
				f.cheaper++
			}
		}
	}
	f.missed = r.missed()
	hpa := spreadOf(overHPA)
	f.regret, f.rivals, f.worstCost, f.medianOverHPA = spreadOf(regret), len(overHPA), hpa.worst, hpa.median
	settings := r.oneSetting(compare.Forewarm, false)
	var points []point
	for _, p := range settings {
		points = append(points, p)
	}
	f.asked1, f.mean1 = settings[0.01], point{0.01, costAt(points, 0.01)}
	f.firstDay = r.oneSetting(compare.Forewarm, true)[0.01]
	return f
}

// A run counts as below or above the objective if its lateness is less than minOfAsked or more than maxOfAsked times the objective.
const minOfAsked, maxOfAsked = 1.0 / 3, 1.3

func spreadOf(v []float64) spread {
	if len(v) == 0 {
		return spread{math.NaN(), math.NaN(), math.NaN()}
	}
	slices.Sort(v)
	at := func(q float64) float64 { return v[int(math.Ceil(q*float64(len(v))))-1] }
	return spread{at(0.5), at(0.9), v[len(v)-1]}
}
