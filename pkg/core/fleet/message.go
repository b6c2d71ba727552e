package fleet

import (
	"fmt"
	"math"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// Message explains what a consumer may use, with the numbers: "44 of 64 GPUs are kept for the members for the next 20m, which leaves 20 for
// batch work. The members hold 31 now and are expected to need 40; past days require a margin of 10%.".
func (p *Plan) Message(of *Spare) string {
	var b strings.Builder
	run, available := humanize.Span(of.Run), math.Max(p.GPUs-p.Other, 0)
	if of.Need >= available {
		fmt.Fprintf(&b, "all %s are kept for the members for the next %s", GPUCount(available), run)
	} else {
		fmt.Fprintf(&b, "%s of %s are kept for the members for the next %s, which leaves %s for batch work",
			Number(of.Need), GPUCount(available), run, Number(available-of.Need))
		b.WriteString(p.shareMessage(of, available))
	}
	if p.Other > 0 {
		fmt.Fprintf(&b, "; other pods hold %s", GPUCount(p.Other))
	}
	fmt.Fprintf(&b, ". The members hold %s now", Number(p.Members))
	if of.Margin >= 0 && !math.IsInf(of.Margin, 0) {
		fmt.Fprintf(&b, " and are expected to need %s; past days require a margin of %s", Number(of.Expected),
			humanize.ShareAsWritten(of.Margin))
	}
	b.WriteString(".")
	for i, part := range p.Share(p.GPUs - p.Other) {
		if left := p.left(of); p.Batch[i].Name == of.Name && left < part.Value-grain {
			fmt.Fprintf(&b, " Running replicas of other consumers leave %s for new ones.", GPUCount(left))
		}
	}
	if len(p.Unknown) > 0 {
		const told = 3
		names := p.Unknown[:min(told, len(p.Unknown))]
		if more := len(p.Unknown) - told; more > 0 {
			names = append(names[:told:told], fmt.Sprintf("%d more", more))
		}
		b.WriteString(" All replicas that a member may have are kept where Forewarm does not know its need: ")
		b.WriteString(humanize.List(names) + ".")
	}
	return b.String()
}

// shareMessage continues a message with what a consumer has of the spare GPUs, if it has not all of them or too few for a replica.
func (p *Plan) shareMessage(of *Spare, available float64) string {
	text, own := "", available-of.Need
	for i, part := range p.Share(available) {
		if len(p.Batch) > 1 && &p.Batch[i] == of {
			own = part.Value
			text = fmt.Sprintf("; the share of %s is %s", of.Name, Number(own))
		}
	}
	if of.GPUs > own {
		text += ", too few for a replica of " + GPUCount(of.GPUs)
	}
	return text
}

// Message says what is missing, with absolute times: "On Tue, 1 Dec from 09:00 to 11:00 UTC the members need up to 72 GPUs, 8 more than the
// fleet has for them: chat (40), code (22) and 3 others.".
func (s *Shortage) Message() string {
	const told = 3
	var who []string
	for i, m := range s.Members {
		if i == told-1 && len(s.Members) > told {
			who = append(who, humanize.Plural(len(s.Members)-i, "other"))
			break
		}
		who = append(who, fmt.Sprintf("%s (%s)", m.Name, Number(m.GPUs)))
	}
	const day, hour = "Mon, 2 Jan", "15:04"
	when := fmt.Sprintf("On %s from %s to %s", s.From.Format(day), s.From.Format(hour), s.Until.Format(hour))
	if s.From.YearDay() != s.Until.Add(-1).YearDay() {
		when = fmt.Sprintf("From %s to %s", s.From.Format(day+" "+hour), s.Until.Format(day+" "+hour))
	}
	const text = "%s UTC the members need up to %s, %s more than the fleet has for them: %s."
	return fmt.Sprintf(text, when, GPUCount(s.Need), Number(s.Need-s.GPUs), humanize.List(who))
}

// Number formats GPUs, of which a replica may use a fraction.
func Number(v float64) string {
	if math.IsInf(v, 1) {
		return "an unlimited number"
	}
	return humanize.Number(math.Round(10*v) / 10)
}

// GPUCount formats GPUs with their unit: "1 GPU", "2.5 GPUs".
func GPUCount(v float64) string {
	if v == 1 {
		return "1 GPU"
	}
	return Number(v) + " GPUs"
}
