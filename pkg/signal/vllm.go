package signal

// vllm is the presets for vLLM's own metrics.
//
//nolint:dupl // Two servers of one kind.
func vllm() Source {
	// A pod has one series per engine (data parallelism), model and port.
	of := func(names ...string) metric {
		return metric{names: names, distinct: []string{"engine", "model_name"}}
	}
	running, waiting := of("vllm:num_requests_running"), of("vllm:num_requests_waiting")
	begun := of("vllm:time_to_first_token_seconds_count")
	cache := of("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc")
	return Source{
		Name:  "vllm",
		Title: "vLLM",
		Note: "Works wherever vLLM's own metrics are scraped, also under KServe and llm-d. The former name of the KV cache " +
			"metric (gpu_cache_usage_perc) works too.",
		Presets: []Preset{
			inflightPreset("vllm", func(s scope) string { return s.inflight(running, waiting) }),
			arrivalsPreset("vllm",
				"Requests that arrive per second: first tokens per second plus the growth of the queue, so that "+
					"it holds under saturation. A gateway's own count is better if there is one.",
				func(s scope) string { return s.arrivals(begun, waiting) }),
			queuePreset("vllm", func(s scope) string { return s.total(s.perPod(waiting)) }),
			kvCachePreset("vllm", func(s scope) string { return s.kvCaches(cache) }),
		},
		Lateness: []Preset{
			queueTimePreset("vllm", inSeconds("vllm:request_queue_time_seconds")),
			firstTokenPreset("vllm", inSeconds("vllm:time_to_first_token_seconds")),
		},
	}
}
