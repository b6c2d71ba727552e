package signal

import (
	"fmt"
	"strings"
)

// engine has the metrics that an engine of language models reports, and the name of its presets.
type engine struct {
	source           string
	running, waiting metric
	// passed counts requests when they leave the queue, or when they end.
	passed, cache metric
	page          page
}

// presets returns the presets of an engine.
func (e engine) presets(arrivals Preset) []Preset {
	return onPage(e.page, []Preset{
		inflightPreset(e.source, func(s scope) string { return s.inflight(e.running, e.waiting) }),
		offeredPreset(e.source, func(s scope) string { return s.offered(e.running, e.waiting, e.passed) }),
		arrivals,
		queuePreset(e.source, func(s scope) string { return s.total(s.perPod(e.waiting)) }),
		kvCachePreset(e.source, func(s scope) string { return s.kvCaches(e.cache) }),
	})
}

// onPage adds to presets the page that distinguishes their engines.
func onPage(of page, presets []Preset) []Preset {
	for i := range presets {
		presets[i].page = of
	}
	return presets
}

// arrivalsAtFirstToken returns the preset for an engine that counts a request at its first token.
func (e engine) arrivalsAtFirstToken() Preset {
	return arrivalsPreset(
		e.source,
		"Requests that arrive per second: first tokens per second plus the growth of the queue, so that the value is "+
			"also right under saturation. If a gateway in front of the server counts requests, its count is better.",
		func(s scope) string { return s.arrivals(e.passed, e.waiting) },
	)
}

// tgi has the presets for Hugging Face's Text Generation Inference.
func tgi() Source {
	running, waiting := metricNamed("tgi_batch_current_size"), metricNamed("tgi_queue_size")
	received := metricNamed("tgi_request_count")
	return Source{
		Name:  "tgi",
		Title: "Text Generation Inference",
		Note:  "Hugging Face maintains this server, but no longer develops it, so its metrics will not change.",
		Presets: onPage(page{"tgi_queue_size", "tgi_request_count|tgi_request_duration_sum"}, []Preset{
			inflightPreset("tgi", func(s scope) string { return s.inflight(running, waiting) }),
			arrivalsPreset(
				"tgi",
				"Requests that arrive per second. The server counts them when it receives them, before they wait. "+
					"The value includes tokenization requests.",
				func(s scope) string { return s.total(s.perPod(received.rate())) },
			),
			queuePreset("tgi", func(s scope) string { return s.total(s.perPod(waiting)) }),
		}),
		Lateness:    []Preset{queueTimePreset("tgi", inSeconds("tgi_request_queue_duration"))},
		Unsupported: []Unsupported{{"kv-cache", "TGI does not report its KV cache; use tgi/inflight"}},
	}
}

// sglang has the presets for SGLang's own metrics.
func sglang() Source {
	m := metricsOfSGLang()
	firstToken := inSeconds("sglang:time_to_first_token_seconds")
	firstToken.twin = m.passed.twin
	return Source{
		Name:  "sglang",
		Title: "SGLang",
		Note: "Start the server with --enable-metrics. With separate prefill and decode servers, create a Forecast " +
			"for each of the two workloads. Each server counts its own queues, and a request that moves from one " +
			"server to the other counts in both. A prefill server does not count first tokens, so sglang/arrivals " +
			"has no value for it.",
		Presets: m.presets(),
		Lateness: []Preset{
			queueTimePreset("sglang", inSeconds("sglang:queue_time_seconds")),
			firstTokenPreset("sglang", firstToken),
		},
	}
}

// sglangMetrics has the metrics of an SGLang engine and each of its queues. A request is in one queue at a time.
type sglangMetrics struct {
	engine

	queues []metric
}

