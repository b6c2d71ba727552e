package signal

// rayServe is the presets on Ray Serve. Its proxies and handles report what waits, its replicas what runs, and any pod of
// the cluster may hold either.
func rayServe() Source {
	running, waiting := named("ray_serve_replica_processing_queries"), named("ray_serve_deployment_queued_queries")
	answered := named("ray_serve_num_http_requests_total", "ray_serve_num_http_requests")
	return Source{
		Name:  "ray-serve",
		Title: "Ray Serve",
		Note: "Scrape the metrics port of all pods of the cluster, head and workers. The target is the RayService, or the " +
			"RayCluster. Where an application has several deployments, a request counts at each that it is at.",
		Presets: []Preset{
			inflight("ray-serve",
				func(s scope) string { return s.total(together(s.perPod(running), s.perPod(waiting))) }),
			arrivals("ray-serve", "HTTP requests that arrive per second: those answered plus the growth of what runs "+
				"and waits, so that it holds under saturation too. With several deployments in a chain that growth "+
				"counts at each.",
				func(s scope) string {
					grown := perSecond(together(s.perPod(running.delta()), s.perPod(waiting.delta())))
					// Answered by a proxy's pod, held by others: no pod's sum is bounded by 0, only the whole is.
					return `clamp_min(` + s.total(together(s.perPod(answered.rate()), grown)) + `, 0)`
				}),
			queue("ray-serve", func(s scope) string { return s.total(s.perPod(waiting)) }),
		},
		Lacks: []Lack{
			{"kv-cache", "Ray Serve knows nothing of its engines' caches; where they are vLLM, use vllm/kv-cache"},
		},
	}
}
