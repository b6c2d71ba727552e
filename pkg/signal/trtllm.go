package signal

import "fmt"

// trtllm is the presets on trtllm-serve, TensorRT-LLM's own server. Its engine behind Triton reports to Triton.
func trtllm() Source {
	of := func(name string) metric {
		return metric{names: []string{name}, distinct: []string{"model_name", "engine_type"}}
	}
	running, waiting := of("trtllm_num_requests_running"), of("trtllm_num_requests_waiting")
	cache := of("trtllm_kv_cache_utilization")
	// By the reason why they finished.
	completed := named("trtllm_request_success_total")
	return Source{
		Name:  "trtllm",
		Title: "TensorRT-LLM (trtllm-serve)",
		Note: "Served at /prometheus/metrics; the server must keep its iteration statistics (enable_iter_perf_stats) and its " +
			"requests' metrics (return_perf_metrics). Releases that do not report what runs and waits yield no series. " +
			"Behind Triton use triton.",
		Presets: []Preset{
			inflight("trtllm", func(s scope) string { return s.inflight(running, waiting) }),
			arrivals("trtllm", "Requests that arrive per second: completions per second plus the growth of what runs "+
				"and waits, so that it holds under saturation too. Requests that are given up do not count.",
				func(s scope) string {
					return s.total(fmt.Sprintf(`clamp_min(%s + (%s + %s) / %d, 0)`, s.perPod(completed.rate()),
						s.perPod(running.delta()), s.perPod(waiting.delta()), windowSeconds))
				}),
			queue("trtllm", func(s scope) string { return s.total(s.perPod(waiting)) }),
			caches("trtllm", func(s scope) string { return s.caches(cache) }),
		},
	}
}
