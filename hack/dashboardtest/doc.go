// Package dashboardtest reads the chart's Grafana dashboards and runs their queries on Prometheus' own engine, with
// variables put in as Grafana does.
package dashboardtest
