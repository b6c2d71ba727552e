package manifest_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/manifest"
)

func TestReadEvents(t *testing.T) {
	const (
		spec   = "spec: {targetRef: {kind: Deployment, name: llama}, signal: {preset: vllm/inflight}, "
		known  = header + spec + `events: [{name: launch, start: "2026-12-01", duration: 2h, times: "3"}]}` + "\n"
		demand = "apiVersion: forewarm.dev/v1alpha1\nkind: DemandEvent\n" +
			"spec: {holidays: US, like: Sunday}\nmetadata: {name: launch}\n"
		otherKind = "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: llama}\n"
	)
	for text, want := range map[string]string{
		known:                                    "",
		known + otherKind:                        "",
		otherKind:                                "no DemandEvent, and no Forecast with spec.events: it holds HorizontalPodAutoscaler",
		demand:                                   "",
		demand + "---\n" + header + spec + "}\n": "",
		strings.Replace(demand, "like", "likes", 1):                        "spec.likes: unknown field",
		strings.Replace(demand, "US", "XX", 1):                             "f.yaml:3: spec: Invalid value: \"launch\": holidays \"XX\" are unknown: write one of AR, AT",
		strings.Replace(demand, "like", `start: "2026-12-01", like`, 1):    "write start or holidays",
		strings.Replace(demand, "like", "recurrence: FREQ=DAILY, like", 1): "remove recurrence",
		strings.Replace(demand, "like", "alsoOn: [tomorrow], like", 1):     `alsoOn "tomorrow": write a date`,
		strings.Replace(known, `times: "3"`, "replicas: 3", 1):             "",
		strings.Replace(known, `times: "3"`, "replicas: 0", 1):             "write one of atLeast, replicas, times, like and ignore",
		strings.Replace(known, `times: "3"`, "replicas: -1", 1):            "replicas -1: write a whole number from 1 to 10000",
		strings.Replace(known, `times: "3"`, "replicas: 1000000000", 1):    "replicas 1000000000: write a whole number",
		strings.Replace(known, `times: "3"`, "replicas: 1.5", 1):           "replicas",
		known + "---\n" + known:                                            "2 Forecasts have spec.events, but only one is supported",
		strings.Replace(known, "2h", "10y", 1):                             "f.yaml:4: spec.events[0].duration",
		strings.Replace(known, "times", "time", 1):                         "spec.events[0].time: unknown field",
	} {
		events, err := manifest.ReadEvents("f.yaml", []byte(text))
		switch {
		case err != nil:
			if got := err.Error(); want == "" || !strings.Contains(got, want) {
				t.Errorf("%s, want %q", got, want)
			}
		case want != "" || len(events) != 1 || events[0].Name != "launch":
			t.Errorf("%v, want %q", events, want)
		}
	}
}
