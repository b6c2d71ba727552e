package signal

// What the presets of most servers say alike.
const (
	briefInflight = "scale on it: hides no demand"
	briefArrivals = "demand as it comes; for requests of like size"
	briefQueue    = "second metric, or signal.saturated"
	briefCaches   = "second metric, where memory is the limit"

	summaryInflight = "Requests in flight on the target's pods, running and waiting: grows without bound when the service " +
		"is saturated, so it hides no demand. The first choice for scaling."
	summaryQueue = "Requests that wait on the target's pods. Zero until it is too late, so no demand to forecast: a second, " +
		"reactive metric of the HPA, or what says that a signal is saturated (spec.signal.saturated)."
	summaryCaches = "KV caches in use, counted in replicas: the mean over a replica's engines, summed over replicas. " +
		"Saturates at the number of replicas: a second metric beside the requests in flight."

	targetInflight = "requests that one replica carries at once at full load, its latency still good"
	targetArrivals = "requests per second that one replica completes at full load"
	targetQueue    = "requests that may wait for each replica: few"
	targetCaches   = "how full a replica's cache may be: 0.8"

	unitRequests = "requests"
	unitRate     = "requests/s"
	unitCaches   = "KV caches"
)

// inflight, arrivals, queue and caches are the presets that servers have in common.

func inflight(source string, template func(scope) string) Preset {
	return Preset{
		Name: source + "/inflight", Brief: briefInflight, Summary: summaryInflight, Target: targetInflight,
		Unit: unitRequests, template: template,
	}
}

func arrivals(source, summary string, template func(scope) string) Preset {
	return Preset{
		Name: source + "/arrivals", Brief: briefArrivals, Summary: summary, Target: targetArrivals,
		Unit: unitRate, Rate: true, template: template,
	}
}

func queue(source string, template func(scope) string) Preset {
	return Preset{
		Name: source + "/queue", Brief: briefQueue, Summary: summaryQueue, Target: targetQueue,
		Unit: unitRequests, template: template,
	}
}

func caches(source string, template func(scope) string) Preset {
	return Preset{
		Name: source + "/kv-cache", Brief: briefCaches, Summary: summaryCaches, Target: targetCaches,
		Unit: unitCaches, template: template,
	}
}

// saying replaces a preset's summary where a server's figure is not quite what the others' is.
func (p Preset) saying(summary string) Preset {
	p.Summary = summary
	return p
}
