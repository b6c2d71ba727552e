package forecaster

import (
	"fmt"
	"math"
)

// gate chooses who serves: never worse than free.
type gate struct {
	// serving is the index of the member that serves, −1 while none is calibrated.
	serving int
}

// edge is how much better a challenger must be than who serves: without it the choice would flutter between equals.
const edge = 0.97

// choose looks at the losses of all members. A fitted model serves while it loses no more than the best free one, and
// begins to when it loses 3 % less; among equals in rank a challenger must lose 3 % less, too.
func (g *gate) choose(members []*member) {
	free, fitted := best(members, true), best(members, false)
	if free < 0 && fitted < 0 {
		g.serving = -1
		return
	}
	if g.serving < 0 || !ready(members[g.serving]) {
		g.serving = free
	}
	if g.serving >= 0 && !members[g.serving].free && free >= 0 && loss(members[g.serving]) > loss(members[free]) {
		g.serving = free // Demoted at once.
	}
	for _, challenger := range []int{free, fitted} {
		if challenger >= 0 && (g.serving < 0 || loss(members[challenger]) < edge*loss(members[g.serving])) {
			g.serving = challenger
		}
	}
}

// best is the ready member of least loss among the free or the fitted ones; the first of equals, −1 for none.
func best(members []*member, free bool) int {
	at := -1
	for i, m := range members {
		if m.free == free && ready(m) && (at < 0 || loss(m) < loss(members[at])) {
			at = i
		}
	}
	return at
}

// ready: calibrated on the lead window and scored since.
func ready(m *member) bool { return m.calibrated(m.own) && m.loss.weight >= 1 }

func loss(m *member) float64 { return m.loss.mean() }

// reason says in a sentence why the member at serving serves.
func (g *gate) reason(members []*member) string {
	if g.serving < 0 {
		return fmt.Sprintf("no model has seen %d windows yet", fewest)
	}
	m := members[g.serving]
	last := members[0]
	switch {
	case m.free && best(members, false) < 0:
		return m.title + " serves: no fitted model is ready"
	case m.free:
		rival := members[best(members, false)]
		return fmt.Sprintf("%s serves: no fitted model beats it by 3 %% (loss %.4g, best of the fitted %s %.4g)",
			m.title, loss(m), rival.title, loss(rival))
	case best(members, true) < 0:
		return m.title + " serves: no free baseline is ready"
	}
	rival := members[best(members, true)]
	return fmt.Sprintf("%s serves: loss %.4g against %.4g of %s, the best of the free ones (%.4g last value)",
		m.title, loss(m), loss(rival), rival.title, loss(last))
}

// skill is 1 − loss/loss of the last value; NaN until both are known, 0 where both are perfect.
func skill(m, last *member) float64 {
	if loss(m) == 0 && loss(last) == 0 {
		return 0
	}
	s := 1 - loss(m)/loss(last)
	if math.IsInf(s, 0) {
		return math.NaN()
	}
	return s
}
