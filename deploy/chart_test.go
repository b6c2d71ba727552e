package deploy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/hack/apiservertest"
)

// chart is what helm installs, and helmTools the variable that names the folder with helm.
const (
	chart     = "deploy/charts/forewarm"
	helmTools = "FOREWARM_HELM"
)

// TestChart runs the real helm against a real kube-apiserver.
func TestChart(t *testing.T) {
	if os.Getenv(helmTools) == "" {
		t.Skipf("%s is unset: run make test-chart, which builds helm and sets it", helmTools)
	}
	c := apiservertest.Start(t)
	h := helm{c, apiservertest.Kubeconfig(t, c.Config)}
	for _, test := range []struct {
		name string
		run  func(*testing.T, helm)
	}{
		{"EveryValuesFileIsValid", testValues},
		{"AReleaseComesAndGoes", testRelease},
		{"TwoReleasesDoNotCollide", testTwoReleases},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, h) })
	}
}

// helm runs helm as the administrator of a cluster.
type helm struct {
	*apiservertest.Cluster

	kubeconfig string
}

func (h helm) try(t *testing.T, args ...string) (output string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv(helmTools), "helm"), args...)
	command.Dir = apiservertest.Root(t)
	command.Env = append(os.Environ(), "KUBECONFIG="+h.kubeconfig, "HELM_CACHE_HOME="+t.TempDir(),
		"HELM_CONFIG_HOME="+t.TempDir(), "HELM_DATA_HOME="+t.TempDir())
	out, err := command.CombinedOutput()
	return string(out), err
}

func (h helm) must(t *testing.T, args ...string) string {
	t.Helper()
	output, err := h.try(t, args...)
	if err != nil {
		t.Fatalf("helm %q: %v\n%s", args, err, output)
	}
	return output
}

// testValues renders every values file and asks the API server for each object, with the CRDs of the optional kinds.
func testValues(t *testing.T, h helm) {
	t.Helper()
	for _, file := range optionalCRDs(t) {
		h.MustKubectl(t, "", "create", "-f", file)
	}
	h.MustKubectl(t, "", "wait", "--for=condition=Established", "--timeout=30s", "crd", "--all")
	for _, namespace := range []string{"forewarm-system", "forewarm-agent", "keda", "keda-system"} {
		h.MustKubectl(t, "", "create", "namespace", namespace)
	}
	files, err := filepath.Glob(filepath.Join(apiservertest.Root(t), chart, "ci", "*-values.yaml"))
	if err != nil || len(files) < 12 {
		t.Fatalf("%d values files: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), "-values.yaml"), func(t *testing.T) {
			rendered := h.must(t, "template", "forewarm", chart, "--namespace=forewarm-system", "--values="+file)
			output := h.MustKubectl(t, rendered, "apply", "--server-side", "--dry-run=server", "--validate=strict",
				"--force-conflicts", "-f", "-")
			if strings.Contains(output, "Warning") {
				t.Errorf("the API server warns: %s", output)
			}
			t.Logf("%d objects", strings.Count(output, "serverside-applied"))
		})
	}
	for _, namespace := range []string{"forewarm-system", "forewarm-agent", "keda", "keda-system"} {
		h.MustKubectl(t, "", "delete", "namespace", namespace, "--wait=false")
	}
}

// optionalCRDs are files with the kinds of cert-manager and of the Prometheus Operator that the chart has.
func optionalCRDs(t *testing.T) []string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "mod", "download", "-json",
		"github.com/cert-manager/cert-manager", "github.com/prometheus-operator/prometheus-operator")
	command.Dir = filepath.Join(apiservertest.Root(t), "hack", "components", "helm", "crds")
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	var folders []string
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var module struct{ Dir string }
		if err := decoder.Decode(&module); err != nil {
			t.Fatal(err)
		}
		folders = append(folders, module.Dir)
	}
	if len(folders) != 2 {
		t.Fatalf("modules: %v", folders)
	}
	monitoring := filepath.Join(folders[1], "example", "prometheus-operator-crd")
	return []string{
		filepath.Join(folders[0], "deploy", "crds", "cert-manager.io_certificates.yaml"),
		filepath.Join(folders[0], "deploy", "crds", "cert-manager.io_issuers.yaml"),
		filepath.Join(monitoring, "monitoring.coreos.com_servicemonitors.yaml"),
		filepath.Join(monitoring, "monitoring.coreos.com_podmonitors.yaml"),
		filepath.Join(monitoring, "monitoring.coreos.com_prometheusrules.yaml"),
	}
}

// required are the values of every release.
var required = []string{
	"--set=image.repository=registry.example/forewarm", "--set=prometheus.url=http://prometheus:9090",
}

