package signal

// kvCacheSummary is that of most servers.
const kvCacheSummary = "KV caches in use, counted in replicas: the mean over a replica's engines, summed over replicas. " +
	"Saturates at the number of replicas: use it as a second metric beside the requests in flight."

// The presets that servers have in common.

func inflightPreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/inflight",
		Brief: "scale on it: hides no demand",
		Summary: "Requests in flight on the target's pods, running and waiting. Grows without limit while the " +
			"service is saturated, so it hides no demand. The first choice for scaling.",
		Target: "requests in flight that one replica serves at full load with good latency",
		Unit:   "requests", template: template,
	}
}

func arrivalsPreset(source, summary string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/arrivals",
		Brief:   "arriving demand; for requests of similar size",
		Summary: summary,
		Target:  "requests per second that one replica completes at full load",
		Unit:    "requests/s", Rate: true, template: template,
	}
}

func queuePreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/queue",
		Brief: "second metric, or signal.saturated",
		Summary: "Requests that wait on the target's pods. Zero until it is too late, so it cannot be forecast. Use it as a second, " +
			"reactive metric of the HPA, or to mark another signal as saturated (spec.signal.saturated).",
		Target:   "requests that may wait per replica: few",
		Unit:     "requests",
		template: template,
	}
}

func kvCachePreset(source string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/kv-cache",
		Brief:   "second metric if memory is the limit",
		Summary: kvCacheSummary,
		Target:  "the usable share of a replica's cache: 0.8",
		Unit:    "KV caches", template: template,
	}
}

// withSummary replaces a preset's summary, for a server whose figure differs from the others'.
func (p Preset) withSummary(summary string) Preset {
	p.Summary = summary
	return p
}
