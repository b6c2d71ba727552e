package signal_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/signal"
	"github.com/forewarm/forewarm/pkg/signal/promexpr"
)

// buckets are the series of a histogram by le: so many more requests up to each bound in every 15 s.
func buckets(name, labels string, byBound ...any) string {
	var load strings.Builder
	for i := 0; i < len(byBound); i += 2 {
		fmt.Fprintf(&load, "  %s_bucket{%s,le=%q} 0+%dx40\n", name, labels, byBound[i], byBound[i+1])
	}
	return load.String()
}

func TestLateness(t *testing.T) {
	queue, token := "vllm:request_queue_time_seconds", "vllm:time_to_first_token_seconds"
	gateway, app := "llm_d_epp_flow_control_request_queue_duration_seconds", "revision_request_latencies"
	for _, tt := range []struct {
		preset string
		// trap as in scenario.
		trap string
		wait time.Duration
		load string
		want string
	}{
		{
			preset: "vllm/queue-time", want: "{} 0.125", // 5 of 40: both pods' requests weigh the same.
			load: buckets(queue, `$A,engine="0"`, "20.0", 24, "30.0", 27, "40.0", 29, "+Inf", 30) +
				buckets(queue, `$B,engine="0"`, "20.0", 1, "30.0", 8, "40.0", 9, "+Inf", 10) +
				buckets(queue, `$X,engine="0"`, "30.0", 1, "+Inf", 90) + buckets(queue, `$P,engine="0"`, "30.0", 1, "+Inf", 90),
		},
		{
			preset: "vllm/queue-time", trap: "no one asks: nothing is said, and no share of 0", want: "{} NaN",
			load: buckets(queue, `$A,engine="0"`, "30.0", 0, "+Inf", 0),
		},
		{
			preset: "vllm/queue-time", trap: "no finite bound is as long as the wait", wait: time.Hour, want: "",
			load: buckets(queue, `$A,engine="0"`, "30.0", 1, "+Inf", 9),
		},
		{
			preset: "vllm/time-to-first-token", want: "{} 0.25", // From 40 s on, for 30 s is no bound.
			load: buckets(token, `$A,engine="0"`, "10", 10, "20", 10, "40", 15, "80", 19, "+Inf", 20),
		},
		{
			preset: "vllm/time-to-first-token", trap: "engines add up, releases have other bounds", wait: 4500 * time.Millisecond,
			want: "{} 0.5", // 4 of 8 and 6 of 8 from 5 s on, and 2 of 8 from 10 s on.
			load: buckets(token, `$A,engine="0"`, "2.5", 1, "5.0", 4, "7.5", 7, "+Inf", 8) +
				buckets(token, `$A,engine="1"`, "2.5", 1, "5.0", 2, "7.5", 7, "+Inf", 8) +
				buckets(token, `$B,engine="0"`, "4", 1, "10", 6, "20", 7, "+Inf", 8),
		},
		{
			preset: "gateway/queue-time", want: "{} 0.2",
			load: "  llm_d_epp_per_endpoint_queue_size{" + picker + `,name="pool",model_server_endpoint="llama-7d9-a"} 0x40` + "\n" +
				buckets(gateway, picker+`,outcome="Dispatched"`, "10", 6, "60", 8, "+Inf", 8) +
				buckets(gateway, picker+`,outcome="Evicted"`, "10", 0, "60", 0, "+Inf", 2),
		},
		{
			preset: "dynamo/time-to-first-token", want: "{} 0.25",
			load: dynamoOwners + buckets("dynamo_frontend_time_to_first_token_seconds",
				`namespace="ai",pod="llama-frontend-a",model="m"`, "9", 1, "64", 3, "+Inf", 4),
		},
		{
			preset: "kserve/request-duration", wait: 5 * time.Second, want: "{} 0.5",
			load: buckets("kn_serving_invocation_duration_seconds", "$A", "2.5", 2, "5", 4, "7.5", 5, "10", 6, "+Inf", 8),
		},
		{
			preset: "kserve/request-duration", trap: "the bounds end at 10 s: nothing is said of a longer wait",
			load: buckets("kn_serving_invocation_duration_seconds", "$A", "7.5", 2, "10", 4, "+Inf", 8),
		},
		{
			preset: "kserve/request-duration", trap: "an older one counts milliseconds", want: "{} 0.25",
			load: buckets(app, "$A", "20", 1, "10000", 2, "50000", 6, "100000", 7, "+Inf", 8),
		},
	} {
		if tt.wait == 0 {
			tt.wait = signal.DefaultWait
		}
		load := owners + neighbours + shorthands.Replace(tt.load)
		expr := renderLateness(t, tt.preset, tt.wait)
		for how, scraped := range map[string]string{
			"honoured": load, "exported": exported(load, "monitoring", "exporter-0"), "twice": twice(load),
		} {
			t.Run(tt.preset+"/"+tt.trap+"/"+how, func(t *testing.T) {
				evaluates(t, scraped, expectation{expr: expr, want: tt.want})
			})
		}
	}
}

