package outcome

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/workload"
)

// accountHours are kept: a week.
const accountHours = 7 * 24

// accounts are what came of the value that was served, and of the observed demand, under the first autoscaler.
type accounts struct {
	shadows *workload.Shadows
	values  []float64
	// hours are the newest, a ring; seen counts all of them.
	hours []account
	seen  int
	// peak of what arrived in the hour under way.
	peak float64
}

// account is one hour.
type account struct {
	served, observed Account
	capped, peak     float64
}

func newAccounts(c Config) (*accounts, error) {
	played, err := workload.NewShadows(c.Autoscalers[0].Spec, 2, c.Start, c.Shape.Step)
	return &accounts{shadows: played, values: []float64{math.NaN(), math.NaN()}}, err
}

// serve sets the values of the coming step.
func (a *accounts) serve(served, observed float64) { a.values[0], a.values[1] = served, observed }

// play plays the step that has ended.
func (a *accounts) play(arrived float64) {
	a.shadows.Play(a.values, arrived)
	if arrived > a.peak {
		a.peak = arrived
	}
}

func (a *accounts) anHour() bool { return a.shadows.AnHour() }

// hour closes the hour that has ended.
func (a *accounts) hour() {
	s := a.shadows.Score()
	one := account{
		served:   Account{Arrived: s.Arrived, Late: s.Late[0], Paid: s.Paid[0]},
		observed: Account{Arrived: s.Arrived, Late: s.Late[1], Paid: s.Paid[1]},
		capped:   s.Capped[0], peak: a.peak,
	}
	a.shadows.Reset()
	a.peak = 0
	if len(a.hours) < accountHours {
		a.hours = append(a.hours, one)
	} else {
		a.hours[a.seen%accountHours] = one
	}
	a.seen++
}

// total is that of the hours kept.
func (a *accounts) total() (sum account, over time.Duration) {
	for _, h := range a.hours {
		sum.served = sum.served.plus(h.served)
		sum.observed = sum.observed.plus(h.observed)
		sum.capped += h.capped
		sum.peak = math.Max(sum.peak, h.peak)
	}
	return sum, time.Duration(len(a.hours)) * time.Hour
}

func (a Account) plus(b Account) Account {
	return Account{Arrived: a.Arrived + b.Arrived, Late: a.Late + b.Late, Paid: a.Paid + b.Paid}
}
