package signal

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
