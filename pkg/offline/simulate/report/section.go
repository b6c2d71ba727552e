package report

import (
	"bytes"
	"fmt"
	"math/big"
	"strconv"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/offline/fleet"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// section is a question that was asked beside the comparison: the answer in words, and a table where there is one.
type section struct {
	Title, Answer string
	Heads         []string
	Lines         [][]string
	// Courses are drawn in the page.
	Courses []course
	Notes   []string
}

// sections are those that were asked for.
func sections(c *compare.Comparison) []section {
	var out []section
	if c.Warm != nil && len(c.Warm.Trials) > 0 { // None are there where it was interrupted before.
		out = append(out, warmOf(c.Warm, &c.Assumptions))
	}
	if len(c.Shapes) > 0 {
		out = append(out, shapesOf(c))
	}
	if c.Sharing != nil {
		out = append(out, sharingOf(c.Sharing, c.Assumptions.GPUPrice))
	}
	if c.Spot != nil {
		out = append(out, spotOf(c.Spot))
	}
	return out
}

// shapesOf says which shape of GPU is the cheapest at the objective.
func shapesOf(c *compare.Comparison) section {
	out := section{
		Title:  "Which GPU",
		Answer: cheapest(c, compare.Forewarm) + " " + cheapest(c, compare.BestTarget),
		Heads:  []string{"shape and policy", "replica", "GPUs", "$/h", "GPU-hours", "$", "late"},
		Notes: []string{
			"Replica is what one sustains on the shape, in the metric's unit; $/h is the price of a GPU. All shapes " +
				"are taken to have the same lead time and the same " + replicas(&c.Assumptions) + " replicas.",
		},
	}
	for _, t := range c.Shapes {
		out.Lines = append(out.Lines, []string{
			t.Name + ", " + t.Policy, humanize.Number(t.Capacity), humanize.Number(t.GPUs), decimal(t.Price, 2),
			humanize.Amount(t.GPUHours()), humanize.Amount(t.Dollars()), lateness(t.Late, t.Meets),
		})
	}
	return out
}

// lateness is a share that was late, and whether it misses the objective.
func lateness(share float64, meets bool) string {
	if meets {
		return humanize.Share(share)
	}
	return humanize.Share(share) + " misses"
}

// cheapest is a sentence on a policy: the shape that it is cheapest on, and the dearest that meets the objective too.
func cheapest(c *compare.Comparison, name string) string {
	objective := humanize.Asked(c.Assumptions.Objective)
	best, ok := fleet.Cheapest(c.Shapes, name)
	if !ok {
		return "No shape keeps " + name + " within " + objective + " late."
	}
	dollars := humanize.Amount(best.Dollars())
	text := "Cheapest with " + name + " within " + objective + " late: " + best.Name + ", $" + dollars
	dearest := best
	for _, t := range c.Shapes {
		if t.Policy == name && t.Meets && t.Dollars() > dearest.Dollars() {
			dearest = t
		}
	}
	if dearest.Name != best.Name {
		text += fmt.Sprintf(" against $%s on %s", humanize.Amount(dearest.Dollars()), dearest.Name)
	}
	return text + "."
}

// sharingOf says what fractions take, and what one GPU for each replica would.
func sharingOf(p *fleet.Packing, price float64) section {
	taken, whole := counted(p.GPUs, "GPU"), strconv.Itoa(p.Unsliced)
	if price > 0 {
		taken += " for $" + decimal(price*float64(p.GPUs), 2) + " an hour"
		whole += " for $" + decimal(price*float64(p.Unsliced), 2)
	}
	out := section{
		Title:  "Fractions of GPUs, by " + p.Sharing.Title(),
		Answer: taken + " in place of " + whole + ": " + savedBy(p) + " saved. " + wasted(p),
		Heads:  []string{"on each", "GPUs", "free"},
		Notes:  []string{p.Sharing.Note()},
	}
	for _, h := range p.Plan {
		out.Lines = append(out.Lines, []string{h.String(), strconv.Itoa(h.GPUs), fleet.Words(h.Free)})
	}
	return out
}

func savedBy(p *fleet.Packing) string {
	if p.GPUs == p.Unsliced {
		return "nothing"
	}
	return strconv.FormatFloat(100*p.Saved(), 'f', 0, 64) + "%"
}

// wasted is what is paid for and not asked for, and whether another packing could do with less.
func wasted(p *fleet.Packing) string {
	text := "Nothing of them is left over."
	if rest := p.Wasted(); rest.Sign() > 0 {
		text = fleet.Words(rest) + " of a GPU is paid for and not asked for."
		if rest.Cmp(big.NewRat(1, 1)) > 0 {
			text = fleet.Words(rest) + " GPUs are paid for and not asked for."
		}
	}
	if p.GPUs == p.Least {
		return text + " No packing takes fewer."
	}
	return text + " No packing takes fewer than " + strconv.Itoa(p.Least) + "."
}

// counted is a number of things: 1 GPU, 2 GPUs.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return humanize.Count(n) + " " + thing + "s"
}

// spotOf says what a tail on spot would save.
func spotOf(s *fleet.Split) section {
	saved := decimal(100*s.Saved(), 1) + "% saved"
	if s.Saved() < 0 {
		saved = decimal(-100*s.Saved(), 1) + "% more, so it does not pay"
	}
	return section{
		Title: "Spot",
		Answer: fmt.Sprintf("With %s replicas on demand and what forewarm takes above them on spot, at $%s: "+
			"$%s in place of $%s, %s.", humanize.Number(s.Base), decimal(s.Price, 2),
			humanize.Amount(s.Dollars), humanize.Amount(s.AllOnDemand), saved),
		Heads: []string{"", "GPU-hours"},
		Lines: [][]string{{"on demand", humanize.Amount(s.OnDemand)}, {"on spot", humanize.Amount(s.Spot)}},
		Notes: []string{
			fmt.Sprintf("%s interruptions are to be expected, each with %s until the next replica is ready: "+
				"%s of the replica-hours.", humanize.Amount(s.Restarts), humanize.Span(s.Lead), humanize.Share(s.Missing)),
			"Interruptions are taken to come one by one and a new replica to find a place at once. A market takes back many " +
				"together: that is why the median is on demand.",
		},
	}
}

// writeSections are the answers in a terminal.
func writeSections(out *bytes.Buffer, c *compare.Comparison, width int) {
	for _, s := range sections(c) {
		fmt.Fprintf(out, "\n%s\n", s.Title)
		paragraph(out, s.Answer, width)
		out.WriteByte('\n')
		align(out, append([][]string{s.Heads}, s.Lines...), width)
		out.WriteByte('\n')
		for _, n := range s.Notes {
			paragraph(out, n, width)
		}
	}
}
