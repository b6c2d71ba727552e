package outcome_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/decide/outcome"
)

func met(name string, cost float64) outcome.Candidate {
	return outcome.Candidate{Name: name, Cost: cost, Meets: true}
}

func missed(name string, cost float64) outcome.Candidate {
	return outcome.Candidate{Name: name, Cost: cost}
}

func TestGate(t *testing.T) {
	t.Run("a cheaper one is promoted when it was for long enough", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(outcome.Promotion-1, met("a", 2), met("b", 1.94)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := g.Hours(1, met("a", 2), met("b", 1.94)); got != "b" || !strings.Contains(g.Why(), "b took over") {
			t.Errorf("%s serves: %s", got, g.Why())
		}
	})
	t.Run("twice as much takes half as long", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(outcome.Promotion/2-1, met("a", 2), met("b", 1.88)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := g.Hours(1, met("a", 2), met("b", 1.88)); got != "b" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("but a day at least", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(outcome.LeastPromotion-1, met("a", 2), met("b", 0.2)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := g.Hours(1, met("a", 2), met("b", 0.2)); got != "b" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("an hour without begins it anew", func(t *testing.T) {
		var g outcome.Gate
		g.Hours(outcome.Promotion-1, met("a", 2), met("b", 1.94))
		g.Hours(1, met("a", 2), met("b", 1.99))
		if got := g.Hours(outcome.Promotion-1, met("a", 2), met("b", 1.94)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("another challenger begins anew", func(t *testing.T) {
		var g outcome.Gate
		g.Hours(outcome.Promotion-1, met("a", 2), met("b", 1.94), met("c", 1.95))
		if got := g.Hours(outcome.Promotion-1, met("a", 2), met("b", 1.95), met("c", 1.94)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("a little cheaper is not enough", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(1000, met("a", 2), met("b", 1.95)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("who no longer meets the objective is replaced at once", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(
			1,
			missed("a", 2),
			met("b", 2.5),
		); got != "b" ||
			!strings.Contains(g.Why(), "no longer meets") {
			t.Errorf("%s serves: %s", got, g.Why())
		}
	})
	t.Run("but not at any cost", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(1000, missed("a", 2), met("b", 4)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("where none meets it nothing changes", func(t *testing.T) {
		var g outcome.Gate
		if got := g.Hours(1000, missed("a", 2), missed("b", 1)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("at a price the dearer is the cheaper where less is late", func(t *testing.T) {
		var g outcome.Gate
		a, b := met("a", 1.7), met("b", 1.8)
		a.Late, b.Late = 0.02, 0.001
		const want = "b took over at a cost of 1.8 with 0.1% late: a would cost 1.7 with 2% late"
		if got := g.AtPrice(20, outcome.Promotion, a, b); got != "b" || !strings.HasPrefix(g.Why(), want) {
			t.Errorf("%s serves: %s", got, g.Why())
		}
	})
}
