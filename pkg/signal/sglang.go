package signal

// sglang is the presets for SGLang's own metrics.
//
//nolint:dupl // Two servers of one kind.
func sglang() Source {
	// The ranks of a tensor-parallel engine may each report the same figure (--enable-metrics-for-all-schedulers), and
	// a priority scheduler reports its classes beside the whole: neither may add up, and the greatest is the engine's.
	gauge := func(name string) metric {
		return metric{names: []string{name}, distinct: []string{"engine_type", "dp_rank", "model_name"}}
	}
	running, waiting := gauge("sglang:num_running_reqs"), gauge("sglang:num_queue_reqs")
	cache := gauge("sglang:token_usage")
	// Counted before the scheduler, where there are no ranks; users may add labels of their own.
	begun := metricNamed("sglang:time_to_first_token_seconds_count")
	return Source{
		Name:  "sglang",
		Title: "SGLang",
		Note: "Start the server with --enable-metrics. With separate prefill and decode servers, create a Forecast for each; the " +
			"queues of the transfer between them do not count.",
		Presets: []Preset{
			inflightPreset("sglang", func(s scope) string { return s.inflight(running, waiting) }),
			arrivalsPreset("sglang", "Requests that arrive per second: first tokens per second plus the growth of the "+
				"queue, so that it holds under saturation. A gateway's own count is better if there is one.",
				func(s scope) string { return s.arrivals(begun, waiting) }),
			queuePreset("sglang", func(s scope) string { return s.total(s.perPod(waiting)) }),
			kvCachePreset("sglang", func(s scope) string { return s.kvCaches(cache) }),
		},
		Lateness: []Preset{
			queueTimePreset("sglang", inSeconds("sglang:queue_time_seconds")),
			firstTokenPreset("sglang", inSeconds("sglang:time_to_first_token_seconds")),
		},
	}
}
