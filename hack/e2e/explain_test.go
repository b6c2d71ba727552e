package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// explanation has the fields of "forewarm explain --json" that the test reads.
type explanation struct {
	Replicas int32  `json:"replicas"`
	Desired  *int32 `json:"desiredReplicas"`
	Warnings []struct {
		Reason  string `json:"reason"`
		Message string `json:"message"`
		Advice  string `json:"advice"`
	} `json:"warnings"`
	Sentences []string `json:"sentences"`
	Unknown   []string `json:"unknown"`
	Metrics   []struct {
		Value    *float64 `json:"value"`
		Forecast string   `json:"forecast"`
	} `json:"metrics"`
	Live *struct {
		Desired      int32    `json:"desiredReplicas"`
		Agrees       bool     `json:"agrees"`
		SameReadings bool     `json:"sameReadings"`
		Why          []string `json:"why"`
	} `json:"live"`
}

func (e *explanation) reasons() []string {
	var out []string
	for _, w := range e.Warnings {
		out = append(out, w.Reason)
	}
	return out
}

// explainCase is an HPA of the scenario, and its expected explanation.
type explainCase struct {
	name string
	// demand of the Forecast of the same name; replicas of the Deployment at first.
	demand   float64
	replicas int
	// further lines of the HPA's spec.
	further string
	metrics []string
	// want is the number at rest; reason is that of an expected warning.
	want   int32
	reason string
}

// atRestCases returns HPAs that come to rest, with their expected explanation.
func atRestCases() []explainCase {
	const (
		long   = "behavior: {scaleDown: {stabilizationWindowSeconds: 600}}"
		exact  = `behavior: {scaleUp: {tolerance: "0"}}`
		never  = "behavior: {scaleDown: {stabilizationWindowSeconds: 0}}"
		little = "behavior: {scaleUp: {policies: [{type: Pods, value: 1, periodSeconds: 10}]}, " +
			"scaleDown: {stabilizationWindowSeconds: 0, policies: [{type: Percent, value: 20, periodSeconds: 10}]}}"
	)
	byValue := strings.Replace(external("value", ""), `AverageValue, averageValue: "10"`, `Value, value: "8"`, 1)
	return []explainCase{
		{name: "plain", demand: 35, replicas: 1, want: 4},
		{name: "object", demand: 25, replicas: 1, metrics: []string{object("object")}, want: 3},
		{name: "deadband", demand: 105, replicas: 10, want: 10, reason: "ToleranceDeadBand"},
		{name: "exact", demand: 105, replicas: 10, want: 11, further: exact},
		{name: "least", demand: 5, replicas: 1, further: "minReplicas: 3", want: 3},
		{name: "most", demand: 290, replicas: 1, want: 20, reason: "MaxReplicasCutForecast"},
		{name: "held", demand: 15, replicas: 6, further: long, want: 6},
		{name: "falls", demand: 15, replicas: 6, further: never, want: 2},
		{name: "slow", demand: 15, replicas: 2, further: little, want: 2},
		{name: "value", demand: 8, replicas: 2, metrics: []string{byValue}, want: 2, reason: "ValueTargetCompounds"},
		{
			name: "several", demand: 35, replicas: 1, want: 4,
			metrics: []string{external("several", ""), external("plain", `quantile: "0.5"`)},
		},
		{name: "lost", demand: 35, replicas: 3, metrics: []string{external("unknown", "")}, want: 3, reason: missing},
	}
}

// applyExplained creates the demands, the workloads, the Forecasts and the HPAs of cases. An HPA comes when its workload has all
// of its replicas: it compares the demand with those that are there, and one that begins below its tolerance does not stay within.
func (s *stage) applyExplained(t *testing.T, cases []explainCase) {
	t.Helper()
	var workloads, scalers []string
	for _, c := range cases {
		s.demand.set("explained", c.name, c.demand)
		metrics := c.metrics
		if metrics == nil {
			metrics = []string{external(c.name, "")}
		}
		// Without GPUs: the cluster does not have as many.
		workloads = append(workloads, forecastOf("explained", c.name), strings.Replace(
			workload("explained", c.name, "1s", c.replicas), `nvidia.com/gpu: "1"`, `cpu: "100m"`, 1))
		scalers = append(scalers, strings.Replace(
			hpa("explained", c.name, c.name, metrics...), "  metrics:", "  "+c.further+"\n  metrics:", 1))
	}
	s.MustApply(t, workloads...)
	for _, c := range cases {
		s.scaled(t, "explained", c.name, c.replicas)
	}
	s.MustApply(t, scalers...)
}

