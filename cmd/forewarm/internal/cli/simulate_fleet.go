package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// fleetFlags ask which shape of GPU is the cheapest, how fractions of GPUs share whole ones, and what spot would save.
type fleetFlags struct {
	shapes, fractions []string
	variants          []string
	sharing, spot     string
}

// Add binds them.
func (f *fleetFlags) Add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.shapes, "shape", nil, "shape of GPU to compare, repeatable: "+
		"name=NAME,price=DOLLARS an hour,capacity=what a replica sustains,gpus=GPUs of a replica (1)")
	flags.StringArrayVar(
		&f.variants,
		"variant",
		nil,
		"another workload that serves the demand, too, repeatable: name=NAME,"+
			"lead-time=DURATION,price=DOLLARS of a replica an hour,capacity=what a replica sustains,min=N,max=N,interruptions=N of a "+
			"replica in an hour; needs --gpu-price",
	)
	flags.StringArrayVar(&f.fractions, "fraction", nil, "workload to pack onto shared GPUs, repeatable: NAME=SHARE of "+
		"a GPU,replicas=N (1), such as llama=0.25,replicas=4; with --gpu-price in dollars")
	flags.StringVar(&f.sharing, "sharing", string(fleet.TimeSlicing), "how they share: time-slicing, mps or mig")
	flags.StringVar(&f.spot, "spot", "", "price of a spot GPU and interruptions of a replica in an hour: "+
		"price=DOLLARS,interruptions=N; the median of the replicas stays on demand, at --gpu-price")
}

// fleetQuestions are the questions in the flags.
type fleetQuestions struct {
	// Shapes to play the comparison on.
	Shapes []fleet.Shape
	// Variants that serve the demand, too.
	Variants []fleet.Variant
	// Loads to pack and how.
	Loads   []fleet.Load
	Sharing fleet.Sharing
	// Spot is the spot market; nil if not requested.
	Spot *fleet.SpotMarket
}

// Parse returns every problem with the flags. The price of a GPU-hour is that of the comparison, 0 for none.
func (f *fleetFlags) Parse(gpuPrice float64) (fleetQuestions, error) {
	var out fleetQuestions
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
	for _, text := range f.variants {
		v, err := fleet.ParseVariant(text)
		out.Variants, problems = append(out.Variants, v), append(problems, err)
	}
	if len(f.variants) > 0 && gpuPrice == 0 {
		problems = append(problems, errors.New("--variant needs --gpu-price: what a replica costs without it"))
	}
	for _, text := range f.fractions {
		l, err := fleet.ParseLoad(text)
		out.Loads, problems = append(out.Loads, l), append(problems, err)
	}
	var err error
	out.Sharing, err = fleet.ParseSharing(f.sharing)
	problems = append(problems, err)
	if f.spot != "" {
		m, err := fleet.ParseSpotMarket(f.spot)
		if err == nil && gpuPrice == 0 {
			err = errors.New("--spot needs --gpu-price, what a GPU costs on demand")
		}
		out.Spot, problems = &m, append(problems, err)
	}
	return out, errors.Join(problems...)
}

// Answer packs the fractions and divides what forewarm took between on demand and spot, beside a comparison. The shapes
// are for the caller to play: see trials. The lead time is what a replica on spot takes to start anew.
func (a *fleetQuestions) Answer(c *compare.Comparison, lead time.Duration) (err error) {
	if len(a.Loads) > 0 {
		if c.Sharing, err = fleet.Pack(a.Loads, a.Sharing); err != nil {
			return err
		}
	}
	if a.Spot == nil {
		return nil
	}
	p := c.Find(compare.Forewarm)
	if p == nil {
		c.Notes = append(c.Notes, "Spot is not shown, because Forewarm was not simulated.")
		return nil
	}
	paid := make([]float64, len(p.Timeline))
	for j := range p.Timeline {
		paid[j] = p.Timeline[j].Paid
	}
	on := fleet.Shape{Price: c.Assumptions.GPUPrice, GPUs: c.Assumptions.GPUs}
	s, err := fleet.SplitFleet(paid, p.Report.ReplicaHours, on, *a.Spot, lead)
	if err != nil {
		return err
	}
	c.Spot = &s
	return nil
}

// shapeResults are what forewarm and the autoscaler with its best target came to in a comparison that was played on a shape: its
// capacity, its GPUs and its price in the place of the others.
func shapeResults(on fleet.Shape, c *compare.Comparison) []fleet.ShapeResult {
	var out []fleet.ShapeResult
	for i := range c.Policies {
		p := &c.Policies[i]
		if p.Name == compare.Forewarm || p.Name == compare.BestTarget {
			out = append(out, fleet.ShapeResult{
				Shape:          on,
				Policy:         p.Name,
				ReplicaHours:   p.Report.ReplicaHours,
				Limited:        p.Report.LimitedShare(c.Assumptions.BadHours),
				MeetsObjective: p.MeetsObjective,
			})
		}
	}
	return out
}
