package signal_test

import (
	"errors"
	"fmt"

	"github.com/forewarm/forewarm/pkg/signal"
)

func ExampleLookup() {
	preset, err := signal.Lookup("vllm/inflight")
	if err != nil {
		panic(err)
	}
	fmt.Println(preset.Unit)
	fmt.Println(preset.Target)

	_, err = signal.Lookup("tgi/kv-cache")
	fmt.Println(errors.Is(err, signal.ErrUnknown), err)
	_, err = signal.Lookup("vllm/kvcache")
	fmt.Println(err)
	// Output:
	// requests
	// requests in flight that one replica serves at full load with good latency
	// true unknown preset "tgi/kv-cache": TGI does not report its KV cache; use tgi/inflight
	// unknown preset "vllm/kvcache": did you mean vllm/kv-cache?
}
