package decide_test

import (
	"math"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/core/decide"
)

func met(name string, loss float64) decide.CandidateScore {
	return decide.CandidateScore{Name: name, Loss: loss, Eligible: true}
}

func missed(name string, loss float64) decide.CandidateScore {
	return decide.CandidateScore{Name: name, Loss: loss}
}

// gate is one that sees the same scores for some hours.
type gate struct{ decide.CandidateSelector }

func (g *gate) hours(n int, all ...decide.CandidateScore) (serving string) {
	for range n {
		g.Update(all)
	}
	return all[g.Selected()].Name
}

func (g *gate) words() string { return g.Reason([]decide.CandidateScore{{Name: "a"}}).Message() }

// promotion takes so many hours at an eighth less, and at anything less minPromotion.
const promotion, minPromotion = 128, 72

func TestGate(t *testing.T) {
	t.Run("a cheaper one is promoted when it was for long enough", func(t *testing.T) {
		var g gate
		if got := g.hours(promotion-1, met("a", 2), met("b", 1.75)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := g.hours(1, met("a", 2), met("b", 1.75)); got != "b" || !strings.Contains(g.words(), "b is selected") {
			t.Errorf("%s serves: %s", got, g.words())
		}
	})
	t.Run("however much cheaper", func(t *testing.T) {
		var g gate
		if got := g.hours(minPromotion-1, met("a", 2), met("b", 0.2)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
	})
	t.Run("an hour without starts it again", func(t *testing.T) {
		var g gate
		g.hours(promotion-1, met("a", 2), met("b", 1.75))
		g.hours(1, met("a", 2), met("b", 1.99))
		if got := g.hours(promotion-1, met("a", 2), met("b", 1.75)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("another challenger begins again", func(t *testing.T) {
		var g gate
		g.hours(promotion-1, met("a", 2), met("b", 1.75), met("c", 1.76))
		if got := g.hours(promotion-1, met("a", 2), met("b", 1.76), met("c", 1.75)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("a little cheaper is not enough", func(t *testing.T) {
		var g gate
		if got := g.hours(1000, met("a", 2), met("b", 1.95)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("who no longer meets the objective is replaced after as long", func(t *testing.T) {
		var g gate
		if got := g.hours(159, missed("a", 2), met("b", 2.5)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := g.hours(2, missed("a", 2), met("b", 2.5)); got != "b" ||
			!strings.Contains(g.words(), "no longer meets") {
			t.Errorf("%s serves: %s", got, g.words())
		}
	})
	t.Run("but not at any cost", func(t *testing.T) {
		var g gate
		if got := g.hours(1000, missed("a", 2), met("b", 4)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("where none meets it nothing changes", func(t *testing.T) {
		var g gate
		if got := g.hours(1000, missed("a", 2), missed("b", 1)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("whose loss is not known yet is replaced, too", func(t *testing.T) {
		var g gate
		if got := g.hours(162, missed("a", math.NaN()), met("b", 2)); got != "b" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("the words say by which loss", func(t *testing.T) {
		g := gate{decide.CandidateSelector{Criterion: decide.RelativeCost}}
		if got, want := g.words(), "a is selected: another candidate takes over only after its relative cost has been at least 3% lower for 72 hours or more"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
		g.hours(promotion, met("a", 2), met("b", 1.75))
		const want = "b is selected: it had a lower relative cost than a (1.75 instead of 2) for 128 hours in a row"
		if got := g.words(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}
