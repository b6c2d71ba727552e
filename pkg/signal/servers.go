package signal

import "fmt"

// engine is what an engine of language models reports, under the name of its presets.
type engine struct {
	source           string
	running, waiting metric
	// passed counts requests when they have left the queue, or at their end.
	passed, cache metric
}

// presets are those of an engine.
func (e engine) presets(arrivals Preset) []Preset {
	return []Preset{
		inflightPreset(e.source, func(s scope) string { return s.inflight(e.running, e.waiting) }),
		offeredPreset(e.source, func(s scope) string { return s.offered(e.running, e.waiting, e.passed) }),
		arrivals,
		queuePreset(e.source, func(s scope) string { return s.total(s.perPod(e.waiting)) }),
		kvCachePreset(e.source, func(s scope) string { return s.kvCaches(e.cache) }),
	}
}

// arrivalsAtFirstToken is the preset of an engine that counts a request at its first token.
func (e engine) arrivalsAtFirstToken() Preset {
	return arrivalsPreset(
		e.source,
		"Requests that arrive per second: first tokens per second plus the growth of the queue, so that "+
			"it holds under saturation. A gateway's own count is better if there is one.",
		func(s scope) string { return s.arrivals(e.passed, e.waiting) },
	)
}

// tgi is the presets for Hugging Face's Text Generation Inference.
func tgi() Source {
	running, waiting := metricNamed("tgi_batch_current_size"), metricNamed("tgi_queue_size")
	received := metricNamed("tgi_request_count")
	return Source{
		Name:  "tgi",
		Title: "Text Generation Inference",
		Note:  "In maintenance mode at Hugging Face, so its metrics will not change.",
		Presets: []Preset{
			inflightPreset("tgi", func(s scope) string { return s.inflight(running, waiting) }),
			arrivalsPreset("tgi", "Requests that arrive per second, counted when they are received, before they wait. "+
				"Includes tokenizing requests.",
				func(s scope) string { return s.total(s.perPod(received.rate())) }),
			queuePreset("tgi", func(s scope) string { return s.total(s.perPod(waiting)) }),
		},
		Lateness:    []Preset{queueTimePreset("tgi", inSeconds("tgi_request_queue_duration"))},
		Unsupported: []Unsupported{{"kv-cache", "TGI does not report its KV cache; use tgi/inflight"}},
	}
}

// sglang is the presets for SGLang's own metrics.
func sglang() Source {
	// The ranks of a tensor-parallel engine may each report the same figure (--enable-metrics-for-all-schedulers), and
	// a priority scheduler reports its classes beside the whole: neither may add up, and the greatest is the engine's.
	gauge := func(name string) metric {
		return metric{names: []string{name}, distinct: []string{"engine_type", "dp_rank", "model_name"}}
	}
	of := engine{
		"sglang", gauge("sglang:num_running_reqs"), gauge("sglang:num_queue_reqs"),
		// Counted before the scheduler, where there are no ranks; users may add labels of their own.
		metricNamed("sglang:time_to_first_token_seconds_count"), gauge("sglang:token_usage"),
	}
	return Source{
		Name:  "sglang",
		Title: "SGLang",
		Note: "Start the server with --enable-metrics. With separate prefill and decode servers, create a Forecast for each; the " +
			"queues of the transfer between them do not count.",
		Presets: of.presets(of.arrivalsAtFirstToken()),
		Lateness: []Preset{
			queueTimePreset("sglang", inSeconds("sglang:queue_time_seconds")),
			firstTokenPreset("sglang", inSeconds("sglang:time_to_first_token_seconds")),
		},
	}
}

