package e2e_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// TestVariants: one demand on three Deployments. What lasts is on the cheap one that starts slowly, a rise on the one that starts soon, and
// what spot cannot hold, for there are no such nodes, is on the others.
func TestVariants(t *testing.T) {
	t.Parallel()
	const usual, risen = 55, 130
	s := setUp(t, clustertest.Options{Sync: time.Second, Stabilization: 5 * time.Second})
	past := make([]float64, 3600)
	for i := range past {
		past[i] = usual + math.Sin(float64(i))
	}
	s.writePast(t, workloadKey{"fleet", "burst"}, time.Second, past)
	s.demand.set("fleet", "burst", usual)
	s.observe(t)
	s.forewarm(t, "deploy/default", 1)
	variant := func(name, price, lead string) string {
		return fmt.Sprintf(
			`{name: %[1]s, targetRef: {kind: Deployment, name: %[1]s}, price: %[2]q, leadTime: %[3]s}`,
			name,
			price,
			lead,
		)
	}
	nowhere := strings.NewReplacer("      containers:", "      nodeSelector: {capacity: spot}\n      containers:")
	all := []string{
		namespace("fleet"),
		forecastOf("fleet", "burst", "quantile: ", `objective: {late: "1%"}`, `price: "3"`,
			"variants: ["+variant("base", "1.5", "40s")+", "+variant("spot", "1", "5s")+"]"),
		workload(
			"fleet",
			"burst",
			"5s",
			1,
		),
		workload("fleet", "base", "30s", 6),
		nowhere.Replace(workload("fleet", "spot", "5s", 1)),
	}
	for _, name := range []string{"burst", "base", "spot"} {
		all = append(all, hpa("fleet", name, name, external("burst", "variant: "+name)))
	}
	s.MustApply(t, strings.Join(all, "\n---\n"))
	for _, name := range []string{"burst", "base", "spot"} {
		s.active(t, "fleet", name, found)
	}
	part := func(name string) float64 { return float64(s.value(t, "fleet", "burst", "variant="+name)) / 1000 }
	reason := func(t *testing.T) string {
		t.Helper()
		return s.get(
			t,
			"outlook/burst",
			"-n",
			"fleet",
			"-o",
			`jsonpath={.status.conditions[?(@.type=="VariantsPlausible")].reason}`,
		)
	}
	expect(t, "the condition of variants", reason, "VariantFull")
	expect(t, "spot's replicas, of which one tries", func(t *testing.T) string {
		t.Helper()
		return s.get(t, "deployment", "spot", "-n", "fleet", "-o", "jsonpath={.spec.replicas}")
	}, "1")
	base, burst := part("base"), part("burst")
	t.Logf("base %v, burst %v, spot %v of %d", base, burst, part("spot"), usual)
	if base < usual-20 || burst > 50 || base+burst < usual {
		t.Errorf("base %v and burst %v of %d", base, burst, usual)
	}
	s.demand.set("fleet", "burst", risen)
	risenAt := time.Now()
	for part("base")+part("burst") < risen && time.Since(risenAt) < time.Minute {
		time.Sleep(time.Second)
	}
	t.Logf(
		"%s after the rise: base %v, burst %v of %d",
		time.Since(risenAt).Round(time.Second),
		part("base"),
		part("burst"),
		risen,
	)
	if got := part("base"); got != base {
		t.Errorf("base %v has the rise at once, want %v", got, base)
	}
	if got := part("burst"); got < risen-base {
		t.Errorf("burst %v of the rise, want %v", got, risen-base)
	}
	s.expectRejected(t, "", "get", "--raw", metric("fleet", "burst", "variant=none"))
}
