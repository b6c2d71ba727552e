package report

import (
	"github.com/forewarm/forewarm/pkg/simulate/compare"
)

// warm is what a warm pool comes to; it is left out where none was given.
type warm struct {
	Pool     string   `json:"pool"`
	Member   string   `json:"member"`
	Played   int      `json:"members_played"`
	Quantile number   `json:"quantile"`
	Min      int      `json:"min"`
	Max      int      `json:"max"`
	Fallback int      `json:"fallback"`
	Budget   *number  `json:"idle_gpu_hours_per_day"`
	Chunks   number   `json:"chunks_per_replica"`
	GPUs     number   `json:"gpus_per_chunk"`
	Verdict  string   `json:"verdict"`
	Notes    []string `json:"notes"`
	Trials   []held   `json:"trials"`
}

type held struct {
	Policy     string  `json:"policy"`
	Target     number  `json:"target"`
	Holding    string  `json:"holding"`
	Budget     *number `json:"budget"`
	AsWritten  bool    `json:"as_written"`
	Spare      int     `json:"spare_chunks"`
	Hindsight  bool    `json:"hindsight"`
	Meets      bool    `json:"meets"`
	GPUHours   number  `json:"gpu_hours"`
	Dollars    *number `json:"dollars"`
	Idle       number  `json:"idle_gpu_hours"`
	IdleDay    number  `json:"idle_gpu_hours_a_day"`
	Late       number  `json:"late_fraction"`
	Started    int     `json:"starts"`
	Queued     int     `json:"starts_that_waited"`
	Wait       number  `json:"mean_wait_seconds"`
	Covered    number  `json:"covered_fraction"`
	FellBack   number  `json:"fallback_fraction"`
	OverBudget number  `json:"over_budget_fraction"`
}

func warmed(w *compare.Warm, a *compare.Assumptions) *warm {
	if w == nil {
		return nil
	}
	p := &w.Pool
	out := &warm{
		Pool:     p.Name,
		Member:   p.Member,
		Played:   w.Members,
		Quantile: number(p.Asked.Quantile),
		Min:      p.Asked.Min,
		Max:      p.Asked.Max,
		Fallback: p.Asked.Fallback,
		Budget:   bounded(p.Asked.Budget),
		Chunks:   number(p.Chunks),
		GPUs:     number(p.Asked.GPUs),
		Verdict:  w.Verdict,
		Notes:    append([]string{}, w.Notes...),
		Trials:   make([]held, len(w.Trials)),
	}
	for i := range w.Trials {
		out.Trials[i] = toldTrial(&w.Trials[i], a)
	}
	return out
}

func toldTrial(t *compare.Trial, a *compare.Assumptions) held {
	hours := t.Report.Replicas * a.GPUs
	out := held{
		Policy: t.Policy, Target: number(t.Target), Holding: string(t.Holding), AsWritten: t.Own, Spare: t.Spare,
		Hindsight: t.Hindsight, Meets: t.Meets, GPUHours: number(hours), Idle: number(t.Report.Idle * a.GPUs),
		IdleDay: number(t.IdlePerDay() * a.GPUs), Late: number(t.Report.LateShare()), Started: t.Report.Started,
		Queued: t.Report.Queued, Wait: seconds(t.Report.MeanWait()), Covered: number(t.Pool.Share(t.Pool.Covered)),
		FellBack: number(t.Pool.Share(t.Pool.FellBack)), OverBudget: number(t.Pool.Share(t.Pool.OverBudget)),
	}
	if t.Holding == compare.Planned {
		out.Budget = bounded(t.Budget)
	}
	if a.GPUPrice > 0 {
		out.Dollars = new(number(hours * a.GPUPrice))
	}
	return out
}

// bounded is a budget, null where there is none.
func bounded(budget float64) *number {
	if budget == 0 {
		return nil
	}
	return new(number(budget))
}
