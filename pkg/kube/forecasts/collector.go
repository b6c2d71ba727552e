package forecasts

import (
	"maps"
	"slices"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/manifest"
)

var _ prometheus.Collector = (*Objects)(nil)

var (
	replicasDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
		"forewarm_workload_replicas",
		"Replicas of the workload of a Forecast by state: wanted (requested in the scale of the workload, read every ten minutes), ready, "+
			"and unready (pods that wait for a node, start or fail). Absent while Forewarm does not watch the pods.",
		[]string{"namespace", "forecast", "state"},
		nil,
	)
	missingDesc = prometheus.NewDesc( //nolint:gochecknoglobals // A constant.
		"forewarm_autoscaler_forecast_missing", "1 for an autoscaler that reads a Forecast that does not exist.",
		[]string{"namespace", "autoscaler", "forecast"}, nil)
)

// SetExternalHeld sets what reports whether External metrics are Forewarm's: else a name that is no Forecast's may be another
// server's. Call it before Collect; default they are not.
func (o *Objects) SetExternalHeld(held func() bool) { o.externalHeld = held }

// Describe implements prometheus.Collector.
func (*Objects) Describe(out chan<- *prometheus.Desc) {
	out <- replicasDesc
	out <- missingDesc
}

// Collect sends the replicas of the workloads, and the autoscalers that name no Forecast; nothing before the Forecasts were read.
func (o *Objects) Collect(out chan<- prometheus.Metric) {
	if o.Check() != nil {
		return
	}
	o.mu.Lock()
	all, holders := maps.Clone(o.resolved), o.aliasHolders()
	o.mu.Unlock()
	for key, r := range all {
		if replicas, known := o.pods.Replicas(r.workload); known {
			send := func(state string, n int) {
				out <- prometheus.MustNewConstMetric(replicasDesc, prometheus.GaugeValue, float64(n), key.Namespace, key.Name, state)
			}
			send("wanted", replicas.Wanted)
			send("ready", replicas.Ready)
			send("unready", replicas.Living-replicas.Ready)
		}
	}
	o.collectMissing(out, all, holders)
}

// collectMissing sends the autoscalers that read neither an existing Forecast nor a Forecast's alias.
func (o *Objects) collectMissing(
	out chan<- prometheus.Metric, all map[snapshot.Key]*resolution, holders map[snapshot.Key]snapshot.Key,
) {
	for _, key := range o.autoscalers.Named() {
		if all[key] != nil {
			continue
		}
		var sent []string
		for _, r := range o.autoscalers.References(key) {
			if _, held := holders[r.Alias]; held || key == r.Alias { // A Forecast has this alias, or the key is one.
				continue
			}
			if !slices.Contains(sent, r.Autoscaler) && (o.externalHeld() || !isExternal(&r)) {
				sent = append(sent, r.Autoscaler)
				out <- prometheus.MustNewConstMetric(missingDesc, prometheus.GaugeValue, 1, key.Namespace, r.Autoscaler, key.Name)
			}
		}
	}
}

// isExternal reports whether an autoscaler reads a Forecast through an External metric. It is also true for an autoscaler that is rejected,
// because then the type of its metric is unknown.
func isExternal(r *manifest.Reference) bool {
	metrics := r.Spec.Metrics
	return !r.IsScaledObject() && (len(metrics) == 0 || metrics[0].Source == hpa.External)
}