// testRelease installs, upgrades and uninstalls the way that README.md says.
func testRelease(t *testing.T, h helm) {
	t.Helper()
	const namespace = "scaling"
	// The test's own CRDs belong to no release.
	h.MustKubectl(
		t,
		"",
		"delete",
		"crd",
		"demandevents.forewarm.dev",
		"forecasts.forewarm.dev",
		"gpufleets.forewarm.dev",
		"warmpools.forewarm.dev",
		"--wait",
	)
	h.MustKubectl(t, "", "create", "namespace", "keda-of-helm")
	in := append([]string{
		"--namespace=" + namespace, "--set=keda.enabled=true,keda.namespace=keda-of-helm",
	}, required...)

	notes := h.must(t, append([]string{"install", "forewarm", chart, "--create-namespace"}, in...)...)
	if !strings.Contains(notes, "forewarm doctor --wait --namespace scaling") {
		t.Errorf("the notes do not name the next step:\n%s", notes)
	}
	h.MustKubectl(t, "", "wait", "--for=condition=Established", "--timeout=30s", "crd/forecasts.forewarm.dev")
	expectAPIServicesConfined(t, h.Cluster, namespace, "forewarm")
	// The level that it names exists.
	h.MustKubectl(t, "", "wait", "--for=condition=Dangling=False", "--timeout=30s", "flowschema/forewarm")

	if h.ofRelease(t) == "" {
		t.Error("no object of the release has its label")
	}
	secrets := []string{namespace + "/forewarm-ca", "keda-of-helm/forewarm-client"}
	for _, secret := range secrets {
		in, name, _ := strings.Cut(secret, "/")
		// As the leader writes it.
		h.MustKubectl(t, "", "patch", "secret", "-n", in, name, "--field-manager=forewarm", "--type=merge",
			`--patch={"data": {"ca.crt": "Zm9yZXdhcm0="}}`)
	}
	h.MustKubectl(t, "", "patch", "crd", "forecasts.forewarm.dev", "--type=json",
		`--patch=[{"op": "remove", "path": "/spec/names/categories"}]`)
	// Helm 4 applies on the server; Helm 3, and an Argo CD of today, merge on the client.
	for _, way := range []string{"--server-side=true", "--server-side=false"} {
		h.must(
			t,
			append(
				[]string{"upgrade", "forewarm", chart, "--set=warmPools.enforce=true,warmPools.maxChunks=3", way},
				in...)...)
		for _, secret := range secrets {
			in, name, _ := strings.Cut(secret, "/")
			got := h.MustKubectl(t, "", "get", "secret", "-n", in, name, "-o", `jsonpath={.data.ca\.crt}`)
			if got != "Zm9yZXdhcm0=" {
				t.Errorf("after the upgrade with %s %s has ca.crt %q", way, secret, got)
			}
		}
		got := h.MustKubectl(t, "", "get", "crd", "forecasts.forewarm.dev", "-o", "jsonpath={.spec.names.categories}")
		if got != `["forewarm"]` {
			t.Errorf("the upgrade with %s did not upgrade the CRD: categories %s", way, got)
		}
	}

	expectPoolsBounded(t, h.Cluster)
	h.must(t, "uninstall", "forewarm", "--namespace="+namespace)
	h.MustKubectl(t, "", "get", "crd", "demandevents.forewarm.dev", "forecasts.forewarm.dev",
		"gpufleets.forewarm.dev", "warmpools.forewarm.dev")
	expectNothingLeft(t, h)
}

// expectPoolsBounded expects that a pool of three chunks may be made, and none of four.
func expectPoolsBounded(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	create := func(most int) (string, error) {
		return c.Kubectl(t, fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: l4, namespace: default}
spec:
  members: [{forecast: llama}]
  chunk: {podTemplate: {spec: {containers: [{name: chunk, resources: {limits: {nvidia.com/gpu: "1"}}}]}}}
  max: %d
  actuator: {capacityBuffer: {}}
`, most), "create", "--dry-run=server", "-f", "-")
	}
	apiservertest.Eventually(t, 20*time.Second, func() string { // A policy that was just created is not active at once.
		output, err := create(4)
		if err == nil || !strings.Contains(output, "more than the 3 chunks that warmPools.maxChunks allows") {
			return fmt.Sprintf("a pool of 4: %v\n%s", err, output)
		}
		return ""
	})
	if output, err := create(3); err != nil {
		t.Errorf("a pool of 3: %v\n%s", err, output)
	}
}

// ofRelease lists the objects of all releases, without the CRDs.
func (h helm) ofRelease(t *testing.T) string {
	t.Helper()
	return h.MustKubectl(t, "", "get", kinds, "-A", "-l", "app.kubernetes.io/part-of=forewarm", "-o", "name")
}

func expectNothingLeft(t *testing.T, h helm) {
	t.Helper()
	if left := h.ofRelease(t); left != "" {
		t.Errorf("after uninstall there are\n%s", left)
	}
}

// kinds are those of the chart.
const kinds = "deployments,services,serviceaccounts,secrets,poddisruptionbudgets,roles,rolebindings,clusterroles," +
	"clusterrolebindings,validatingadmissionpolicies,validatingadmissionpolicybindings,flowschemas,priorityclasses," +
	"networkpolicies,daemonsets,apiservices"

func testTwoReleases(t *testing.T, h helm) {
	t.Helper()
	for _, release := range []string{"blue", "green"} {
		args := append([]string{
			"install", release, chart, "--namespace=" + release, "--create-namespace", "--set=crds.install=false",
		}, required...)
		h.must(t, args...)
	}
	for _, release := range []string{"blue", "green"} {
		h.must(t, "uninstall", release, "--namespace="+release)
	}
	expectNothingLeft(t, h)
	output, err := h.try(t, "install", "forewarm", chart, "--namespace=empty", "--create-namespace")
	if err == nil || !strings.Contains(output, "image.repository is empty") {
		t.Errorf("an install without values: %v\n%s", err, output)
	}
}
