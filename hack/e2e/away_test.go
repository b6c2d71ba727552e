package e2e_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// The workloads of a namespace whose demand rises while Forewarm is away.
const (
	// secured reads Forewarm and, as docs/hpa.md recommends, a reactive metric that does not need Forewarm.
	secured = "secured"
	// reactive reads only the reactive metric.
	reactive = "reactive"
	// unsecured reads only Forewarm.
	unsecured = "unsecured"
)

const (
	// rung is how long the demand of the ramp stays the same, and rungs how often it rises, by a replica each time.
	rung, rungs = 5 * time.Second, 4
	// calmDemand needs one replica.
	calmDemand = 8.0
)

// away is a namespace whose demand rises while Forewarm is away.
type away struct {
	*stage
	namespace string
	// hpas are the names of the workloads' HPAs: KEDA gives them its own.
	hpas string
}

func (a away) hpa(name string) string { return fmt.Sprintf(a.hpas, name) }

func (a away) keda() bool { return strings.HasPrefix(a.hpas, "keda") }

// awayNames are the workloads.
func awayNames() []string { return []string{secured, reactive, unsecured} }

// begin makes the demand calm, and adds its past to that of writeSeries.
func (a away) begin(past map[string][]float64) {
	a.follow(func() float64 { return calmDemand })
	for _, name := range awayNames() {
		series := fmt.Sprintf("inflight{namespace=%q,app=%q}", a.namespace, name)
		past[series] = slices.Repeat([]float64{calmDemand}, 600)
	}
}

// pods is the Pods metric inflight, with a target of 10.
const pods = `{type: Pods, pods: {metric: {name: inflight}, target: {type: AverageValue, averageValue: "10"}}}`

// prepare creates the workloads while Forewarm serves, with manifests of their autoscalers, and waits until each has one replica.
func (a away) prepare(t *testing.T, autoscalers ...string) {
	t.Helper()
	a.MustApply(t, namespace(a.namespace))
	for _, name := range awayNames() {
		a.MustApply(t, workload(a.namespace, name, "1s", 1), forecastOf(a.namespace, name))
	}
	a.MustApply(t, autoscalers...)
	clustertest.MustEventually(t, func() string {
		if wanted := a.desired(t); len(wanted) < len(awayNames()) { // KEDA creates its HPAs.
			return fmt.Sprintf("there are the HPAs of %v", wanted)
		}
		return ""
	})
	for _, name := range awayNames() {
		a.active(t, a.namespace, a.hpa(name), found)
		a.scaled(t, a.namespace, name, 1)
	}
	// The HPA has both metrics while Forewarm serves: one that is missing has no type here.
	clustertest.MustEventually(t, func() string {
		types := a.get(t, "hpa", a.hpa(secured), "-n", a.namespace, "-o", "jsonpath={.status.currentMetrics[*].type}")
		if len(strings.Fields(types)) != 2 {
			return fmt.Sprintf("%s has the metrics %q, want two", a.hpa(secured), types)
		}
		return ""
	})
}

func (a away) follow(demand func() float64) {
	for _, name := range awayNames() {
		a.demand.follow(a.namespace, name, demand)
	}
}

// endure is called while Forewarm is away. The secured workload follows a ramp of the demand as fast as the reactive one, and keeps
// its replicas when the demand falls. The unsecured one keeps its replica, until the command of docs/rollout.md raises minReplicas.
func (a away) endure(t *testing.T) {
	t.Helper()
	a.active(t, a.namespace, a.hpa(unsecured), missing)
	begun := time.Now()
	a.follow(func() float64 {
		return calmDemand + 10*min(rungs, float64(time.Since(begun)/rung))
	})
	reached, gap := a.watchRamp(t)
	for k := 2; k <= rungs+1; k++ {
		late := reached[secured][k].Sub(reached[reactive][k])
		t.Logf(
			"%d replicas after %.1f s, %.1f s later than the reactive HPA",
			k,
			reached[secured][k].Sub(begun).Seconds(),
			late.Seconds(),
		)
		if late > 2*a.Sync+gap {
			t.Errorf("without Forewarm %d replicas were wanted %s later than by the reactive HPA alone", k, late)
		}
	}
	if n := a.desired(t)[unsecured]; n != 1 {
		t.Errorf(
			"the HPA with Forewarm's metric alone wants %d replicas while Forewarm is away, want 1: is Forewarm away?",
			n,
		)
	}
	a.follow(func() float64 { return calmDemand })
	a.scaled(t, a.namespace, reactive, 1)
	if n := a.desired(t)[secured]; n != rungs+1 {
		t.Errorf("%d replicas are wanted after the ramp, want %d: one of the HPA's metrics is missing", n, rungs+1)
	}
	a.emergency(t)
}

// emergency raises the replicas of the unsecured workload by the commands that docs/rollout.md has for it.
func (a away) emergency(t *testing.T) {
	t.Helper()
	if a.keda() {
		a.MustKubectl(t, a.documentedPatch(t, "scaledobject")...)
	}
	a.MustKubectl(t, a.documentedPatch(t, "hpa "+a.hpa(""))...)
	a.scaled(t, a.namespace, unsecured, 4)
}

// watchRamp waits until the secured and the reactive workload have the replicas of the ramp's end, and returns when each HPA
// wanted each number for the first time, and the longest time between two observations.
func (a away) watchRamp(t *testing.T) (reached map[string]map[int]time.Time, gap time.Duration) {
	t.Helper()
	reached = map[string]map[int]time.Time{secured: {}, reactive: {}}
	last := time.Now()
	clustertest.MustEventually(t, func() string {
		wanted, now := a.desired(t), time.Now()
		gap, last = max(gap, now.Sub(last)), now
		for name, times := range reached {
			for k := 2; k <= wanted[name]; k++ {
				if times[k].IsZero() {
					times[k] = now
				}
			}
		}
		if wanted[secured] < rungs+1 || wanted[reactive] < rungs+1 {
			return fmt.Sprintf("replicas wanted without Forewarm: %v, want %d", wanted, rungs+1)
		}
		return ""
	})
	return reached, gap
}

// desired returns what each workload's HPA wants.
func (a away) desired(t *testing.T) map[string]int {
	t.Helper()
	client, err := kubernetes.NewForConfig(a.Config)
	if err != nil {
		t.Fatal(err)
	}
	all, err := client.AutoscalingV2().HorizontalPodAutoscalers(a.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int{}
	for i := range all.Items {
		out[all.Items[i].Spec.ScaleTargetRef.Name] = int(all.Items[i].Status.DesiredReplicas)
	}
	return out
}

// documentedPatch is the command of docs/rollout.md that gives an object of the workload llama 20 replicas, for the unsecured workload
// and 4 replicas.
func (a away) documentedPatch(t *testing.T, object string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(a.Components.Root, "docs", "rollout.md"))
	if err != nil {
		t.Fatal(err)
	}
	kind, prefix, _ := strings.Cut(object, " ")
	name := prefix + "llama"
	_, command, found := strings.Cut(string(text), "\n    kubectl patch "+kind+" "+name+" -n inference ")
	flags, command, one := strings.Cut(command, " -p '")
	patch, _, two := strings.Cut(command, "'")
	if !found || !one || !two || !strings.Contains(patch, "20") {
		t.Fatalf("docs/rollout.md has no command that patches %s %s to 20 replicas", kind, name)
	}
	args := append([]string{"patch", kind, prefix + unsecured, "-n", a.namespace}, strings.Fields(flags)...)
	return append(args, "-p", strings.Replace(patch, "20", "4", 1))
}
