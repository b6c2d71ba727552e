package simulatecmd

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// fleetFlags ask which shape of GPU is the cheapest, how fractions of GPUs share whole ones, and what spot would save.
type fleetFlags struct {
	shapes, fractions []string
	sharing, spot     string
}

// Add binds them.
func (f *fleetFlags) Add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.shapes, "shape", nil, "shape of GPU to compare, repeatable: "+
		"name=NAME,price=DOLLARS an hour,capacity=what a replica sustains,gpus=GPUs of a replica (1)")
	flags.StringArrayVar(&f.fractions, "fraction", nil, "workload to pack onto shared GPUs, repeatable: "+
		"NAME=SHARE of a GPU,replicas=N (1), such as llama=0.25,replicas=4; beside the comparison, with --gpu-price in dollars")
	flags.StringVar(&f.sharing, "sharing", string(fleet.TimeSlicing), "how they share: time-slicing, mps or mig")
	flags.StringVar(&f.spot, "spot", "", "what spot costs and how often a replica on it is interrupted in an hour: "+
		"price=DOLLARS,interruptions=N; the median of the replicas stays on demand, at --gpu-price")
}

// asked are the questions in the flags.
type asked struct {
	// Shapes to play the comparison on.
	Shapes []fleet.Shape
	// Loads to pack and how.
	Loads   []fleet.Load
	Sharing fleet.Sharing
	// Market is what spot costs; nil where it was not asked for.
	Market *fleet.Market
}

// Parse returns every problem with the flags. The price of a GPU-hour is that of the comparison, 0 for none.
func (f *fleetFlags) Parse(gpuPrice float64) (asked, error) {
	var out asked
	var problems []error
	names := make(map[string]bool)
	for _, text := range f.shapes {
		s, err := fleet.ParseShape(text)
		if err == nil && names[s.Name] {
			err = fmt.Errorf("shape %s is given twice", s.Name)
		}
		names[s.Name] = true
		out.Shapes, problems = append(out.Shapes, s), append(problems, err)
	}
	for _, text := range f.fractions {
		l, err := fleet.ParseLoad(text)
		out.Loads, problems = append(out.Loads, l), append(problems, err)
	}
	var err error
	out.Sharing, err = fleet.ParseSharing(f.sharing)
	problems = append(problems, err)
	if f.spot != "" {
		m, err := fleet.ParseMarket(f.spot)
		if err == nil && gpuPrice == 0 {
			err = errors.New("--spot needs --gpu-price, what a GPU costs on demand")
		}
		out.Market, problems = &m, append(problems, err)
	}
	return out, errors.Join(problems...)
}

// Answer packs the fractions and divides what forewarm took between on demand and spot, beside a comparison. The shapes
// are for the caller to play: see trials. The lead time is what a replica on spot takes to start anew.
func (a *asked) Answer(c *compare.Comparison, lead time.Duration) (err error) {
	if len(a.Loads) > 0 {
		if c.Sharing, err = fleet.Pack(a.Loads, a.Sharing); err != nil {
			return err
		}
	}
	if a.Market == nil {
		return nil
	}
	i := slices.IndexFunc(c.Policies, func(p compare.Policy) bool { return p.Name == compare.Forewarm })
	if i < 0 {
		c.Notes = append(c.Notes, "Spot is not told, as forewarm was not played.")
		return nil
	}
	p := &c.Policies[i]
	paid := make([]float64, len(p.Course))
	for j := range p.Course {
		paid[j] = p.Course[j].Paid
	}
	on := fleet.Shape{Price: c.Assumptions.GPUPrice, GPUs: c.Assumptions.GPUs}
	s, err := fleet.Divide(paid, p.Report.Replicas, on, *a.Market, lead)
	if err != nil {
		return err
	}
	c.Spot = &s
	return nil
}

// trials are what forewarm and the autoscaler with its best target came to in a comparison that was played on a shape: its
// capacity, its GPUs and its price in the place of the others.
func trials(on fleet.Shape, c *compare.Comparison) []fleet.Trial {
	var out []fleet.Trial
	for i := range c.Policies {
		p := &c.Policies[i]
		if p.Name == compare.Forewarm || p.Name == compare.BestTarget {
			out = append(out, fleet.Trial{
				Shape: on, Policy: p.Name, Replicas: p.Report.Replicas, Late: p.Report.LateShare(), Meets: p.Meets,
			})
		}
	}
	return out
}
