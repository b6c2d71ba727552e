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

// message returns the sentence that explains a plan.
func (s *planner) message(out *Plan) string {
	var b strings.Builder
	d, p := &s.demand, &s.pool
	switch {
	case len(d.members) == 0:
		b.WriteString("no members")
	case d.reliable == 0:
		b.WriteString(d.unreliableNames())
	default:
		s.describeDemand(&b)
		if s.unreliable() {
			b.WriteString("; " + d.unreliableNames())
		}
	}
	s.describeBounds(&b, out)
	if out.Want > s.wanted && !s.spent {
		fmt.Fprintf(&b, "; the pool keeps %d for %s, the lead time of a node", out.Want,
			humanize.Span(breakEven(p.Node)))
	}
	if p.Split && out.Want > 0 {
		fmt.Fprintf(&b, "; %d of the first capacity type and %d of the second", out.Base, out.Tail)
	}
	return b.String()
}

// describeDemand describes what the members need: "llama and phi need 14 chunks within 11m15s at the 0.95 quantile of
// their sum (16 if all peaked together); 9 chunks are placed and 0 are waiting, so 5 more are needed within 11m15s, 2 of them within
// 6m15s".
func (s *planner) describeDemand(b *strings.Builder) {
	d, p := &s.demand, &s.pool
	names, verb := d.names(), "need"
	if d.reliable == 1 {
		verb = "needs"
	}
	have := d.placed + d.waiting
	fmt.Fprintf(b, "%s %s %s chunks within %s at the %s quantile", names, verb, number(have+d.node.high),
		humanize.Span(leadtime.Window(p.Pod+p.Node)), number(p.Quantile))
	switch {
	case d.reliable == 1:
	case !d.joint:
		b.WriteString(
			" of each member, because their common history is too short to estimate how their demands correlate",
		)
	case d.node.apart-d.node.high > grain:
		fmt.Fprintf(b, " of their sum (%s if all peaked together)", number(have+d.node.apart))
	default:
		b.WriteString(" of their sum")
	}
	fmt.Fprintf(b, "; %s chunks are placed and %s are waiting, so %d more are needed within %s, %d of them within %s",
		number(d.placed), number(d.waiting), chunks(d.node.high), humanize.Span(leadtime.Window(p.Pod+p.Node)),
		chunks(d.pod.high), humanize.Span(leadtime.Window(p.Pod)))
	if reach := d.maxHorizon(); leadtime.Window(p.Pod+p.Node) > reach {
		const text = "; the forecasts end after %s, and Forewarm assumes that their spread then grows with the square root of time"
		fmt.Fprintf(b, text, humanize.Span(reach))
	}
}

// describeBounds describes the limit that determined the number of chunks.
func (s *planner) describeBounds(b *strings.Builder, out *Plan) {
	p := &s.pool
	switch {
	case s.spent:
		fmt.Fprintf(b, "; the budget of %s idle GPU-hours per day is spent (%s today), so the pool holds at most %d",
			number(p.Budget), number(s.idle), out.Want)
	case s.asked > p.Max && s.demand.reliable > 0:
		fmt.Fprintf(b, "; the pool is limited to %d", p.Max)
	case s.unreliable() && s.wanted == max(p.Fallback, p.Min):
		fmt.Fprintf(b, "; the pool holds the fallback of %d", s.wanted)
	case s.wanted == p.Min && p.Min > s.asked:
		fmt.Fprintf(b, "; the pool holds at least %d", p.Min)
	}
}

// next describes the next changes: chunks that are not ready yet, when chunks are released, and when the budget is spent or
// resets.
func (s *planner) next(out *Plan, m *past) string {
	var parts []string
	clock := func(t time.Time) string { return t.Format("15:04") + " UTC" }
	if missing := out.Want - s.capacity.Ready; missing > 0 {
		parts = append(parts, fmt.Sprintf("%d of %d chunks are not ready yet", missing, out.Want))
	}
	if s.spent {
		return strings.Join(append(parts, "the budget resets at "+clock(midnight(s.at))), "; ")
	}
	if out.Want > s.wanted {
		at := asTime(s.kept.At).Add(breakEven(s.pool.Node))
		parts = append(parts, fmt.Sprintf("%d chunks are released after %s unless they are needed again",
			out.Want-s.wanted, clock(at)))
	}
	if pace := float64(max(out.Want, s.capacity.Ready)) * s.pool.GPUs; s.pool.Budget > 0 && pace > 0 {
		end := asTime(s.at).Add(time.Duration(min(out.Left/pace, 48) * float64(time.Hour)))
		lasts := "lasts until it resets at " + clock(midnight(s.at))
		if end.Before(midnight(s.at)) {
			lasts = "is spent at " + clock(end)
		}
		parts = append(parts, fmt.Sprintf("with %s GPUs idle, the budget %s", number(pace), lasts))
	}
	if m.Unseen > 0 && s.pool.Budget > 0 {
		unseen := humanize.Span(time.Duration(m.Unseen) * time.Millisecond)
		parts = append(parts, "Forewarm did not observe the pool for "+unseen+" today and does not count this time")
	}
	return strings.Join(parts, "; ")
}

// names lists the reliable members, three at most.
func (d *demand) names() string {
	var names []string
	for i := range d.members {
		if d.members[i].unreliable == "" {
			names = append(names, d.members[i].Name)
		}
	}
	return listed(names)
}

// unreliableNames lists the unreliable members with the reasons: "llama is stale: its newest sample is 12m old".
func (d *demand) unreliableNames() string {
	var out []string
	for i := range d.members {
		if a := &d.members[i]; a.unreliable != "" {
			out = append(out, a.Name+" "+a.unreliable)
		}
	}
	return listed(out)
}

// maxHorizon returns the horizon that all reliable members' forecasts have.
func (d *demand) maxHorizon() time.Duration {
	out := time.Duration(math.MaxInt64)
	for i := range d.members {
		if a := &d.members[i]; a.unreliable == "" {
			out = min(out, a.Outlook.Windows[len(a.Outlook.Windows)-1].Horizon)
		}
	}
	return out
}

// listed returns "a", "a and b", "a, b and c", "a, b and 2 more".
func listed(of []string) string {
	switch n := len(of); {
	case n < 2:
		return strings.Join(of, "")
	case n <= 3:
		return strings.Join(of[:n-1], ", ") + " and " + of[n-1]
	default:
		return fmt.Sprintf("%s, %s and %d more", of[0], of[1], n-2)
	}
}

// number formats a number to the hundredth; a number below 0.1 to the hundredth of that.
func number(x float64) string {
	parts := 1e2
	if math.Abs(x) < 0.1 {
		parts = 1e4
	}
	return strconv.FormatFloat(math.Round(x*parts)/parts, 'f', -1, 64)
}
