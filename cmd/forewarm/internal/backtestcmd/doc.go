// Package backtestcmd is the command "backtest": how well Forewarm's models would have forecast a demand's history,
// compared with baselines.
//
// Every model gets the history as it would have arrived (package [backtest]), is refitted as in the server, and its
// window peak forecasts are calibrated as in the server. All models are judged on the same values. Folds run in the
// order of time, all models at once, so that an interruption leaves a shorter backtest, not an unbalanced one.
package backtestcmd
