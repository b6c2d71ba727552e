package outcome

import (
	"math"
	"time"

	"github.com/forewarm/forewarm/pkg/core/hpasim"
	"github.com/forewarm/forewarm/pkg/core/trailing"
)

// accountHours are kept: a week.
const accountHours = 7 * 24

// accounts are what came of the value that was served, and of the observed demand, under the first autoscaler.
type accounts struct {
	shadows *hpasim.Shadows
	values  []float64
	hours   trailing.Ring[hour] // the newest
	// peak of what arrived in the hour under way.
	peak float64
}

// hour is what of one is kept: of what was late and paid, by the value served and by the observed demand.
type hour struct {
	arrived, capped, peak float64
	late, paid            [2]float64
}

// account is what hours add up to.
type account struct {
	served, observed Account
	capped, peak     float64
}

func newAccounts(c Config) (*accounts, error) {
	played, err := hpasim.NewShadows(c.Autoscalers[0].Spec, 2, c.Start, c.Step)
	return &accounts{
		shadows: played, values: []float64{math.NaN(), math.NaN()}, hours: trailing.NewGrowing[hour](accountHours),
	}, err
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
	one := hour{arrived: s.Arrived, capped: s.Capped[0], peak: a.peak}
	copy(one.late[:], s.Late)
	copy(one.paid[:], s.Paid)
	a.shadows.Reset()
	a.peak = 0
	a.hours.Push(one)
}

// total is that of the hours kept.
func (a *accounts) total() (sum account, over time.Duration) {
	for _, h := range a.hours.Newest() {
		sum.served = sum.served.plus(Account{Arrived: h.arrived, Late: h.late[0], Paid: h.paid[0]})
		sum.observed = sum.observed.plus(Account{Arrived: h.arrived, Late: h.late[1], Paid: h.paid[1]})
		sum.capped += h.capped
		sum.peak = math.Max(sum.peak, h.peak)
	}
	return sum, time.Duration(a.hours.Len()) * time.Hour
}

func (a Account) plus(b Account) Account {
	return Account{Arrived: a.Arrived + b.Arrived, Late: a.Late + b.Late, Paid: a.Paid + b.Paid}
}
