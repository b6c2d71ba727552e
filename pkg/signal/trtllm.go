package signal

import "fmt"

// trtllm is the presets for trtllm-serve, TensorRT-LLM's own server. Behind Triton, Triton reports its engine's
// metrics.
func trtllm() Source {
	of := func(name string) metric {
		return metric{names: []string{name}, distinct: []string{"model_name", "engine_type"}}
	}
	running, waiting := of("trtllm_num_requests_running"), of("trtllm_num_requests_waiting")
	cache := of("trtllm_kv_cache_utilization")
	// By the reason of their end.
	completed := metricNamed("trtllm_request_success_total")
	return Source{
		Name:  "trtllm",
		Title: "TensorRT-LLM (trtllm-serve)",
		Note: "Served at /prometheus/metrics; switch on the server's iteration statistics (enable_iter_perf_stats) and " +
			"request metrics (return_perf_metrics). Releases without running and waiting requests have no series. Behind Triton " +
			"use triton.",
		Presets: []Preset{
			inflightPreset("trtllm", func(s scope) string { return s.inflight(running, waiting) }),
			arrivalsPreset(
				"trtllm",
				"Requests that arrive per second: completions per second plus the growth of those running "+
					"and waiting, so that it holds under saturation. Aborted requests do not count.",
				func(s scope) string {
					return s.total(fmt.Sprintf(`clamp_min(%s + (%s + %s) / %d, 0)`, s.perPod(completed.rate()),
						s.perPod(running.delta()), s.perPod(waiting.delta()), windowSeconds))
				},
			),
			queuePreset("trtllm", func(s scope) string { return s.total(s.perPod(waiting)) }),
			kvCachePreset("trtllm", func(s scope) string { return s.kvCaches(cache) }),
		},
		Lateness: []Preset{
			queueTimePreset("trtllm", inSeconds("trtllm_request_queue_time_seconds")),
			firstTokenPreset("trtllm", inSeconds("trtllm_time_to_first_token_seconds")),
		},
	}
}
