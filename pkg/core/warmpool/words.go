package warmpool

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/leadtime"
)

// why is the sentence that a plan is explained by.
func (s *situation) why(out *Plan) string {
	var b strings.Builder
	d, p := &s.demand, &s.pool
	switch {
	case len(d.all) == 0:
		b.WriteString("no members")
	case d.sound == 0:
		b.WriteString(d.doubts())
	default:
		s.asks(&b)
		if s.doubted() {
			b.WriteString("; " + d.doubts())
		}
	}
	s.bounds(&b, out)
	if out.Want > s.wanted && !s.spent {
		fmt.Fprintf(&b, "; %d kept for %s, as long as a node takes", out.Want, humanize.Span(breakEven(p.Node)))
	}
	if p.Split && out.Want > 0 {
		fmt.Fprintf(&b, "; %d of the first capacity type and %d of the second", out.Base, out.Tail)
	}
	return b.String()
}

// asks says what the members want: "llama and phi want 14 chunks within 11m15s at their joint 0.95 quantile (16 if they
// peaked together), 9 are placed and 0 wait: 5 more (2 within 6m15s)".
func (s *situation) asks(b *strings.Builder) {
	d, p := &s.demand, &s.pool
	names, verb := d.names(), "want"
	if d.sound == 1 {
		verb = "wants"
	}
	have := d.placed + d.waiting
	fmt.Fprintf(b, "%s %s %s chunks within %s at the %s quantile", names, verb, number(have+d.node.high),
		humanize.Span(leadtime.Window(p.Pod+p.Node)), number(p.Quantile))
	switch {
	case d.sound == 1:
	case !d.joint:
		b.WriteString(" of each, as there is too little common history to know how they move together")
	case d.node.apart-d.node.high > grain:
		fmt.Fprintf(b, " of their sum (%s if all peaked together)", number(have+d.node.apart))
	default:
		b.WriteString(" of their sum")
	}
	fmt.Fprintf(b, ", have %s and wait for %s: %d more within that time and %d within %s", number(d.placed),
		number(d.waiting), chunks(d.node.high), chunks(d.pod.high), humanize.Span(leadtime.Window(p.Pod)))
	if reach := d.reach(); leadtime.Window(p.Pod+p.Node) > reach {
		fmt.Fprintf(b, "; beyond %s, where the forecasts end, their spread is taken to grow as the square root of time",
			humanize.Span(reach))
	}
}

// bounds says which bound was the one that counted.
func (s *situation) bounds(b *strings.Builder, out *Plan) {
	p := &s.pool
	switch {
	case s.spent:
		fmt.Fprintf(b, "; %s of %s GPU-hours stood idle today: no more than %d are held",
			number(s.idle), number(p.Budget), out.Want)
	case s.asked > p.Max && s.demand.sound > 0:
		fmt.Fprintf(b, "; no more than %d may be held", p.Max)
	case s.doubted() && s.wanted == max(p.Fallback, p.Min):
		fmt.Fprintf(b, "; the fallback of %d is held", s.wanted)
	case s.wanted == p.Min && p.Min > s.asked:
		fmt.Fprintf(b, "; at least %d are held", p.Min)
	}
}

// next says what changes next: when a chunk is given back, when the budget is spent or begins anew, what is to come.
func (s *situation) next(out *Plan, m *past) string {
	var parts []string
	clock := func(t time.Time) string { return t.Format("15:04") + " UTC" }
	if missing := out.Want - s.capacity.Ready; missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d chunks are still to come", missing, out.Want))
	}
	if s.spent {
		return strings.Join(append(parts, "the budget begins anew at "+clock(midnight(s.at))), "; ")
	}
	if out.Want > s.wanted {
		at := asTime(s.kept.At).Add(breakEven(s.pool.Node))
		parts = append(parts, fmt.Sprintf("%d are given back from %s on unless they are wanted again",
			out.Want-s.wanted, clock(at)))
	}
	if pace := float64(max(out.Want, s.capacity.Ready)) * s.pool.GPUs; s.pool.Budget > 0 && pace > 0 {
		end := asTime(s.at).Add(time.Duration(min(out.Left/pace, 48) * float64(time.Hour)))
		lasts := "lasts until it begins anew at " + clock(midnight(s.at))
		if end.Before(midnight(s.at)) {
			lasts = "is spent at " + clock(end)
		}
		parts = append(parts, fmt.Sprintf("with %s GPUs idle the budget %s", number(pace), lasts))
	}
	if m.Unseen > 0 && s.pool.Budget > 0 {
		unseen := humanize.Span(time.Duration(m.Unseen) * time.Millisecond)
		parts = append(parts, unseen+" of today were not seen and are not counted")
	}
	return strings.Join(parts, "; ")
}

// names are those of the sound members, three at most.
func (d *demand) names() string {
	var names []string
	for i := range d.all {
		if d.all[i].doubt == "" {
			names = append(names, d.all[i].Name)
		}
	}
	return list(names)
}

// doubts says who is in doubt and why: "llama is stale: its newest sample is 12m old".
func (d *demand) doubts() string {
	var out []string
	for i := range d.all {
		if a := &d.all[i]; a.doubt != "" {
			out = append(out, a.Name+" is "+a.doubt)
		}
	}
	return list(out)
}

// reach is how far the sound members' forecasts reach.
func (d *demand) reach() time.Duration {
	out := time.Duration(math.MaxInt64)
	for i := range d.all {
		if a := &d.all[i]; a.doubt == "" {
			out = min(out, a.Outlook.Windows[len(a.Outlook.Windows)-1].Horizon)
		}
	}
	return out
}

// list is "a", "a and b", "a, b and c", "a, b and 2 more".
func list(of []string) string {
	switch n := len(of); {
	case n < 2:
		return strings.Join(of, "")
	case n <= 3:
		return strings.Join(of[:n-1], ", ") + " and " + of[n-1]
	default:
		return fmt.Sprintf("%s, %s and %d more", of[0], of[1], n-2)
	}
}

// number writes a number for people: to the hundredth, and one that would be nothing then, to the hundredth of that.
func number(x float64) string {
	parts := 1e2
	if math.Abs(x) < 0.1 {
		parts = 1e4
	}
	return strconv.FormatFloat(math.Round(x*parts)/parts, 'f', -1, 64)
}
