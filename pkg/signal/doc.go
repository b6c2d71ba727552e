// Package signal turns the name of a demand signal and a workload into PromQL that yields one series: the workload's
// total demand.
//
// A Preset is a query that is ours, by server or exporter ("vllm/inflight"); it carries the Forecast's namespace and
// finds the target's pods through their owners. A Source is such a server, with its presets and what it does not report. A tenant's own query is confined to its namespace by Confine, or only
// checked by Check where the tenant may see the whole cluster. Nothing here runs a query.
package signal
