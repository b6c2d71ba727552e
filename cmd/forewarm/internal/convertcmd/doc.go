// Package convertcmd is the command "convert": it writes Forecasts for the metrics that HPAs read from prometheus-adapter and
// that ScaledObjects read from a Prometheus. It changes nothing.
package convertcmd
