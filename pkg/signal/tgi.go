package signal

// tgi is the presets on Hugging Face's Text Generation Inference.
func tgi() Source {
	running, waiting, received := named("tgi_batch_current_size"), named("tgi_queue_size"), named("tgi_request_count")
	return Source{
		Name:  "tgi",
		Title: "Text Generation Inference",
		Note:  "Hugging Face only maintains it now, so its metrics will not change.",
		Presets: []Preset{
			inflight("tgi", func(s scope) string { return s.inflight(running, waiting) }),
			arrivals("tgi", "Requests that arrive per second, counted as they are received and so before they wait. "+
				"Tokenizing requests are among them.",
				func(s scope) string { return s.total(s.perPod(received.rate())) }),
			queue("tgi", func(s scope) string { return s.total(s.perPod(waiting)) }),
		},
		Lacks: []Lack{{"kv-cache", "TGI does not report its KV cache; use tgi/inflight"}},
	}
}
