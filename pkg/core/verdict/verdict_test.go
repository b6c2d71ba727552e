package verdict_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/verdict"
)

// of is an outcome of ten days that cost so much each, but for small differences from day to day.
func of(setting, cost, share float64, badHours int) verdict.Outcome {
	out := verdict.Outcome{Setting: setting, Share: share, BadHours: badHours}
	for day := range 10 {
		out.Cost = append(out.Cost, cost*(1+0.001*float64(day%3)))
	}
	return out
}

func compared(forewarm, hpa verdict.Outcome) *verdict.Comparison {
	return &verdict.Comparison{
		Objective: 0.01, BadHours: true, Unit: "GPU-hours", Period: "10 days", HPAName: "your HPA",
		Forewarm: forewarm, HPA: hpa,
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	with := func(c *verdict.Comparison, change func(*verdict.Comparison)) *verdict.Comparison {
		change(c)
		return c
	}
	target := func(outcomes ...verdict.Outcome) func(*verdict.Comparison) {
		return func(c *verdict.Comparison) { c.Targets = outcomes }
	}
	for name, tt := range map[string]struct {
		c        *verdict.Comparison
		word     verdict.Word
		saved    float64
		headline string
		details  string
	}{
		"as reliable and cheaper": {
			compared(of(.01, 82, 0, 0), of(33, 100, 0, 0)),
			verdict.Saves, 0.18, "Forewarm is as reliable as your HPA and uses 18% fewer GPU-hours.",
			"Over 10 days, Forewarm uses 821 GPU-hours and has no bad hour; your HPA uses 1,001 GPU-hours and has no bad hour.",
		},
		"both within the objective, Forewarm with a little more than the HPA": {
			compared(of(.01, 82, 0.0009, 1), of(33, 100, 0, 0)),
			verdict.Saves, 0.18, "Forewarm is as reliable as your HPA and uses 18% fewer GPU-hours", "has 1 bad hour; your HPA",
		},
		"equal cost, more reliable": {
			with(compared(of(.01, 100, 0, 0), of(33, 101, .05, 9)), target(of(26, 125, 0, 0), of(24, 130, 0, 0))),
			verdict.Saves, 0.2, "Forewarm has no bad hour instead of 9 and uses about as many GPU-hours as your HPA.",
			"To be as reliable as Forewarm, the HPA needs the target 26 instead of 33, and then uses 1,251 GPU-hours. Compared with that target, Forewarm saves 20%",
		},
		"cheaper and more reliable": {
			with(compared(of(.01, 90, .005, 1), of(33, 100, .05, 9)), target(of(26, 125, 0, 0))),
			verdict.Saves, 0.28, "Forewarm has 1 bad hour instead of 9 and uses 10% fewer GPU-hours than your HPA.", "Forewarm saves 28%",
		},
		"more expensive, more reliable, and cheaper than the HPA that is as reliable": {
			with(compared(of(.01, 110, 0, 0), of(33, 100, .05, 9)), target(of(26, 125, 0, 0))),
			verdict.Saves, 0.12, "Forewarm uses 12% fewer GPU-hours than an equally reliable HPA. Compared with your HPA, it has no bad hour instead of 9 and uses 10% more GPU-hours.", "needs the target 26",
		},
		"a lower target is cheaper": {
			with(compared(of(.01, 110, 0, 0), of(33, 100, .05, 9)), target(of(26, 105, 0, 0))),
			verdict.CostsMore, -0.0476, "Costs more: Forewarm uses 4.8% more GPU-hours than an equally reliable HPA. Compared with your HPA, it has no bad hour instead of 9 and uses 10% more GPU-hours.", "",
		},
		"no target is as reliable": {
			with(compared(of(.01, 100, 0, 0), of(33, 100, .05, 9)), target(of(26, 125, .02, 3))),
			verdict.Saves, 0.2, "Forewarm has no bad hour instead of 9 and uses about as many GPU-hours as your HPA.",
			"No target makes the HPA as reliable as Forewarm: even with the target 26, it uses 1,251 GPU-hours and has 3 bad hours.",
		},
		"no target is as reliable, but one is within the objective": {
			with(compared(of(.01, 110, 0, 0), of(33, 100, .05, 9)), target(of(26, 125, .006, 1), of(24, 130, .005, 1))),
			verdict.Saves, 0.12, "Forewarm uses 12% fewer GPU-hours than an HPA that meets the objective. Compared with your HPA, it has no bad hour instead of 9 and uses 10% more",
			"No target makes the HPA as reliable as Forewarm: even with the target 26, it uses 1,251 GPU-hours and has 1 bad hour.",
		},
		"no target is more reliable than the one that is written": {
			compared(of(.01, 110, 0, 0), of(33, 100, .05, 9)),
			verdict.CostsMore, -0.1, "Costs more: Forewarm uses 10% more GPU-hours than the HPA with its most reliable target, which still misses the objective.",
			"No other target makes the HPA more reliable.",
		},
		"a stricter objective is as reliable": {
			with(compared(of(.01, 82, .008, 2), of(33, 100, 0, 0)), func(c *verdict.Comparison) {
				c.Stricter = []verdict.Outcome{of(.005, 85, .005, 1), of(.0025, 90, 0, 0)}
			}),
			verdict.Saves, 0.1, "With the objective 0.25%, Forewarm is as reliable as your HPA and uses 10% fewer GPU-hours. With the objective 1%, it uses 18% fewer GPU-hours and has 2 bad hours.",
			"has 2 bad hours; your HPA uses 1,001 GPU-hours and has no bad hour. With the objective 0.25%, Forewarm uses 901",
		},
		"less reliable, within the objective": {
			compared(of(.01, 82, .008, 2), of(33, 100, 0, 0)),
			verdict.Saves, 0.18, "Forewarm and your HPA both meet the objective, and Forewarm uses 18% fewer GPU-hours", "has 2 bad hours",
		},
		"fewer bad hours than an HPA within the objective": {
			compared(of(.01, 82, 0, 1), of(33, 100, .005, 4)),
			verdict.Saves, 0.18, "Forewarm has 1 bad hour instead of 4 and uses 18% fewer GPU-hours than your HPA.", "",
		},
		"two percent are none": {
			compared(of(.01, 98.5, 0, 0), of(33, 100, 0, 0)),
			verdict.NoDifference, 0.015, "No difference: Forewarm is as reliable as your HPA and uses 1.5% fewer GPU-hours", "",
		},
		"costs more": {
			compared(of(.01, 108, 0, 0), of(33, 100, 0, 0)),
			verdict.CostsMore, -0.08, "Costs more: Forewarm is as reliable as your HPA and uses 8% more GPU-hours.", "",
		},
		"misses the objective, and the HPA too": {
			with(compared(of(.01, 50, .03, 5), of(33, 100, .05, 9)), target(of(26, 10, 0, 0))),
			verdict.TooLate, 0.5, "Too late: 3% of the demand arrived in bad hours, but the objective allows only 1%.",
			"has 5 bad hours; your HPA uses 1,001 GPU-hours and has 9 bad hours.",
		},
		"by late demand": {
			with(compared(of(.01, 82, .0037, 0), of(33, 82, .021, 0)), func(c *verdict.Comparison) { c.BadHours = false }),
			verdict.Saves, math.NaN(), "Forewarm is late for 0.37% of the demand instead of 2.1% and uses about as many GPU-hours as your HPA.", "",
		},
		"at a price": {
			with(compared(of(.01, 90, .5, 0), of(33, 100, 0, 0)), func(c *verdict.Comparison) { c.Priced = true }),
			verdict.Saves, 0.1, "Forewarm uses 10% fewer GPU-hours than your HPA, including the price of late demand.", "",
		},
		"two days": {
			compared(verdict.Outcome{Cost: []float64{10, 10}}, verdict.Outcome{Cost: []float64{20, 20}}),
			verdict.TooEarly, 0.5, "Too early for a verdict, which needs three days.",
			"Forewarm uses 20.0 GPU-hours and has no bad hour; your HPA uses 40.0",
		},
		"nothing at all": {
			compared(verdict.Outcome{}, verdict.Outcome{}), verdict.TooEarly, math.NaN(), "Too early", "",
		},
	} {
		v := tt.c.Judge()
		if v.Word != tt.word || !math.IsNaN(tt.saved) && math.Abs(v.Saved-tt.saved) > 0.0005 ||
			!strings.HasPrefix(v.Headline(), tt.headline) || !strings.Contains(v.Details(), tt.details) {
			t.Errorf("%s: %s, saved %v\n%s\n%s", name, v.Word, v.Saved, v.Headline(), v.Details())
		}
	}
}

// Days that differ widen the interval until it contains no difference at all, and so do draws of the start times.
func TestIntervals(t *testing.T) {
	t.Parallel()
	forewarm, hpa := verdict.Outcome{}, verdict.Outcome{}
	for day := range 10 {
		forewarm.Cost = append(forewarm.Cost, 85+50*float64(day%2))
		hpa.Cost = append(hpa.Cost, 130-20*float64(day%2))
	}
	wide := compared(forewarm, hpa).Judge()
	if wide.Word != verdict.NoDifference || !(wide.Low < 0 && wide.High > 0.1) {
		t.Errorf("%s: %v to %v", wide.Word, wide.Low, wide.High)
	}
	c := compared(of(.01, 82, 0, 0), of(33, 100, .05, 7))
	c.Targets = []verdict.Outcome{of(26, 100, 0, 0)}
	before := c.Judge()
	for i := range 8 {
		c.Draws = append(c.Draws, verdict.Draw{
			Forewarm: 780 + 20*float64(i), HPA: 1000, ForewarmBadHours: i / 4, HPABadHours: 5 + i%3,
		})
	}
	after := c.Judge()
	if !(after.High-after.Low > 2*(before.High-before.Low)) || after.Saved != before.Saved {
		t.Errorf("%v to %v became %v to %v", before.Low, before.High, after.Low, after.High)
	}
	for _, want := range []string{"no bad hour (0 to 1 with other pod start times)", "7 bad hours (5 to 7 with other pod start times)"} {
		if !strings.Contains(after.Details(), want) {
			t.Errorf("%q, want %q", after.Details(), want)
		}
	}
}

func TestDays(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ hours, days int }{{0, 0}, {1, 1}, {24, 1}, {47, 1}, {48, 2}, {71, 2}, {72, 3}} {
		hours := make([]float64, tt.hours)
		for i := range hours {
			hours[i] = 1
		}
		days := verdict.Days(hours)
		total := verdict.Outcome{Cost: days}
		if len(days) != tt.days || total.Total() != float64(tt.hours) {
			t.Errorf("%d hours are %v", tt.hours, days)
		}
	}
}