func metricsOfSGLang() sglangMetrics {
	// The schedulers of an engine's ranks may each report the same value (--enable-metrics-for-all-schedulers, or pipeline parallelism). A
	// priority scheduler reports its classes in addition to the total. In both cases the largest is the engine's value. Ranks of data
	// parallelism (dp_rank) are separate engines.
	gauge := func(name string) metric {
		return metric{names: []string{name}, ranks: []string{"tp_rank", "pp_rank", "moe_ep_rank", "priority"}}
	}
	queues := []metric{
		gauge("sglang:num_queue_reqs"),
		gauge("sglang:num_grammar_queue_reqs"), // Only separate prefill and decode servers have the others.
		gauge("sglang:num_prefill_bootstrap_queue_reqs"), gauge("sglang:num_prefill_inflight_queue_reqs"),
		gauge("sglang:num_decode_prealloc_queue_reqs"), gauge("sglang:num_decode_transfer_queue_reqs"),
	}
	waiting := gauge("sglang:num_queue_reqs")
	waiting.addNames = true
	for _, q := range queues[1:] {
		waiting.names[0] += "|" + q.names[0]
	}
	// Requests are counted before the scheduler, where there are no ranks. Users may add labels of their own
	// (--tokenizer-metrics-allowed-custom-labels).
	twin := queues[0].delta()
	passed := observations("sglang:time_to_first_token_seconds")
	passed.twin = &twin
	return sglangMetrics{engine{
		"sglang", gauge("sglang:num_running_reqs"), waiting, passed, gauge("sglang:token_usage"),
		page{
			"sglang:num_queue_reqs",
			"sglang:time_to_first_token_seconds_count|sglang:time_to_first_token_seconds_sum",
		},
	}, queues}
}

func (m sglangMetrics) presets() []Preset {
	// grown returns the growth of each queue.
	grown := func(s scope, read func(metric) string) []string {
		parts := make([]string, len(m.queues))
		for i, q := range m.queues {
			parts[i] = s.divided(read(q.delta()))
		}
		return parts
	}
	arrivals := m.arrivalsAtFirstToken()
	arrivals.template = func(s scope) string {
		parts := grown(s, s.perPod)
		parts[0] = fmt.Sprintf(`(%s + %s)`, s.counted(m.passed), parts[0])
		return s.total(sumAboveZero(parts...))
	}
	// inGangs has the parts of a total for targets whose replicas are gangs.
	inGangs := map[string]func(scope) []string{
		"sglang/inflight": func(s scope) []string {
			return []string{fmt.Sprintf(`(%s + %s)`, s.perRank(m.running), s.perRank(m.waiting))}
		},
		"sglang/queue":    func(s scope) []string { return []string{s.perRank(m.waiting)} },
		"sglang/arrivals": func(s scope) []string { return append(grown(s, s.perRank), s.counted(m.passed)) },
	}
	presets, labels := m.engine.presets(arrivals), m.running.labels(m.queues[0].names[0])
	for i := range presets {
		plain, parts := presets[i].template, inGangs[presets[i].Name]
		if parts == nil {
			continue
		}
		presets[i].template = func(s scope) string {
			if _, gang := s.leaderWorkerSet(); gang {
				return s.totalOverGangs(m.running.ranks, labels, parts(s)...)
			}
			return plain(s)
		}
	}
	return presets
}

// vllm has the presets for vLLM's own metrics.
func vllm() Source {
	names := spelledByVLLM
	of := engine{
		"vllm",
		metricNamed(names("num_requests_running")),
		metricNamed(names("num_requests_waiting")),
		observations(names("time_to_first_token_seconds")),
		metricNamed(names("kv_cache_usage_perc"), names("gpu_cache_usage_perc")),
		page{
			names("num_requests_waiting"),
			names("time_to_first_token_seconds_count") + "|" + names("time_to_first_token_seconds_sum"),
		},
	}
	return Source{
		Name:  "vllm",
		Title: "vLLM",
		Note: "Works wherever vLLM's own metrics are scraped, including KServe (kserve_vllm:), Ray Serve LLM " +
			"(ray_vllm_), NVIDIA NIM (without a prefix), Triton's vLLM backend (if your build has the gauges) and " +
			"llm-d. The former name of the KV cache metric (gpu_cache_usage_perc) also works.",
		Presets: of.presets(of.arrivalsAtFirstToken()),
		Lateness: []Preset{
			queueTimePreset("vllm", inSeconds(names("request_queue_time_seconds"))),
			firstTokenPreset("vllm", inSeconds(names("time_to_first_token_seconds"))),
		},
	}
}

// spelledByVLLM returns a metric of vLLM in the spellings that names/vllm.txt has for it: that of vLLM, of KServe's second monitor, of Ray
// Serve LLM, and of NVIDIA NIM.
func spelledByVLLM(name string) string {
	known, _ := listed()
	var spellings []string
	for _, prefix := range []string{"vllm:", "kserve_vllm:", "ray_vllm_", ""} {
		if _, ok := known[prefix+name]; ok {
			spellings = append(spellings, prefix+name)
		}
	}
	return strings.Join(spellings, "|")
}