// TestExplain compares "forewarm explain" with what the real HPA controller requests at rest.
func TestExplain(t *testing.T) { //nolint:tparallel // The scenarios follow on each other.
	t.Parallel()
	s := setUp(t, clustertest.Options{Sync: 2 * time.Second, Stabilization: 5 * time.Minute})
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	s.MustApply(t, namespace("explained"))
	cases := atRestCases()
	s.applyExplained(t, cases)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { s.atRest(t, &c) })
	}
	t.Run("moving", s.moving)
	t.Run("rivals", func(t *testing.T) {
		s.MustApply(t, hpa("explained", "second", "plain", external("plain", "")))
		if e := s.explain(t, s.Kubeconfig, "explained/plain"); !slices.Contains(e.reasons(), "SeveralAutoscalers") {
			t.Errorf("no warning of two HPAs of one Deployment: %v", e.reasons())
		}
	})
	t.Run("in words", func(t *testing.T) {
		out, err := s.forewarmExplain(t, s.Kubeconfig, "explained/held")
		if err != nil {
			t.Fatal(err)
		}
		t.Log("\n" + out)
	})
	t.Run("with few rights", s.fewRights)
}

// atRest waits until the HPA has read the same values, and compares.
func (s *stage) atRest(t *testing.T, c *explainCase) {
	t.Helper()
	var e explanation
	clustertest.MustEventually(t, func() string {
		e = s.explain(t, s.Kubeconfig, "explained/"+c.name)
		switch {
		case e.Live == nil || e.Desired == nil:
			return "no status, or no figure"
		case e.Replicas != c.want || !e.Live.SameReadings:
			return fmt.Sprintf("%d replicas, want %d; same readings: %t (%v)", e.Replicas, c.want, e.Live.SameReadings,
				e.Live.Why)
		}
		return ""
	})
	if c.reason == missing {
		// Without a metric the controller changes nothing, and desiredReplicas in its status does not count.
		e.Live.Desired, e.Live.Agrees = c.want, true
	}
	if *e.Desired != e.Live.Desired || !e.Live.Agrees || *e.Desired != c.want {
		t.Errorf("%d explained, the HPA's status has %d, want %d: %v\n%s",
			*e.Desired, e.Live.Desired, c.want, e.Live.Why, strings.Join(e.Sentences, "\n"))
	}
	if c.reason != "" && !slices.Contains(e.reasons(), c.reason) {
		t.Errorf("%s is not among the warnings: %v", c.reason, e.reasons())
	}
	if len(e.Unknown) > 0 {
		t.Errorf("an administrator could not read: %v", e.Unknown)
	}
}

