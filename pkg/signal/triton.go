package signal

import "fmt"

// triton is the presets on NVIDIA's Triton Inference Server.
func triton() Source {
	engine := func(matchers string) metric {
		return metric{names: []string{"nv_trt_llm_request_metrics"}, matchers: matchers}
	}
	pending := named("nv_inference_pending_request_count")
	succeeded, failed := named("nv_inference_request_success"), named("nv_inference_request_failure")
	spent, queued := named("nv_inference_request_duration_us"), named("nv_inference_queue_duration_us")
	waiting := engine(`request_type="waiting"`)
	cache := metric{
		names: []string{"nv_trt_llm_kv_cache_block_metrics"}, matchers: `kv_cache_block_type="fraction"`,
		distinct: []string{"model", "version"},
	}
	return Source{
		Name:  "triton",
		Title: "Triton Inference Server",
		Note: "Older releases do not report what is pending: what they count then is what runs. An ensemble counts at each of its models, so set the target in the " +
			"same count, or write a query on one model. The nv_trt_llm metrics are those of the TensorRT-LLM backend.",
		Presets: []Preset{
			inflight("triton", func(s scope) string {
				executing := fmt.Sprintf(`clamp_min(%s - %s, 0) / 1e6`, s.perPod(spent.rate()), s.perPod(queued.rate()))
				running := `(` + s.perPod(engine(`request_type=~"scheduled|waiting"`)) + ` or ` + executing + `)`
				return s.total(together(s.perPod(pending), running))
			}).saying("Requests in flight on the target's pods: those pending, and those that execute, which is the " +
				"TensorRT-LLM backend's own count or else, by Little's law, the time that requests spent executing in each second. " +
				"That mean counts a request when it is done: exact for short requests, late for long ones. Grows under saturation."),
			arrivals("triton", "Requests that arrive per second: those done, well or badly, plus the growth of what "+
				"is pending, so that it holds under saturation too.",
				func(s scope) string {
					return s.total(conserved(s.perPod(succeeded.rate()), s.perPod(failed.rate()), s.growth(pending)))
				}),
			queue("triton", func(s scope) string { return s.total(together(s.perPod(pending), s.perPod(waiting))) }),
			caches("triton", func(s scope) string { return s.caches(cache) }).saying(summaryCaches +
				" Only of models that the TensorRT-LLM backend runs."),
		},
	}
}
