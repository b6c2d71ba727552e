package signal

// summaryCaches is what most servers' caches are.
const summaryCaches = "KV caches in use, counted in replicas: the mean over a replica's engines, summed over replicas. " +
	"Saturates at the number of replicas: a second metric beside the requests in flight."

// inflight, arrivals, queue and caches are the presets that servers have in common.

func inflight(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/inflight",
		Brief: "scale on it: hides no demand",
		Summary: "Requests in flight on the target's pods, running and waiting: grows without bound when the service " +
			"is saturated, so it hides no demand. The first choice for scaling.",
		Target: "requests that one replica carries at once at full load, its latency still good",
		Unit:   "requests", template: template,
	}
}

func arrivals(source, summary string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/arrivals",
		Brief:   "demand as it comes; for requests of like size",
		Summary: summary,
		Target:  "requests per second that one replica completes at full load",
		Unit:    "requests/s", Rate: true, template: template,
	}
}

func queue(source string, template func(scope) string) Preset {
	return Preset{
		Name:  source + "/queue",
		Brief: "second metric, or signal.saturated",
		Summary: "Requests that wait on the target's pods. Zero until it is too late, so no demand to forecast: a second, " +
			"reactive metric of the HPA, or what says that a signal is saturated (spec.signal.saturated).",
		Target:   "requests that may wait for each replica: few",
		Unit:     "requests",
		template: template,
	}
}

func caches(source string, template func(scope) string) Preset {
	return Preset{
		Name:    source + "/kv-cache",
		Brief:   "second metric, where memory is the limit",
		Summary: summaryCaches,
		Target:  "how full a replica's cache may be: 0.8",
		Unit:    "KV caches", template: template,
	}
}

// saying replaces a preset's summary where a server's figure is not quite what the others' is.
func (p Preset) saying(summary string) Preset {
	p.Summary = summary
	return p
}