// moving: while the demand rises and falls, the explanation equals the status whenever the HPA has read the same
// values, or the status after its next sync. This holds with and without scale-down stabilization, and with policies
// of small steps.
func (s *stage) moving(t *testing.T) {
	steps := []float64{20, 45, 70, 33, 88, 12}
	const step = 12 * time.Second
	begun := time.Now()
	names := []string{"plain", "falls", "slow"}
	for _, name := range names {
		s.demand.follow("explained", name, func() float64 { return steps[int(time.Since(begun)/step)%len(steps)] })
	}
	compared, ahead, figures := 0, 0, map[int32]bool{}
	enough := func() bool { return compared >= 20 && len(figures) >= 4 }
	// A busy machine compares little in a round of the steps: it gets more of them.
	round := time.Duration(len(steps)) * step
	for time.Since(begun) < round || !enough() && time.Since(begun) < 5*round {
		for _, name := range names {
			e := s.explain(t, s.Kubeconfig, "explained/"+name)
			if e.Live == nil || e.Desired == nil || !e.Live.SameReadings {
				continue
			}
			compared++
			figures[*e.Desired] = true
			if e.Live.Agrees {
				continue
			}
			ahead++
			if after, same := s.afterSync(t, name, &e); same && after != *e.Desired {
				t.Errorf("%s: %d explained, the HPA's status had %d and has %d: %v\n%s",
					name, *e.Desired, e.Live.Desired, after, e.Live.Why, strings.Join(e.Sentences, "\n"))
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
	t.Logf("%d moments compared, %d different numbers; %d match the next sync", compared, len(figures), ahead)
	if !enough() || ahead > compared/4 {
		t.Errorf("%d moments with %d different numbers compared, %d match only the next sync: want more moments, "+
			"and fewer of these", compared, len(figures), ahead)
	}
}

// afterSync returns what an HPA requests after its next sync, and whether its metric was constant until then.
func (s *stage) afterSync(t *testing.T, name string, before *explanation) (desired int32, same bool) {
	t.Helper()
	time.Sleep(5 * time.Second) // Two syncs.
	now := s.explain(t, s.Kubeconfig, "explained/"+name)
	return now.Live.Desired, *now.Metrics[0].Value == *before.Metrics[0].Value
}

// fewRights: a user who may only read HPAs gets the number, and a list of what could not be read.
func (s *stage) fewRights(t *testing.T) {
	s.MustApply(t, `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: hpas, namespace: explained}
rules: [{apiGroups: [autoscaling], resources: [horizontalpodautoscalers], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: hpas, namespace: explained}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: hpas}
subjects: [{kind: ServiceAccount, name: default, namespace: explained}]
`)
	token, err := s.Kubectl(t.Context(), "", "create", "token", "default", "-n", "explained")
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "config")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters: [{name: e2e, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: user, user: {token: %q}}]
contexts: [{name: e2e, context: {cluster: e2e, user: user}}]
current-context: e2e
`, s.Config.Host, s.Config.CAFile, strings.TrimSpace(token))
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := s.explain(t, config, "explained/object")
	if e.Desired == nil || *e.Desired != 3 {
		t.Errorf("%v explained, want 3 by the status", e.Desired)
	}
	unknown := strings.Join(e.Unknown, "\n")
	for _, what := range []string{"the scale of Deployment/object", "metric demand", "the outlook of Forecast object", "other HPAs"} {
		if !strings.Contains(unknown, what) {
			t.Errorf("%q is missing: %s", what, unknown)
		}
	}
	if strings.Contains(unknown, "unknown") || strings.Count(unknown, "forbidden") != 4 {
		t.Errorf("not every rejection has the server's message: %s", unknown)
	}
	t.Log("\n" + unknown)
}

// explainTriggered: a ScaledObject is explained by the HPA that KEDA created, with KEDA's value and the outlook of
// the Forecast that its trigger names.
func (s *stage) explainTriggered(t *testing.T, name string) {
	t.Helper()
	var e explanation
	clustertest.MustEventually(t, func() string {
		if e = s.explain(t, s.Kubeconfig, "triggered/scaledobject/"+name); e.Live == nil || !e.Live.SameReadings {
			return fmt.Sprintf("other readings: %+v", e)
		}
		return ""
	})
	if e.Desired == nil || *e.Desired != 5 || !e.Live.Agrees || e.Metrics[0].Forecast != name {
		t.Errorf("%+v, want 5 by Forecast %s", e, name)
	}
	if !slices.Contains(e.reasons(), "OwnedByKEDA") {
		t.Errorf("the owner of the HPA is missing: %v", e.reasons())
	}
}

// explain runs "forewarm explain --json".
func (s *stage) explain(t *testing.T, kubeconfig, hpa string) explanation {
	t.Helper()
	out, err := s.forewarmExplain(t, kubeconfig, hpa, "--json")
	if err != nil {
		t.Fatal(err)
	}
	var e explanation
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return e
}

func (s *stage) forewarmExplain(t *testing.T, kubeconfig string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), s.Components.Forewarm,
		append([]string{"explain", "--kubeconfig", kubeconfig}, args...)...)
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("forewarm explain %s: %w: %s", strings.Join(args, " "), err, &stderr)
	}
	return string(out), err
}
