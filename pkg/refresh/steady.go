package refresh

import (
	"slices"
	"time"

	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

const (
	// A problem that comes back within flapTime comes and goes. Its condition then stays until it has been over for calmTime.
	flapTime = time.Hour
	calmTime = 30 * time.Minute
)

// problem is what was last said of a problem.
type problem struct {
	condition snapshot.Condition
	// last is when it was there, over when it was last said to be over. flaps: it comes and goes.
	last, over time.Time
	said       bool
	flaps      bool
}

// steady keeps the conditions of problems that come and go, so that they do not change with them.
func (w *worker) steady(conditions []snapshot.Condition, now time.Time) []snapshot.Condition {
	for _, kind := range []string{snapshot.ConditionSource, snapshot.ConditionData, snapshot.ConditionSignal} {
		at := slices.IndexFunc(conditions, func(c snapshot.Condition) bool { return c.Type == kind })
		p := w.problems[kind]
		switch bad := at >= 0 && !conditions[at].True; {
		case bad && p == nil:
			w.problems[kind] = &problem{condition: conditions[at], last: now, said: true}
		case bad:
			p.flaps = p.flaps || !p.said && now.Sub(p.over) < flapTime
			p.condition, p.last, p.said = conditions[at], now, true
		case p == nil || !p.said:
		case p.flaps && now.Sub(p.last) < calmTime:
			c := p.condition
			c.Message += "; it comes and goes, and is not there now"
			if at < 0 {
				conditions = append(conditions, c)
			} else {
				conditions[at] = c
			}
		default:
			p.said, p.flaps, p.over = false, false, now
		}
	}
	return conditions
}
