package forecasts_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// testExposed has HPAs ask for an alias: the Forecast that holds it is calibrated for them, the older of two. An alias that
// no one holds is a missing Forecast.
func testExposed(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	asking := strings.Replace(horizontal, "{name: a}",
		"{name: queue_messages_ready, selector: {matchLabels: {queue: orders}}}", 1)
	const expose = "signal: {query: x}\n  expose: {metric: queue_messages_ready, matchLabels: {queue: %s}}"
	create := func(name, queue string) {
		t.Helper()
		c.MustKubectl(t, fmt.Sprintf(good, name, fmt.Sprintf(expose, queue)), "create", "-f", "-")
	}
	c.MustKubectl(t, asking, "create", "-f", "-")
	create("z", "orders")
	objects := watch(t, c.Config)
	objects.SetExternalHeld(func() bool { return true })
	const by64 = "HorizontalPodAutoscaler/llama: 64 a replica, 1 to 20 replicas"
	scaledAs(t, objects, by64)
	missing(t, objects, "")

	create("other", "payments")
	time.Sleep(1100 * time.Millisecond) // Ages are whole seconds.
	create("a", "orders")
	eventually(t, func() string {
		read := map[string]bool{}
		for _, target := range objects.List(noon()) {
			read[target.Key.Name] = len(target.Autoscalers) > 0
		}
		if len(read) != 3 || read["a"] || !read["z"] || read["other"] {
			return fmt.Sprintf("of three Forecasts the older of the alias is calibrated: %v", read)
		}
		return ""
	})
	c.MustKubectl(t, "", "delete", "forecasts", "--all")
	missing(t, objects, `
# HELP forewarm_autoscaler_forecast_missing 1 for an autoscaler that reads a Forecast that does not exist.
# TYPE forewarm_autoscaler_forecast_missing gauge
forewarm_autoscaler_forecast_missing{autoscaler="HorizontalPodAutoscaler/llama",forecast="queue_messages_ready",namespace="default"} 1
`)
	c.MustKubectl(t, "", "delete", "hpa", "llama")
}
