package signal

// vllm is the presets on vLLM's own metrics.
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
		Note: "Holds wherever vLLM's own metrics are scraped: under KServe and llm-d, too. The KV cache is known by its former " +
			"name as well (gpu_cache_usage_perc).",
		Presets: []Preset{
			inflight("vllm", func(s scope) string { return s.inflight(running, waiting) }),
			arrivals("vllm", "Requests that arrive per second: first tokens per second plus the growth of the queue, "+
				"so that it holds under saturation too. A gateway's own count is better where there is one.",
				func(s scope) string { return s.arrivals(begun, waiting) }),
			queue("vllm", func(s scope) string { return s.total(s.perPod(waiting)) }),
			caches("vllm", func(s scope) string { return s.caches(cache) }),
		},
	}
}
