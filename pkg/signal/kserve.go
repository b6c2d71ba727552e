package signal

// kserve is the presets for Knative's queue-proxy in front of a model server (Serverless mode), and for KServe's own
// Python servers.
func kserve() Source {
	// The queue-proxy's depth includes requests in service. OpenTelemetry's names are first; they changed within a
	// year.
	held := metricNamed("kn_serving_queue_depth", "kn_queueproxy_depth", "revision_queue_depth",
		"queue_average_concurrent_requests")
	done := metricNamed("kn_serving_invocation_duration_seconds_count", "kn_queueproxy_app_duration_seconds_count",
		"revision_request_count", "request_predict_seconds_count")
	return Source{
		Name:  "kserve",
		Title: "KServe, and Knative's queue-proxy",
		Note: "The queue-proxy exists in Serverless (Knative) mode only. In Standard mode scale on the runtime's own preset, " +
			"such as vllm/inflight, with the Deployment NAME-predictor as target. For an LLMInferenceService, too, use the runtime's " +
			"preset, with its Deployment NAME-kserve as target (over several nodes the LeaderWorkerSet NAME-kserve-mn), which has the " +
			"scale subresource that an HPA needs; separate prefill pods are another workload. Scrape port 9091 of the pods.",
		Presets: []Preset{
			inflightPreset("kserve", func(s scope) string { return s.total(s.perPod(held)) }).withSummary(
				"Requests in flight at the queue-proxies of the target's pods, in service and waiting. Not reported by revisions " +
					"with unlimited concurrency (containerConcurrency: 0). Requests that Knative's activator holds without pods do not count."),
			arrivalsPreset("kserve", "Requests that arrive per second: those answered plus the growth of those in "+
				"flight. Without a queue-proxy, the predictions of KServe's own servers, which stop growing under "+
				"saturation.",
				func(s scope) string { return s.total(sumAboveZero(s.perPod(done.rate()), s.growth(held))) }),
		},
		Lateness: []Preset{
			latenessPreset("kserve/request-duration", "measured lateness: time to the answer",
				"Share of the requests that Knative's queue-proxy answered after the wait: in its queue and in "+
					"service, but not in the activator. For models that answer in much less than the wait.",
				scope.total, inSeconds("kn_serving_invocation_duration_seconds"),
				histogram{"revision_request_latencies", 1000}),
		},
		Unsupported: []Unsupported{
			{
				"queue-time",
				"the queue-proxy and KServe's servers have no histogram of the time in the queue, and the activator's names no " +
					"pods; use kserve/request-duration, or the runtime's own preset, such as vllm/queue-time",
			},
			{"queue", "the queue-proxy counts waiting and running requests together; use kserve/inflight"},
			{
				"kv-cache",
				"KServe does not report its runtimes' caches; use the runtime's own preset, such as vllm/kv-cache",
			},
		},
	}
}
