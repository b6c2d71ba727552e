package signal

import "fmt"

// vllmWindow is the range of rates: four scrapes at the usual 30 s.
const (
	vllmWindow        = "2m"
	vllmWindowSeconds = 120
)

// vllm is the presets on vLLM's own metrics.
func vllm() []Preset {
	return []Preset{
		{
			Name: "vllm/inflight",
			Summary: "Requests in flight on the target's pods, running and waiting: grows without bound when the service " +
				"is saturated, so it hides no demand. The first choice for scaling.",
			Unit:     "requests",
			template: vllmInflight,
		},
		{
			Name: "vllm/arrivals",
			Summary: "Requests that arrive per second: first tokens per second plus the growth of the queue, " +
				"so that it holds under saturation too. A gateway's own count is better where there is one.",
			Unit:     "requests/s",
			Rate:     true,
			template: vllmArrivals,
		},
	}
}

func vllmInflight(s scope) string {
	running := s.vllmPerPod(selector{metric: "vllm:num_requests_running"})
	waiting := s.vllmPerPod(selector{metric: "vllm:num_requests_waiting"})
	return s.total(fmt.Sprintf(`(%s + %s)`, running, waiting))
}

// vllmArrivals: what has come in a window is what got its first token in it, plus what the queue grew by. The sum is
// kept from falling below 0 pod by pod, for the queue that vanishes with a pod's restart was not served.
func vllmArrivals(s scope) string {
	begun := s.vllmPerPod(selector{metric: "vllm:time_to_first_token_seconds_count", over: "rate", window: vllmWindow})
	queued := s.vllmPerPod(selector{metric: "vllm:num_requests_waiting", over: "delta", window: vllmWindow})
	return s.total(fmt.Sprintf(`clamp_min(%s + %s / %d, 0)`, begun, queued, vllmWindowSeconds))
}

// vllmPerPod sums a metric over the engines of each pod. A pod has one series per engine (data parallelism), model and
// port (instance); a second scrape job copies them, and max makes one of the copies.
func (s scope) vllmPerPod(sel selector) string {
	return `sum by (pod) (max by (pod, instance, engine, model_name) (` + s.series(sel) + `))`
}
