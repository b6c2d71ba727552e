package deploy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// alert is a rule of the alerts' file.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

const alertsFile = "charts/forewarm/files/alerts.yaml"

// TestAlerts runs Prometheus' own tests of the alerts: each fires, does not fire, and does not flap.
func TestAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not on PATH, so the alerts are not tested: apt-get install prometheus")
	}
	for _, args := range [][]string{
		{"check", "rules", filepath.FromSlash(alertsFile)}, {"test", "rules", filepath.Join("testdata", "alerts.yaml")},
	} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// emergencyExit is how a runbook begins, if its alert may mean that a workload has too few replicas.
const emergencyExit = "\n**Need replicas right now?** `kubectl patch hpa NAME -n NAMESPACE --type merge " +
	"-p '{\"spec\": {\"minReplicas\": 20}}'` works without Forewarm.\n" +
	"For KEDA, Argo CD and Flux, see [If you need replicas now](rollout.md#if-you-need-replicas-now).\n"

// TestAlertsAreWorthWaking: few, each of metrics that Forewarm has, tested, and with a runbook that says what to do.
func TestAlertsAreWorthWaking(t *testing.T) {
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{apiservertest.Root(t)}, path...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	var file struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal([]byte(read("deploy", filepath.FromSlash(alertsFile))), &file); err != nil {
		t.Fatal(err)
	}
	runbooks, tests := read("docs", "runbooks.md"), read("deploy", "testdata", "alerts.yaml")
	metrics := read("docs", "reference", "metrics.md")
	rules := file.Groups[0].Rules
	// More replicas would not start either, are there already, wait for nodes, or need the command of the runbook.
	noneNeeded := []string{
		"ForewarmReplicasNotReady", "ForewarmLeadTimeJumped", "ForewarmPoolOverBudget", "ForewarmAutoscalerDisabled",
		"ForewarmFleetShortage",
	}
	names := map[string]bool{} // One alert may have two severities.
	for _, a := range rules {
		names[a.Alert] = true
	}
	if len(names) == 0 || len(names) > 17 {
		t.Errorf("%d alerts, want at most seventeen", len(names))
	}
	for _, a := range rules {
		_, section, found := strings.Cut(runbooks, "\n## "+a.Alert+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		for _, part := range []string{"**Symptom:**", "**Meaning:**", "**Check:**", "**Fix:**"} {
			if !found || !strings.Contains(section, part) {
				t.Errorf("docs/runbooks.md has no %s of %s", part, a.Alert)
			}
		}
		if !strings.HasPrefix(section, emergencyExit) && !slices.Contains(noneNeeded, a.Alert) {
			t.Errorf("the runbook of %s does not begin with how to get replicas without Forewarm", a.Alert)
		}
		if !strings.Contains(runbooks, "| ["+a.Alert+"](#"+strings.ToLower(a.Alert)+") | "+a.Labels["severity"]+" |") {
			t.Errorf("the table of docs/runbooks.md lacks %s, %s", a.Alert, a.Labels["severity"])
		}
		if !strings.HasSuffix(a.Annotations["runbook_url"], "docs/runbooks.md#"+strings.ToLower(a.Alert)) {
			t.Errorf("%s has the runbook %s", a.Alert, a.Annotations["runbook_url"])
		}
		for _, metric := range regexp.MustCompile(`forewarm_\w+`).FindAllString(a.Expr, -1) {
			if !strings.Contains(metrics, "`"+metric+"`") {
				t.Errorf("%s asks for %s, which Forewarm does not have", a.Alert, metric)
			}
		}
		if fires := regexp.MustCompile(`alertname: ` + a.Alert + `, exp_alerts`); !fires.MatchString(tests) {
			t.Errorf("no test shows %s fire", a.Alert)
		}
		if silent := regexp.MustCompile(`alertname: ` + a.Alert + `}`); !silent.MatchString(tests) {
			t.Errorf("no test shows %s silent", a.Alert)
		}
	}
}
