package signal

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
