package signal

import "fmt"

// triton is the presets for NVIDIA's Triton Inference Server.
func triton() Source {
	engine := func(matchers string) metric {
		return metric{names: []string{"nv_trt_llm_request_metrics"}, matchers: matchers}
	}
	pending := metricNamed("nv_inference_pending_request_count")
	succeeded, failed := metricNamed("nv_inference_request_success"), metricNamed("nv_inference_request_failure")
	spent, queued := metricNamed("nv_inference_request_duration_us"), metricNamed("nv_inference_queue_duration_us")
	waiting := engine(`request_type="waiting"`)
	cache := metric{
		names: []string{"nv_trt_llm_kv_cache_block_metrics"}, matchers: `kv_cache_block_type="fraction"`,
		distinct: []string{"model", "version"},
	}
	return Source{
		Name:  "triton",
		Title: "Triton Inference Server",
		Note: "Older releases do not report pending requests: only running ones count then. An ensemble counts at each of its " +
			"models, so set the target in the same count, or write a query for one model. The nv_trt_llm metrics are those of the " +
			"TensorRT-LLM backend.",
		Presets: []Preset{
			inflightPreset("triton", func(s scope) string {
				executing := fmt.Sprintf(`clamp_min(%s - %s, 0) / 1e6`, s.perPod(spent.rate()), s.perPod(queued.rate()))
				running := `(` + s.perPod(engine(`request_type=~"scheduled|waiting"`)) + ` or ` + executing + `)`
				return s.total(sumPerPod(s.perPod(pending), running))
			}).withSummary("Requests in flight on the target's pods: those pending and those executing. The latter is " +
				"the TensorRT-LLM backend's own count or else, by Little's law, the time that requests spent executing per second. " +
				"That mean counts a request when it is done: exact for short requests, late for long ones. Grows under saturation."),
			arrivalsPreset(
				"triton",
				"Requests that arrive per second: those done, with or without success, plus the growth "+
					"of those pending, so that it holds under saturation.",
				func(s scope) string {
					return s.total(sumAboveZero(s.perPod(succeeded.rate()), s.perPod(failed.rate()), s.growth(pending)))
				},
			),
			queuePreset("triton",
				func(s scope) string { return s.total(sumPerPod(s.perPod(pending), s.perPod(waiting))) }),
			kvCachePreset("triton", func(s scope) string { return s.kvCaches(cache) }).withSummary(kvCacheSummary +
				" Only for models of the TensorRT-LLM backend."),
		},
		Unsupported: []Unsupported{
			{"queue-time", "Triton reports the sum of the times in its queue, and no histogram of them: a mean " +
				"says nothing about who waits longest; use gateway/queue-time, or a query of the ingress' histogram"},
		},
	}
}