// rayServe has the presets for Ray Serve. Its proxies and handles report waiting requests, and its replicas report running requests. Any
// pod of the cluster can have either.
func rayServe() Source {
	// Releases with the new names also report the former names.
	running := metricNamed("ray_serve_replica_num_ongoing_requests", "ray_serve_replica_processing_queries")
	waiting := metricNamed("ray_serve_router_num_queued_requests", "ray_serve_deployment_queued_queries")
	answered := metricNamed("ray_serve_num_http_requests_total", "ray_serve_num_http_requests")
	return Source{
		Name:  "ray-serve",
		Title: "Ray Serve",
		Note: "Scrape the metrics port of all pods of the Ray cluster, both head and workers. The target is the RayService or the " +
			"RayCluster. If an application has several deployments, a request counts once for each deployment where it is in flight.",
		Presets: []Preset{
			inflightPreset("ray-serve",
				func(s scope) string { return s.total(sumPerPod(s.perPod(running), s.perPod(waiting))) }),
			arrivalsPreset(
				"ray-serve",
				"HTTP requests that arrive per second: the answered requests plus the growth of the running and waiting "+
					"requests, so that the value is also right under saturation. In a chain of several deployments, the growth "+
					"counts once for each deployment.",
				func(s scope) string {
					grown := s.divided(sumPerPod(s.perPod(running.delta()), s.perPod(waiting.delta())))
					// One pod answers requests that other pods hold. Therefore only the total is at least 0, and not the sum of each pod.
					return `clamp_min(` + s.total(sumPerPod(s.perPod(answered.rate()), grown)) + `, 0)`
				},
			),
			queuePreset("ray-serve", func(s scope) string { return s.total(s.perPod(waiting)) }),
		},
		Unsupported: []Unsupported{
			{
				"kv-cache",
				"Ray Serve does not report the caches of its engines; if the engine is vLLM, use vllm/kv-cache",
			},
		},
	}
}

// trtllm has the presets for trtllm-serve, TensorRT-LLM's own server. Behind Triton, it is Triton that reports the engine's metrics.
func trtllm() Source {
	of := engine{
		"trtllm", metricNamed("trtllm_num_requests_running"), metricNamed("trtllm_num_requests_waiting"),
		metricNamed("trtllm_request_success_total"), // One series for each reason why a request ended.
		metricNamed("trtllm_kv_cache_utilization"),
		page{
			"trtllm_num_requests_running|trtllm_num_requests_waiting",
			"trtllm_request_success_total|trtllm_e2e_request_latency_seconds_sum",
		},
	}
	return Source{
		Name:  "trtllm",
		Title: "TensorRT-LLM (trtllm-serve)",
		Note: "The metrics are at /prometheus/metrics. Turn on the server's iteration statistics " +
			"(enable_iter_perf_stats) and request metrics (return_perf_metrics). For releases that do not report " +
			"running and waiting requests, the presets have no series. If TensorRT-LLM runs behind Triton, use the " +
			"presets of triton.",
		Presets: of.presets(
			arrivalsPreset(
				"trtllm",
				"Requests that arrive per second: completed requests per second plus the growth of "+
					"the running and waiting requests, so that the value is also right under saturation. Aborted requests do not count.",
				func(s scope) string {
					grown := fmt.Sprintf(`(%s + %s)`, s.perPod(of.running.delta()), s.perPod(of.waiting.delta()))
					return s.total(fmt.Sprintf(`clamp_min(%s + %s, 0)`, s.perPod(of.passed.rate()), s.divided(grown)))
				},
			),
		),
		Lateness: []Preset{
			queueTimePreset("trtllm", inSeconds("trtllm_request_queue_time_seconds")),
			firstTokenPreset("trtllm", inSeconds("trtllm_time_to_first_token_seconds")),
		},
	}
}

