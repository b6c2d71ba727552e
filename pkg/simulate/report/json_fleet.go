package report

import (
	"github.com/forewarm/forewarm/pkg/fleet"
)

// trial, sharing and spot are the answers beside the comparison; they are left out where they were not asked for.
type trial struct {
	Shape    string `json:"shape"`
	Policy   string `json:"policy"`
	Price    number `json:"gpu_price"`
	Capacity number `json:"capacity"`
	GPUs     number `json:"gpus_per_replica"`
	GPUHours number `json:"gpu_hours"`
	Dollars  number `json:"dollars"`
	Late     number `json:"late_fraction"`
	Meets    bool   `json:"meets"`
}

type sharing struct {
	By       string    `json:"by"`
	GPUs     int       `json:"gpus"`
	Unsliced int       `json:"gpus_unsliced"`
	Least    int       `json:"gpus_at_least"`
	Wasted   number    `json:"gpus_wasted"`
	Saved    number    `json:"saved_fraction"`
	Hourly   *number   `json:"dollars_per_hour"`
	Whole    *number   `json:"dollars_per_hour_unsliced"`
	Plan     []holding `json:"plan"`
	Note     string    `json:"note"`
}

type holding struct {
	GPUs  int    `json:"gpus"`
	Free  number `json:"free"`
	Parts []part `json:"parts"`
}

type part struct {
	Load  string `json:"load"`
	Slice string `json:"slice"`
	Count int    `json:"count"`
}

type spot struct {
	Price         number `json:"gpu_price"`
	Interruptions number `json:"interruptions_per_replica_hour"`
	Lead          number `json:"lead_time_seconds"`
	Base          number `json:"replicas_on_demand"`
	OnDemand      number `json:"gpu_hours_on_demand"`
	Spot          number `json:"gpu_hours_on_spot"`
	Restarts      number `json:"restarts"`
	Missing       number `json:"restarting_fraction"`
	Dollars       number `json:"dollars"`
	AllOnDemand   number `json:"dollars_all_on_demand"`
	Saved         number `json:"saved_fraction"`
}

func trials(all []fleet.Trial) []trial {
	out := make([]trial, len(all))
	for i, t := range all {
		out[i] = trial{
			Shape: t.Name, Policy: t.Policy, Price: number(t.Price), Capacity: number(t.Capacity), GPUs: number(t.GPUs),
			GPUHours: number(t.GPUHours()), Dollars: number(t.Dollars()), Late: number(t.Late), Meets: t.Meets,
		}
	}
	return out
}

func shared(p *fleet.Packing, price float64) *sharing {
	if p == nil {
		return nil
	}
	wasted, _ := p.Wasted().Float64()
	out := &sharing{
		By: string(p.Sharing), GPUs: p.GPUs, Unsliced: p.Unsliced, Least: p.Least, Wasted: number(wasted),
		Saved: number(p.Saved()), Note: p.Sharing.Note(), Plan: make([]holding, len(p.Plan)),
	}
	if price > 0 {
		out.Hourly, out.Whole = new(number(price*float64(p.GPUs))), new(number(price*float64(p.Unsliced)))
	}
	for i, h := range p.Plan {
		free, _ := h.Free.Float64()
		out.Plan[i] = holding{GPUs: h.GPUs, Free: number(free), Parts: make([]part, len(h.Parts))}
		for j, one := range h.Parts {
			out.Plan[i].Parts[j] = part(one)
		}
	}
	return out
}

func divided(s *fleet.Split) *spot {
	if s == nil {
		return nil
	}
	return &spot{
		Price: number(s.Price), Interruptions: number(s.Interruptions), Lead: seconds(s.Lead), Base: number(s.Base),
		OnDemand: number(s.OnDemand), Spot: number(s.Spot), Restarts: number(s.Restarts), Missing: number(s.Missing),
		Dollars: number(s.Dollars), AllOnDemand: number(s.AllOnDemand), Saved: number(s.Saved()),
	}
}
