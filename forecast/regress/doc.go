// Package regress turns the step and the time of an observation into regressors: a drift, the waves of a season, events
// that come again. They are functions of the calendar alone, so that a forecast needs no future input. Package arima
// estimates their coefficients:
//
//	design := regress.Design{
//		regress.Fourier{Period: 168, Harmonics: 4},
//		regress.Event{Start: firstOfNovember, Length: 3 * time.Hour, Every: 24 * time.Hour},
//	}
//	model := arima.Auto{Regressors: design}
package regress