// kserve has the presets for Knative's queue-proxy in front of a model server (Serverless mode), and for KServe's own Python servers.
func kserve() Source {
	// The queue-proxy's depth includes requests in service. The names of OpenTelemetry come first; they changed within a year.
	held := metricNamed("kn_serving_queue_depth", "kn_queueproxy_depth", "revision_queue_depth",
		"queue_average_concurrent_requests")
	done := metricNamed("kn_serving_invocation_duration_seconds_count", "kn_queueproxy_app_duration_seconds_count",
		"revision_request_count", "request_predict_seconds_count") // The counts of histograms, except the third one.
	return Source{
		Name:  "kserve",
		Title: "KServe, and Knative's queue-proxy",
		Note: "The queue-proxy exists only in Serverless (Knative) mode. Scrape port 9091 of the pods. In Standard " +
			"mode, scale on a preset of the runtime, such as vllm/inflight, with the Deployment NAME-predictor as " +
			"the target. For an LLMInferenceService, also use a preset of the runtime. The target is the Deployment " +
			"NAME-kserve (or, over several nodes, the LeaderWorkerSet NAME-kserve-mn), which has the scale " +
			"subresource that an HPA needs. If prefill runs in separate pods, treat these pods as a separate " +
			"workload, with a Forecast of their own.",
		Presets: []Preset{
			inflightPreset("kserve", func(s scope) string { return s.total(s.perPod(held)) }).withSummary(
				"Requests in flight at the queue-proxies of the target's pods, running and waiting. Revisions with unlimited " +
					"concurrency (containerConcurrency: 0) do not report it. Requests that Knative's activator holds while there are no " +
					"pods do not count."),
			arrivalsPreset(
				"kserve",
				"Requests that arrive per second: the answered requests plus the growth of the requests in flight. "+
					"Without a queue-proxy, the value is the rate of predictions that KServe's own servers report, "+
					"which stops growing under saturation.",
				func(s scope) string { return s.total(sumAboveZero(s.counted(done), s.growth(held))) },
			),
		},
		Lateness: []Preset{
			latenessPreset(
				"kserve/request-duration",
				"measured lateness: time to the response",
				"Share of the requests that took longer than the allowed wait in Knative's queue-proxy: in its queue and in service, but not "+
					"in the activator. The histogram ends at 10 s (100 s under Knative's older name), so there is no series for a longer "+
					"wait. Use it for models that answer in much less time than the allowed wait.",
				scope.sumOverPods,
				inSeconds("kn_serving_invocation_duration_seconds"),
				histogram{name: "revision_request_latencies", perSecond: 1000},
			),
		},
		Unsupported: []Unsupported{
			{
				"queue-time",
				"the queue-proxy and KServe's servers have no histogram of the time in the queue, and the histogram " +
					"of the activator does not say which pods it is about; use kserve/request-duration, or a preset " +
					"of the runtime, such as vllm/queue-time",
			},
			{"queue", "the queue-proxy counts waiting and running requests together; use kserve/inflight"},
			{
				"kv-cache",
				"KServe does not report the caches of its runtimes; use a preset of the runtime, such as vllm/kv-cache",
			},
		},
	}
}

// triton has the presets for NVIDIA's Triton Inference Server.
func triton() Source {
	engine := func(matchers string) metric {
		return metric{names: []string{"nv_trt_llm_request_metrics"}, matchers: matchers}
	}
	pending := metricNamed("nv_inference_pending_request_count")
	succeeded, failed := metricNamed("nv_inference_request_success"), metricNamed("nv_inference_request_failure")
	spent, queued := metricNamed("nv_inference_request_duration_us"), metricNamed("nv_inference_queue_duration_us")
	waiting := engine(`request_type="waiting"`)
	cache := metric{names: []string{"nv_trt_llm_kv_cache_block_metrics"}, matchers: `kv_cache_block_type="fraction"`}
	// The vLLM backend passes a request to the engine immediately, so Triton's own durations do not describe the request. Only some builds
	// have the engine's gauges, but all of them have the time of each request that has ended.
	vllmRunning, vllmWaiting := metricNamed("vllm:num_requests_running"), metricNamed("vllm:num_requests_waiting")
	vllmSpent := metricNamed("vllm:e2e_request_latency_seconds_sum")
	ofTriton := func(s scope, perPod string) string { // vLLM's own server does not belong to Triton.
		return fmt.Sprintf(`(%s and on (pod) %s)`, perPod, s.pageSeries("group", s.page.gauges+"|"+s.page.counters))
	}
	return Source{
		Name:  "triton",
		Title: "Triton Inference Server",
		Note: "Older releases do not report pending requests, so only running requests count. A request to an ensemble counts once for " +
			"each of its models, so set the target in the same unit, or write a query for one model. The nv_trt_llm metrics come from " +
			"the TensorRT-LLM backend.",
		Presets: onPage(page{
			"nv_inference_pending_request_count",
			"nv_inference_request_success|nv_inference_request_duration_us",
		}, []Preset{
			inflightPreset("triton", func(s scope) string {
				perModel := func(m metric) string { return s.perPodAnd(m, "model", "version") }
				executing := fmt.Sprintf(`clamp_min(%s - %s, 0) / 1e6`, perModel(spent.rate()), perModel(queued.rate()))
				vllm := fmt.Sprintf(`((%s + %s) or %s)`, perModel(vllmRunning), perModel(vllmWaiting),
					perModel(vllmSpent.rate()))
				running := fmt.Sprintf(`(%s or sum by (pod) (%s or %s))`,
					s.perPod(engine(`request_type=~"scheduled|waiting"`)), ofTriton(s, vllm), executing)
				return s.total(sumPerPod(s.perPod(pending), running))
			}).withSummary("Requests in flight on the target's pods, pending and executing. The TensorRT-LLM and " +
				"vLLM backends report how many requests are executing. For other backends, Forewarm derives this " +
				"number from the execution time that Triton reports (Little's law). Triton reports the time of a " +
				"request only when it is done, so the number is exact for short requests, but lags behind for long " +
				"requests. The value keeps growing under saturation."),
			arrivalsPreset(
				"triton",
				"Requests that arrive per second: the requests that succeeded or failed, plus the growth of the pending "+
					"requests, so that the value is also right under saturation.",
				func(s scope) string {
					return s.total(sumAboveZero(s.perPod(succeeded.rate()), s.perPod(failed.rate()), s.growth(pending)))
				},
			),
			queuePreset("triton", func(s scope) string {
				return s.total(sumPerPod(s.perPod(pending), s.perPod(waiting), s.perPod(vllmWaiting)))
			}),
			kvCachePreset("triton", func(s scope) string { return s.kvCaches(cache) }).withSummary(kvCacheSummary +
				" Only models of the TensorRT-LLM backend report it."),
		}),
		Unsupported: []Unsupported{
			{
				"queue-time",
				"Triton reports the total time that requests spend in its queue, but it has no histogram, and a mean does not " +
					"show how many requests wait too long; use gateway/queue-time, or query a histogram of the ingress",
			},
		},
	}
}

