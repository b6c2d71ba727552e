package e2e_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/processtest"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestBesideKEDA tests Forewarm where KEDA owns external.metrics.k8s.io: stock HPAs by an Object metric, KEDA's HPAs
// by its two external triggers, workloads that scale to zero, and at last, without Forewarm, a ScaledObject with a second trigger.
func TestBesideKEDA(t *testing.T) { //nolint:tparallel // Forewarm is away only after what needs it.
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: time.Second, KEDA: true})
	times := schedule{time.Now().Add(-2 * pulse), cycle}
	past := map[string][]float64{}
	ramp := away{s, "away", "keda-hpa-%s"}
	ramp.begin(past)
	for _, name := range []string{behindGateway, onItsOwn} {
		past[fmt.Sprintf("inflight{namespace=\"asleep\",app=%q}", name)] = times.demand(time.Now().Add(-8*cycle),
			int(8*cycle/time.Second))
		// A scenario that starts late on a busy machine must not find a season of gaps.
		s.demand.follow("asleep", name, func() float64 { return times.demand(time.Now(), 1)[0] })
	}
	s.writeSeries(t, time.Second, past)
	s.observe(t, s.scrapeForewarm())
	port, err := processtest.FreePort(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scaler := fmt.Sprintf("127.0.0.1:%d", port)
	s.forewarm(t, "deploy/with-keda-scaler", 1, "--keda-address="+scaler)
	s.MustApply(t, clustertest.ClientAuthentication)
	clustertest.MustEventually(t, func() string {
		if s.get(t, "secret", "forewarm-client", "-n", "keda", "-o", "jsonpath={.data.tls\\.crt}") == "" {
			return "KEDA has no certificate for Forewarm"
		}
		return ""
	})
	s.MustApply(t, namespace("asleep"))
	t.Run("Served", func(t *testing.T) {
		t.Run("ObjectMetric", func(t *testing.T) { t.Parallel(); s.objectMetric(t) })
		t.Run("Triggers", func(t *testing.T) { t.Parallel(); s.triggers(t, scaler) })
		t.Run("HandedOverAtZero", func(t *testing.T) { t.Parallel(); s.handedOverAtZero(t, scaler) })
		for _, name := range []string{behindGateway, onItsOwn} {
			t.Run("FromZeroAhead/"+name, func(t *testing.T) { t.Parallel(); s.fromZero(t, name, scaler, times) })
		}
	})
	t.Run("Away", func(t *testing.T) { ramp.besideKEDA(t, scaler) })
}

// scrapeForewarm is a job of Prometheus for Forewarm's own metrics. The file names the replicas once they run.
func (s *stage) scrapeForewarm() string {
	return fmt.Sprintf(`
  - job_name: forewarm
    honor_labels: true
    scheme: https
    tls_config: {insecure_skip_verify: true, cert_file: %[1]s/admin.crt, key_file: %[1]s/admin.key}
    file_sd_configs: [{files: [%[1]s/forewarm.json], refresh_interval: 1s}]`, s.Dir)
}

