package compare

import (
	"context"
	"errors"
	"fmt"

	"github.com/forewarm/forewarm/pkg/offline/accuracy"
)

// Scenarios are questions beyond the policies. The zero value asks none.
type Scenarios struct {
	// WhatIf simulates shorter lead times and longer waits.
	WhatIf bool
	// Shapes are other shapes of GPU.
	Shapes []Shape
	// Wake are servers that sleep, if its time is not 0.
	Wake Wake
	// Variants are other workloads that serve the demand, too.
	Variants []Variant
	// Forecasts judges the accuracy of the forecasts.
	Forecasts bool
}

// Answer simulates the scenarios of a comparison, and adds the results to it. One that was interrupted is left out. progress is
// called after each unit of work.
func (s *Scenarios) Answer(
	ctx context.Context, c Config, to *Comparison, progress func(done, total int, what string),
) (err error) {
	if s.WhatIf {
		if to.WhatIfs, err = WhatIfs(ctx, c, progress); err != nil {
			return err
		}
	}
	if len(s.Shapes) > 0 {
		if to.Shapes, err = Shapes(ctx, c, s.Shapes, progress); err != nil {
			return err
		}
	}
	var problems []error
	if s.Wake.Time != 0 {
		if to.Wakes, err = Wakes(ctx, c, s.Wake, progress); err != nil {
			problems = append(problems, fmt.Errorf("--wake-time: %w", err))
		}
	}
	if len(s.Variants) > 0 {
		to.Variants, err = Variants(ctx, c, s.Variants, progress)
		problems = append(problems, err)
	}
	if s.Forecasts && ctx.Err() == nil {
		to.Forecasts, err = accuracy.Run(ctx, c.Accuracy(), progress)
		if err != nil && ctx.Err() == nil {
			to.Notes = append(to.Notes, "The accuracy of forecasts is not shown: "+err.Error()+".")
		}
	}
	if to.Partial = to.Partial || ctx.Err() != nil; to.Partial {
		return nil
	}
	return errors.Join(problems...)
}

// Accuracy says of which forecasts the accuracy is judged.
func (c *Config) Accuracy() accuracy.Config {
	return accuracy.Config{Series: c.Demand, Lead: c.Lead.Median}
}
