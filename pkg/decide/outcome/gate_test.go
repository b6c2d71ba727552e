package outcome

import (
	"strings"
	"testing"
)

// hours of one score after the other; it returns who serves.
func hours(g *gate, n int, all ...Candidate) string {
	for range n {
		g.choose(all, func(c Candidate) float64 { return c.Cost })
	}
	return all[g.serving].Name
}

func met(name string, cost float64) Candidate { return Candidate{Name: name, Cost: cost, Meets: true} }

func missed(name string, cost float64) Candidate { return Candidate{Name: name, Cost: cost} }

func TestGate(t *testing.T) {
	t.Run("a cheaper one is promoted when it was for long enough", func(t *testing.T) {
		var g gate
		if got := hours(&g, promotion-1, met("a", 2), met("b", 1.9)); got != "a" {
			t.Errorf("%s serves too early", got)
		}
		if got := hours(&g, 1, met("a", 2), met("b", 1.9)); got != "b" || !strings.Contains(g.why, "b took over") {
			t.Errorf("%s serves: %s", got, g.why)
		}
	})
	t.Run("an hour without begins it anew", func(t *testing.T) {
		var g gate
		hours(&g, promotion-1, met("a", 2), met("b", 1.9))
		hours(&g, 1, met("a", 2), met("b", 1.99))
		if got := hours(&g, promotion-1, met("a", 2), met("b", 1.9)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("another challenger begins anew", func(t *testing.T) {
		var g gate
		hours(&g, promotion-1, met("a", 2), met("b", 1.9), met("c", 1.95))
		if got := hours(&g, promotion-1, met("a", 2), met("b", 1.95), met("c", 1.9)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("a little cheaper is not enough", func(t *testing.T) {
		var g gate
		if got := hours(&g, 1000, met("a", 2), met("b", 1.95)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("who no longer meets the objective is replaced at once", func(t *testing.T) {
		var g gate
		if got := hours(&g, 1, missed("a", 2), met("b", 2.5)); got != "b" || !strings.Contains(g.why, "no longer meets") {
			t.Errorf("%s serves: %s", got, g.why)
		}
	})
	t.Run("but not at any cost", func(t *testing.T) {
		var g gate
		if got := hours(&g, 1000, missed("a", 2), met("b", 4)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
	t.Run("where none meets it nothing changes", func(t *testing.T) {
		var g gate
		if got := hours(&g, 1000, missed("a", 2), missed("b", 1)); got != "a" {
			t.Errorf("%s serves", got)
		}
	})
}