// besideKEDA: KEDA's own Prometheus triggers scale while Forewarm is away, if KEDA reads Forewarm's value by one, too. (While an
// external trigger is not reachable, KEDA answers for none of a ScaledObject's triggers.)
func (a away) besideKEDA(t *testing.T, scaler string) {
	t.Helper()
	replica := fmt.Sprintf(`[{"targets": [%q]}]`, strings.TrimPrefix(a.replicas[0].URL, "https://"))
	if err := os.WriteFile(filepath.Join(a.Dir, "forewarm.json"), []byte(replica), 0o600); err != nil {
		t.Fatal(err)
	}
	prometheus := func(query string) string {
		return fmt.Sprintf(`{type: prometheus, metricType: AverageValue, metadata: {serverAddress: %q, query: '%s',
      threshold: "10", ignoreNullValues: "false"}}`, a.prometheus.URL, query)
	}
	own := prometheus(`sum(inflight{namespace="away",app="%[1]s"})`)
	served := prometheus(`max(forewarm_served_value{namespace="away",forecast="%[1]s"})`)
	external := `{type: external-push, metricType: AverageValue, metadata: {scalerAddress: "` + scaler +
		`", forecast: %[1]s, target: "10"}, authenticationRef: {kind: ClusterTriggerAuthentication, name: forewarm}}`
	triggered := func(name string, triggers ...string) string {
		return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %[1]s, namespace: away}
spec:
  scaleTargetRef: {name: %[1]s}
  minReplicaCount: 1
  maxReplicaCount: 20
  pollingInterval: 2
  triggers: [`+strings.Join(triggers, ", ")+"]\n", name)
	}
	a.prepare(t, triggered(secured, served, own), triggered(reactive, own), triggered(unsecured, external))
	// An external trigger that is reachable and has no value does not keep the other triggers from scaling.
	a.demand.set("away", "unknown", 28)
	a.MustApply(t, workload("away", "unknown", "1s", 1), triggered("unknown", external, own))
	a.scaled(t, "away", "unknown", 3)
	a.replicas[0].Kill()
	a.endure(t)
}

// objectMetric: the same Forecast by custom.metrics.k8s.io, while KEDA keeps its API group.
func (s *stage) objectMetric(t *testing.T) {
	t.Helper()
	s.demand.set("objectively", "llama", 25)
	s.MustApply(
		t,
		namespace("objectively"),
		workload("objectively", "llama", "1s", 1),
		forecastOf("objectively", "llama"),
		hpa("objectively", "llama", "llama", object("llama")),
	)
	s.scaled(t, "objectively", "llama", 3)
	owner := s.get(t, "apiservice", "v1beta1.external.metrics.k8s.io", "-o", "jsonpath={.spec.service.namespace}")
	if owner != "keda" {
		t.Errorf("external.metrics.k8s.io belongs to %s, not to KEDA any more", owner)
	}
	clustertest.MustEventually(t, func() string {
		text := s.get(t, "forecast", "llama", "-n", "objectively", "-o",
			`jsonpath={.status.conditions[?(@.type=="Reachable")].message}`)
		if !strings.Contains(text, "keda/keda-metrics-apiserver") || !strings.Contains(text, "Object metric") {
			return "the status does not name the owner of external.metrics.k8s.io: " + text
		}
		return ""
	})
}

// triggers: KEDA's HPA with both kinds of external trigger.
func (s *stage) triggers(t *testing.T, scaler string) {
	t.Helper()
	s.MustApply(t, namespace("triggered"))
	for _, kind := range []string{"external", "external-push"} {
		s.demand.set("triggered", kind, 25)
		s.MustApply(t, workload("triggered", kind, "1s", 1), forecastOf("triggered", kind),
			scaledObject("triggered", kind, kind, scaler, 1))
		s.scaled(t, "triggered", kind, 3)
		s.demand.set("triggered", kind, 45)
		s.scaled(t, "triggered", kind, 5)
		s.explainTriggered(t, kind)
	}
}

// scaledObject returns a ScaledObject with a target of 10, active above a demand of 5.
func scaledObject(namespace, name, kind, scaler string, least int) string {
	return fmt.Sprintf(`
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: %[2]s, namespace: %[1]s}
spec:
  scaleTargetRef: {name: %[2]s}
  minReplicaCount: %[5]d
  maxReplicaCount: 20
  pollingInterval: 2
  cooldownPeriod: 4
  triggers:
    - type: %[3]s
      metricType: AverageValue
      metadata: {scalerAddress: "%[4]s", forecast: %[2]s, target: "10", activation: "5"}
      authenticationRef: {kind: ClusterTriggerAuthentication, name: forewarm}
`, namespace, name, kind, scaler, least)
}

// A demand with pulses on schedule. The lead window is 86 s, so the workload is at zero for about 45 s of each cycle.
const (
	cycle = 150 * time.Second
	pulse = 20 * time.Second
	// early is when a workload may still be at zero before a pulse: on a slow machine the scenario may begin late in
	// the cycle, and a workload that is created seconds before a pulse cannot be ready for it.
	early = time.Minute
)

// schedule is the times of the pulses: one in every cycle, before and after a beginning. The beginning is shortly
// before the setup, so that the newest pulse of the history is over when the workloads are created (an unrecorded one
// would count as no demand), and the next follows soon.
type schedule struct {
	beginning time.Time
	cycle     time.Duration
}

// demand returns n seconds of demand from a time on.
func (s schedule) demand(from time.Time, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		if s.until(from.Add(time.Duration(i)*time.Second)) == 0 {
			out[i] = 30
		}
	}
	return out
}

// until returns the time to the next pulse, 0 within one.
func (s schedule) until(at time.Time) time.Duration {
	since := (at.Sub(s.beginning)%s.cycle + s.cycle) % s.cycle
	if since < pulse {
		return 0
	}
	return s.cycle - since
}

// reported is the demand of a workload as its exporter reports it.
func (s schedule) reported(name string, silent *atomic.Bool) func() float64 {
	return func() float64 {
		if name == onItsOwn && silent.Load() {
			return math.NaN()
		}
		return s.demand(time.Now(), 1)[0]
	}
}

// The workloads that scale to zero. A gateway exports the demand of one; replicas export the other's, so its series
// is absent while there are none.
const (
	behindGateway = "behind-gateway"
	onItsOwn      = "on-its-own"
)

// zeroScaleState is an observation of a workload that scales to zero.
type zeroScaleState struct {
	// replicas that it should have; ready: one is ready.
	replicas string
	ready    bool
	// absent: a missing sample counts as demand 0 because there is no replica.
	absent bool
	// scored: a model has a score, so that demand is foreseen; empty: Forewarm has noted that there is no replica.
	scored, empty bool
}

func (s *stage) zeroScaleState(t *testing.T, name string) zeroScaleState {
	t.Helper()
	scale := strings.Fields(s.scale(t, "asleep", name))
	forecast := strings.Split(s.get(t, "forecast", name, "-n", "asleep", "-o", `jsonpath={.status.observed} `+
		`{.status.conditions[?(@.type=="ScaledToZero")].status}/{.status.state}/{.status.scaledToZero.changes[*]}`), "/")
	return zeroScaleState{
		replicas: scale[0], ready: len(scale) == 2, absent: forecast[0] == "0 True",
		scored: forecast[1] != "" && forecast[1] != "Warming", empty: passed(forecast[2])%2 == 1,
	}
}

// passed is how many of some Unix times are over: an odd number of the changes of ScaledToZero while there is no replica.
func passed(times string) int {
	n := 0
	for at := range strings.FieldsSeq(times) {
		if at <= strconv.FormatInt(time.Now().Unix(), 10) { // Of ten digits, until 2286.
			n++
		}
	}
	return n
}

// handedOverAtZero: a stock HPA that replaces a ScaledObject while its workload is at zero does not wake it, which Forewarm reports.
func (s *stage) handedOverAtZero(t *testing.T, scaler string) {
	t.Helper()
	const name = "handed-over"
	s.demand.set("asleep", name, 0)
	s.MustApply(t, workload("asleep", name, "5s", 1), forecastOf("asleep", name),
		scaledObject("asleep", name, "external-push", scaler, 0))
	s.scaled(t, "asleep", name, 0)
	s.MustKubectl(t, "delete", "scaledobject", name, "-n", "asleep")
	s.demand.set("asleep", name, 25)
	s.MustApply(t, hpaToZero(name, object(name)))
	s.stuckAtZero(t, name)
}

// fromZero: a workload scales to zero, is ready before the first request, and scales to zero again.
func (s *stage) fromZero(t *testing.T, name, scaler string, times schedule) {
	t.Helper()
	var silent atomic.Bool
	s.demand.follow("asleep", name, times.reported(name, &silent))
	s.MustApply(t, workload("asleep", name, "5s", 0),
		forecastOf("asleep", name, "leadTime: {mode: Fixed, duration: 10s}", "seasons: ["+cycle.String()+"]"),
		scaledObject("asleep", name, "external-push", scaler, 0))
	foreseen, asleep, absent, ready := false, false, false, time.Duration(0)
	for deadline := time.Now().Add(4*cycle + time.Minute); time.Now().Before(deadline); time.Sleep(time.Second) {
		now, until := s.zeroScaleState(t, name), times.until(time.Now())
		// On a busy machine the first pulse may come before a model has a score, or just after. Its demand is reported
		// as that before it was: replicas that are absent would leave a season of 0, and nothing to foresee. So would
		// a gap: from a season whose peak is unknown nothing is foreseen.
		foreseen = foreseen || now.scored && until > early
		silent.Store(foreseen && !now.ready && now.empty)
		absent = absent || now.absent
		switch {
		case !foreseen:
		case now.replicas == "0" && until > early:
			asleep = true
			if ready > 0 && absent == (name == onItsOwn) {
				t.Logf("at zero, ready %.0f s before the first request, and at zero again", ready.Seconds())
				return
			}
		case asleep && ready == 0 && now.ready && until > 0:
			ready = until
		case asleep && !now.ready && until == 0:
			t.Fatalf("no replica is ready at the first request: %+v\n%s", now,
				s.get(t, "outlooks,forecasts", "-n", "asleep", "-o", "wide"))
		}
	}
	t.Fatalf(
		"%s was not ready before a request and at zero again: foreseen %v, at zero %v, no sample %v, ready %s before\n%s",
		name,
		foreseen,
		asleep,
		absent,
		ready,
		s.get(t, "outlooks,forecasts,scaledobjects", "-n", "asleep", "-o", "wide"),
	)
}
