package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
	"github.com/forewarm/forewarm/pkg/offline/simulate/report"
)

func object(t *testing.T, c *compare.Comparison) map[string]any {
	t.Helper()
	var out bytes.Buffer
	if err := report.JSON(&out, c); err != nil {
		t.Fatal(err)
	}
	var read map[string]any
	if err := json.Unmarshal(out.Bytes(), &read); err != nil {
		t.Fatalf("%v in\n%s", err, out.Bytes())
	}
	return read
}

func TestJSON(t *testing.T) {
	c := comparison(t)
	var out bytes.Buffer
	if err := report.JSON(&out, c); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Assumptions struct {
			Duration float64 `json:"duration_seconds"`
			Wait     float64 `json:"wait_seconds"`
			Price    float64 `json:"gpu_price"`
			Start    time.Time
		}
		Verdict  string
		Notes    []string
		Partial  bool
		Policies []struct {
			Name      string
			GPUHours  float64 `json:"gpu_hours"`
			Dollars   float64
			Late      float64 `json:"late_fraction"`
			Dropped   float64 `json:"dropped_fraction"`
			Cold      int     `json:"cold_starts"`
			Churn     float64 `json:"churn_per_hour"`
			Early     float64 `json:"early_seconds"`
			LateBy    float64 `json:"late_seconds"`
			Target    float64
			Hindsight bool
			Meets     bool    `json:"meets_objective"`
			Cost      float64 `json:"relative_cost"`
			Frontier  []struct {
				Setting float64
				Late    float64 `json:"late_fraction"`
				Cost    float64 `json:"relative_cost"`
			}
		}
	}
	decoder := json.NewDecoder(&out)
	if err := decoder.Decode(&read); err != nil {
		t.Fatal(err)
	}
	if a := read.Assumptions; a.Duration != 345600 || a.Wait != 30 || a.Price != 3.06 ||
		!a.Start.Equal(c.Assumptions.Start) {
		t.Errorf("the assumptions are %+v", a)
	}
	if read.Verdict != c.Verdict || !slices.Equal(read.Notes, c.Notes) || len(read.Policies) != len(c.Policies) {
		t.Fatalf("read %+v", read)
	}
	for i, got := range read.Policies {
		want := &c.Policies[i]
		r := &want.Report
		if got.Name != want.Name || got.GPUHours != 2*r.ReplicaHours || got.Dollars != 2*r.ReplicaHours*3.06 ||
			got.Late != r.LateShare() || got.Dropped != r.DroppedShare() || got.Cold != r.ColdStarts ||
			got.Churn != r.ChurnPerHour() || got.Cost != r.RelativeCost() || got.Target != want.Target ||
			got.Hindsight != want.Hindsight || got.Meets != want.MeetsObjective || got.Early != want.MeanEarly.Seconds() ||
			got.LateBy != want.MeanLate.Seconds() || len(got.Frontier) != len(want.Frontier) {
			t.Errorf("%s: read %+v", want.Name, got)
			continue
		}
		for j, at := range want.Frontier {
			if got := (compare.Point{
				Setting: got.Frontier[j].Setting, Late: got.Frontier[j].Late, RelativeCost: got.Frontier[j].Cost,
			}); got != at {
				t.Errorf("%s: point %d is %+v, want %+v", want.Name, j, got, at)
			}
		}
	}
}

// JSON has no NaN: what there is no number of is null, and what there is none of is an empty list.
func TestJSONOfNoNumbers(t *testing.T) {
	c := &compare.Comparison{Policies: []compare.PolicyResult{{
		Name:     compare.HPA,
		Target:   math.Inf(1),
		Frontier: []compare.Point{{Setting: math.NaN(), RelativeCost: math.NaN()}},
	}}}
	policies := list(t, object(t, c), "policies")
	hpa, ok := policies[0].(map[string]any)
	if !ok {
		t.Fatalf("a policy is %v", policies[0])
	}
	for _, name := range []string{"relative_cost", "target", "dollars"} {
		if v, there := hpa[name]; !there || v != nil {
			t.Errorf("%s is %v, want null", name, v)
		}
	}
	if frontier := list(t, hpa, "frontier"); len(frontier) != 1 {
		t.Errorf("the frontier is %v", frontier)
	}
	empty := object(t, &compare.Comparison{})
	for _, name := range []string{"policies", "notes"} {
		if of := list(t, empty, name); len(of) != 0 {
			t.Errorf("%s is %v, want an empty list", name, of)
		}
	}
}

func list(t *testing.T, of map[string]any, name string) []any {
	t.Helper()
	out, ok := of[name].([]any)
	if !ok {
		t.Fatalf("%s is %v, want a list", name, of[name])
	}
	return out
}
