package server

import (
	"slices"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/config"
	"github.com/forewarm/forewarm/pkg/signal"
)

// Tenancy is how a namespace's own queries are held to what it may read.
type Tenancy struct {
	// Label that every selector of a query must carry with the namespace's name.
	Label string
	// Free are namespaces whose queries are not confined.
	Free []string
}

// Catalogue is package signal as package config wants it.
type Catalogue struct {
	tenancy Tenancy
}

var _ config.Catalogue = Catalogue{}

// NewCatalogue makes a catalogue with all presets.
func NewCatalogue(tenancy Tenancy) Catalogue { return Catalogue{tenancy: tenancy} }

// Render implements config.Catalogue.
func (Catalogue) Render(preset, namespace string, target v1alpha1.TargetRef) (config.Rendered, error) {
	p, err := signal.Lookup(preset)
	if err != nil {
		return config.Rendered{}, err
	}
	expr, err := p.Render(namespace, signal.Target{Kind: target.Kind, Name: target.Name})
	if err != nil {
		return config.Rendered{}, err
	}
	return config.Rendered{Expr: expr, Unit: p.Unit, Rate: p.Rate, Lookback: signal.Lookback(expr)}, nil
}

// Confine implements config.Catalogue.
func (c Catalogue) Confine(query, namespace string) (config.Rendered, error) {
	if slices.Contains(c.tenancy.Free, namespace) {
		if err := signal.Check(query); err != nil {
			return config.Rendered{}, err
		}
		return config.Rendered{Expr: query, Rate: signal.IsRate(query), Lookback: signal.Lookback(query)}, nil
	}
	expr, err := signal.Confine(query, c.tenancy.Label, namespace)
	if err != nil {
		return config.Rendered{}, err
	}
	return config.Rendered{Expr: expr, Rate: signal.IsRate(expr), Lookback: signal.Lookback(expr)}, nil
}
