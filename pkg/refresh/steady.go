package refresh

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const (
	// flapTime: a problem that comes back within this time comes and goes. Its condition stays until the problem has been over for
	// calmTime. Other conditions stay until their problem has been over for twice as long as it was there, at most calmTime.
	flapTime = time.Hour
	calmTime = 30 * time.Minute
)

// problem is what was last said of a problem.
type problem struct {
	condition snapshot.Condition
	// since and last are when it was there, over when it was last said to be over. flaps: it comes and goes.
	since, last, over time.Time
	said, flaps       bool
	// initial: it was there from the beginning: nobody expects it to come back.
	initial bool
}

// steady keeps the conditions of problems that come and go, so that they do not change with them.
func (w *worker) steady(conditions []snapshot.Condition, now time.Time) []snapshot.Condition {
	for _, kind := range []string{snapshot.ConditionSource, snapshot.ConditionData, snapshot.ConditionSignal} {
		at := slices.IndexFunc(conditions, func(c snapshot.Condition) bool { return c.Type == kind })
		p := w.problems[kind]
		switch bad := at >= 0 && !conditions[at].True; {
		case p == nil:
			w.problems[kind] = &problem{said: bad, initial: bad}
		case bad && p.said && conditions[at].Reason == snapshot.ReasonSuddenLow &&
			p.condition.Reason == snapshot.ReasonOutageSuspected && now.Sub(p.last) < p.lingers():
			p.last, conditions[at] = now, p.condition // An outage that comes back begins as a sudden low.
		case bad:
			if !p.said {
				p.since, p.flaps = now, now.Sub(p.over) < flapTime
			}
			p.condition, p.last, p.said = conditions[at], now, true
		case !p.said:
		case now.Sub(p.last) < p.lingers():
			c := p.condition
			c.Message += "; this is over since " + formatTime(p.last)
			if at < 0 {
				conditions = append(conditions, c)
			} else {
				conditions[at] = c
			}
		default:
			if !p.initial {
				p.over = now
			}
			p.said, p.flaps, p.initial = false, false, false
		}
	}
	return conditions
}

// lingers is how long the condition stays after the problem.
func (p *problem) lingers() time.Duration {
	switch {
	case p.initial:
		return 0
	case p.flaps:
		return calmTime
	}
	return min(2*p.last.Sub(p.since), calmTime)
}
