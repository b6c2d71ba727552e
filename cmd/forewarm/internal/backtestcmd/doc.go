// Package backtestcmd is the command "backtest": how well forewarm's models would have forecast a demand's own history,
// beside what costs nothing.
//
// The history is played to every model as it would have come (package [backtest]), fitted anew as the server does, and the
// maxima that it forecasts are calibrated as the server calibrates them. All models are judged on the same values. Folds
// are worked on in the order of time, all models at once, so that an interruption leaves a shorter backtest and not a
// lopsided one.
package backtestcmd