// vllm is the presets for vLLM's own metrics.
func vllm() Source {
	// A pod has one series per engine (data parallelism), model and port.
	series := func(names ...string) metric {
		return metric{names: names, distinct: []string{"engine", "model_name"}}
	}
	of := engine{
		"vllm",
		series("vllm:num_requests_running"),
		series("vllm:num_requests_waiting"),
		series(
			"vllm:time_to_first_token_seconds_count",
		),
		series("vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"),
	}
	return Source{
		Name:  "vllm",
		Title: "vLLM",
		Note: "Works wherever vLLM's own metrics are scraped, also under KServe and llm-d. The former name of the KV cache " +
			"metric (gpu_cache_usage_perc) works too.",
		Presets: of.presets(of.arrivalsAtFirstToken()),
		Lateness: []Preset{
			queueTimePreset("vllm", inSeconds("vllm:request_queue_time_seconds")),
			firstTokenPreset("vllm", inSeconds("vllm:time_to_first_token_seconds")),
		},
	}
}

// rayServe is the presets for Ray Serve. Its proxies and handles report waiting requests, its replicas running ones,
// and any pod of the cluster can have either.
func rayServe() Source {
	running := metricNamed("ray_serve_replica_processing_queries")
	waiting := metricNamed("ray_serve_deployment_queued_queries")
	answered := metricNamed("ray_serve_num_http_requests_total", "ray_serve_num_http_requests")
	return Source{
		Name:  "ray-serve",
		Title: "Ray Serve",
		Note: "Scrape the metrics port of all pods of the cluster, head and workers. The target is the RayService, or the " +
			"RayCluster. If an application has several deployments, a request counts at each deployment where it is in flight.",
		Presets: []Preset{
			inflightPreset("ray-serve",
				func(s scope) string { return s.total(sumPerPod(s.perPod(running), s.perPod(waiting))) }),
			arrivalsPreset(
				"ray-serve",
				"HTTP requests that arrive per second: those answered plus the growth of those "+
					"running and waiting, so that it holds under saturation. With several deployments in a chain the growth "+
					"counts at each.",
				func(s scope) string {
					grown := perSecond(sumPerPod(s.perPod(running.delta()), s.perPod(waiting.delta())))
					// One pod answers what other pods hold: the total is at least 0, a pod's sum need not be.
					return `clamp_min(` + s.total(sumPerPod(s.perPod(answered.rate()), grown)) + `, 0)`
				},
			),
			queuePreset("ray-serve", func(s scope) string { return s.total(s.perPod(waiting)) }),
		},
		Unsupported: []Unsupported{
			{"kv-cache", "Ray Serve does not report its engines' caches; if they are vLLM, use vllm/kv-cache"},
		},
	}
}

// trtllm is the presets for trtllm-serve, TensorRT-LLM's own server. Behind Triton, Triton reports its engine's
// metrics.
func trtllm() Source {
	series := func(name string) metric {
		return metric{names: []string{name}, distinct: []string{"model_name", "engine_type"}}
	}
	of := engine{
		"trtllm", series("trtllm_num_requests_running"), series("trtllm_num_requests_waiting"),
		metricNamed("trtllm_request_success_total"), // By the reason of their end.
		series("trtllm_kv_cache_utilization"),
	}
	return Source{
		Name:  "trtllm",
		Title: "TensorRT-LLM (trtllm-serve)",
		Note: "Served at /prometheus/metrics; switch on the server's iteration statistics (enable_iter_perf_stats) and " +
			"request metrics (return_perf_metrics). Releases without running and waiting requests have no series. Behind Triton " +
			"use triton.",
		Presets: of.presets(
			arrivalsPreset("trtllm", "Requests that arrive per second: completions per second plus the growth of "+
				"those running and waiting, so that it holds under saturation. Aborted requests do not count.",
				func(s scope) string {
					return s.total(fmt.Sprintf(`clamp_min(%s + (%s + %s) / %d, 0)`, s.perPod(of.passed.rate()),
						s.perPod(of.running.delta()), s.perPod(of.waiting.delta()), windowSeconds))
				}),
		),
		Lateness: []Preset{
			queueTimePreset("trtllm", inSeconds("trtllm_request_queue_time_seconds")),
			firstTokenPreset("trtllm", inSeconds("trtllm_time_to_first_token_seconds")),
		},
	}
}

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
					"service, but not in the activator. Its bounds end at 10 s (100 s under Knative's older name): no series for a "+
					"longer wait. For models that answer in much less than the wait.",
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