// lmdeploy has the presets for InternLM's LMDeploy.
func lmdeploy() Source {
	// Requests wait in the engine, or in the API server before it passes them on.
	waiting := metric{
		names:    []string{"lmdeploy:num_requests_waiting|lmdeploy:num_api_requests_waiting"},
		addNames: true,
	}
	running, queue := metricNamed("lmdeploy:num_requests_running"), metricNamed("lmdeploy:num_requests_waiting")
	passed := observations("lmdeploy:time_to_first_token_seconds")
	of := engine{
		"lmdeploy", running, waiting, passed, metricNamed("lmdeploy:gpu_cache_usage_perc"),
		page{
			"lmdeploy:num_requests_running|lmdeploy:num_requests_waiting",
			"lmdeploy:time_to_first_token_seconds_count|lmdeploy:time_to_first_token_seconds_sum",
		},
	}
	arrivals := of
	arrivals.waiting = queue
	return Source{
		Name:    "lmdeploy",
		Title:   "LMDeploy",
		Note:    "Start the API server with --enable-metrics, which is the default in newer releases.",
		Presets: of.presets(arrivals.arrivalsAtFirstToken()),
		Lateness: []Preset{
			queueTimePreset("lmdeploy", inSeconds("lmdeploy:request_queue_time_seconds")),
			firstTokenPreset("lmdeploy", inSeconds("lmdeploy:time_to_first_token_seconds")),
		},
	}
}

// llamacpp has the presets for the server of llama.cpp.
func llamacpp() Source {
	running, waiting := metricNamed("llamacpp:requests_processing"), metricNamed("llamacpp:requests_deferred")
	const uncounted = "llama.cpp does not count requests; use llamacpp/inflight"
	return Source{
		Name:  "llamacpp",
		Title: "llama.cpp (llama-server)",
		Note:  "Start the server with --metrics.",
		Presets: onPage(page{
			"llamacpp:requests_processing|llamacpp:requests_deferred",
			"llamacpp:prompt_tokens_total|llamacpp:tokens_predicted_total",
		}, []Preset{
			inflightPreset("llamacpp", func(s scope) string { return s.inflight(running, waiting) }),
			queuePreset("llamacpp", func(s scope) string { return s.total(s.perPod(waiting)) }),
		}),
		Unsupported: []Unsupported{
			{"arrivals", uncounted},
			{"offered", uncounted},
			{"queue-time", "llama.cpp has no histogram of times; query a histogram of the ingress"},
			{"kv-cache", "llama.cpp no longer reports its KV cache; use llamacpp/inflight"},
		},
	}
}
