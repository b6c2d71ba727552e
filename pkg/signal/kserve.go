package signal

// kserve is the presets on what KServe puts before or around a model server: Knative's queue-proxy (Serverless mode),
// and the counters of KServe's own Python servers.
func kserve() Source {
	// The queue-proxy's depth holds what is in service, too. OpenTelemetry's names first, which changed within a year.
	held := named("kn_serving_queue_depth", "kn_queueproxy_depth", "revision_queue_depth",
		"queue_average_concurrent_requests")
	done := named("kn_serving_invocation_duration_seconds_count", "kn_queueproxy_app_duration_seconds_count",
		"revision_request_count", "request_predict_seconds_count")
	return Source{
		Name:  "kserve",
		Title: "KServe, and Knative's queue-proxy",
		Note: "The queue-proxy is there in Serverless (Knative) mode only; in Standard mode scale on the runtime's own preset, " +
			"such as vllm/inflight, with the Deployment NAME-predictor for a target. Of an LLMInferenceService too the runtime's preset is " +
			"right, with its Deployment NAME-kserve for a target (a LeaderWorkerSet NAME-kserve-mn over several nodes), which has the " +
			"scale that an HPA wants; what prefills apart is another workload. Scrape port 9091 of the pods.",
		Presets: []Preset{
			inflight("kserve", func(s scope) string { return s.total(s.perPod(held)) }).saying(
				"Requests in flight at the queue-proxies of the target's pods, in service and waiting. Not reported by revisions of " +
					"unlimited concurrency (containerConcurrency: 0). What Knative's activator holds while no pod is there is not seen."),
			arrivals("kserve", "Requests that arrive per second: those answered plus the growth of what is in "+
				"flight. Without a queue-proxy, the predictions of KServe's own servers, which stop growing under "+
				"saturation.",
				func(s scope) string { return s.total(conserved(s.perPod(done.rate()), s.growth(held))) }),
		},
		Lacks: []Lack{
			{"queue", "the queue-proxy counts what waits and what is served together; use kserve/inflight"},
			{"kv-cache", "KServe does not look into its runtimes; use the runtime's own preset, such as vllm/kv-cache"},
		},
	}
}