// The endpoint picker is a pod in addition to those of the target.
const picker = `namespace="ai",pod="epp",instance="10.0.0.7:80"`

func renderLateness(t *testing.T, preset string, wait time.Duration) string {
	t.Helper()
	p, err := signal.LookupLateness(preset, wait)
	if err != nil {
		t.Fatal(err)
	}
	expr, err := p.Render("ai", signal.Target{Kind: "Deployment", Name: "llama"}, trust())
	if err != nil {
		t.Fatal(err)
	}
	return expr
}

// Every bound from the wait on counts, and none below, as clients of several languages write them.
func TestLatenessCountsTheBoundsFromTheWaitOn(t *testing.T) {
	for _, tt := range []struct {
		wait      time.Duration
		from, not []string
	}{
		{30 * time.Second, []string{"30", "30.0", "31", "40.0", "99", "100", "7680.0", "30.5", "1e+06"}, []string{"29.9", "9", "3", "3e-05"}},
		{time.Hour, []string{"3600", "3600.0", "4000", "7680.0"}, []string{"3599", "1920.0", "960"}},
	} {
		expr := renderLateness(t, "tgi/queue-time", tt.wait)
		for _, bound := range append(tt.from, tt.not...) {
			load := shorthands.Replace(buckets("tgi_request_queue_duration", "$A", bound, 3, "+Inf", 4))
			want := "{} 0.25"
			if strings.Contains(" "+strings.Join(tt.not, " ")+" ", " "+bound+" ") {
				want = ""
			}
			evaluates(t, owners+neighbours+load, expectation{expr: expr, want: want})
		}
	}
}

func TestLookupLateness(t *testing.T) {
	for name, want := range map[string]string{
		"triton/queue-time": "no histogram", "vllm/inflight": "the presets for lateness are", "kserve/queue-time": "kserve/request-duration",
	} {
		_, err := signal.LookupLateness(name, time.Second)
		if !errors.Is(err, signal.ErrUnknown) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want ErrUnknown with %q", name, err, want)
		}
	}
	for _, s := range signal.Sources() {
		for _, p := range s.Lateness {
			family := regexp.MustCompile(`[\w:]+_bucket`).FindString(renderLateness(t, p.Name, time.Second))
			if s.Name != "gateway" && s.Name != "dynamo" { // They need their pool and their frontend.
				load := buckets(strings.TrimSuffix(family, "_bucket"), "$A", "31.4", 1, "+Inf", 2)
				half := expectation{expr: renderLateness(t, p.Name, signal.DefaultWait), want: "{} 0.5"}
				evaluates(t, owners+shorthands.Replace(load), half)
			}
			expr := renderLateness(t, p.Name, 1234567*time.Millisecond)
			if _, err := promexpr.Confine(expr, "namespace", "ai", ""); err != nil || len(expr) > 16<<10 {
				t.Errorf("%s: %d bytes, error %v", p.Name, len(expr), err)
			}
		}
	}
}

// Half of the requests waited longer than 30 s, by a histogram that the store keeps as a native one with custom buckets.
func TestLatenessOfNativeHistograms(t *testing.T) {
	const step = `{{schema:-53 sum:5 count:30 custom_values:[20 30 60] buckets:[10 5 10 5]}}`
	load := shorthands.Replace(
		"\n  vllm:request_queue_time_seconds{$A,engine=\"0\",model_name=\"m\"} ",
	) + step + "+" + step + "x40\n"
	evaluates(
		t,
		owners+load,
		expectation{expr: renderLateness(t, "vllm/queue-time", signal.DefaultWait), want: "{} 0.5"},
	)
}
