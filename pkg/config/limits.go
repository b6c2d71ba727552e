package config

import "time"

// The limits of a Forecast. They keep one object from costing more than its share of memory, queries or time.
const (
	// MinStep is the shortest step; steps are whole seconds.
	MinStep = time.Second
	// MaxPoints bounds history ÷ step: 14 days at 15 s are 80,640.
	MaxPoints = 120_000
	// MinPoints is the shortest history in steps that says anything.
	MinPoints = 10
	// MaxHistory bounds how far back a query may ask.
	MaxHistory = 400 * 24 * time.Hour
	// MaxLead is the longest lead time.
	MaxLead = 2 * time.Hour
	// MaxWindowSteps bounds the lead window ÷ step: models forecast every step of it at every refresh.
	MaxWindowSteps = 1_000
	// MaxStaleAfter is the longest that a value may be served without a new sample.
	MaxStaleAfter = 24 * time.Hour
	// MaxWait is the longest wait of an objective.
	MaxWait = time.Hour
	// MaxCostRatio is the largest cost ratio.
	MaxCostRatio = 1_000_000
	// MaxSeasons bounds the list of seasons.
	MaxSeasons = 2
	// MaxModels bounds the list of models.
	MaxModels = 16
	// MaxQuery bounds a query, in bytes.
	MaxQuery = 8192
)

// minStaleAfter is the least age beyond which a Forecast without staleAfter stops: missed scrapes are common.
const minStaleAfter = 10 * time.Minute
