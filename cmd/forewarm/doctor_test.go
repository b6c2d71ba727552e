package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/doctor"
	"github.com/forewarm/forewarm/hack/testcluster"
)

// examine runs the doctor's checks with the rights of a user.
func examine(t *testing.T, config *rest.Config) []doctor.Finding {
	t.Helper()
	return examineAt(t, config, time.Now)
}

func examineAt(t *testing.T, config *rest.Config, now func() time.Time) []doctor.Finding {
	t.Helper()
	config = rest.CopyConfig(config)
	config.Timeout = 10 * time.Second
	d, err := doctor.New(doctor.Config{Cluster: config, Namespace: system, Elsewhere: "team", Now: now})
	if err != nil {
		t.Fatal(err)
	}
	report, err := d.Examine(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return report.Findings
}

// ailment is a way in which a cluster is broken, and what must be found.
type ailment struct {
	name string
	// harm and heal are lines of kubectl's arguments; a first word of "<" reads the text behind it.
	harm, heal [][]string
	// input is what an argument list with -f - reads.
	input string
	check string
	level doctor.Level
	// words of the message or the remedy.
	words []string
}

// found is the finding that an ailment asks for; nil where there is none.
func (a *ailment) found(all []doctor.Finding) *doctor.Finding {
	for i := range all {
		f := &all[i]
		text, all := f.Object+" "+f.Message+" "+f.Remedy, true
		for _, word := range a.words {
			all = all && strings.Contains(text, word)
		}
		if f.Check == a.check && f.Level == a.level && all {
			return f
		}
	}
	return nil
}

func described(all []doctor.Finding) string {
	var text strings.Builder
	for _, f := range all {
		if f.Level != doctor.OK && f.Level != doctor.Skipped {
			fmt.Fprintf(&text, "\n  %s %s %s: %s → %s", f.Level, f.Check, f.Object, f.Message, f.Remedy)
		}
	}
	return text.String()
}

// test breaks the cluster, waits until the doctor finds it with what to do, heals the cluster, and waits until it is silent.
func (a *ailment) test(t *testing.T, s *scene) {
	t.Helper()
	for _, args := range a.harm {
		s.MustKubectl(t, a.input, args...)
	}
	eventually(t, func() string {
		all := examine(t, s.Config)
		f := a.found(all)
		switch {
		case f == nil:
			return fmt.Sprintf("no %s of %s with %q among:%s", a.level, a.check, a.words, described(all))
		case f.Remedy == "":
			return "it does not say what to do: " + f.Message
		}
		t.Logf("%s %s, %s: %s → %s", f.Level, f.Check, f.Object, f.Message, f.Remedy)
		return ""
	})
	for _, args := range a.heal {
		s.MustKubectl(t, a.input, args...)
	}
	if a.heal != nil {
		healthy(t, s)
	}
}

// healthy waits until the doctor finds nothing.
func healthy(t *testing.T, s *scene) {
	t.Helper()
	eventually(t, func() string { return described(examine(t, s.Config)) })
}

const (
	apply      = "apply"
	deployment = "deployment/forewarm"
)

// readyStatus is the status that a controller and a kubelet would give the Deployment.
func readyStatus(n int) []string {
	return []string{
		"patch", deployment, "-n", system, "--subresource=status", "--type=merge", "-p",
		fmt.Sprintf(`{"status": {"replicas": 2, "readyReplicas": %d}}`, n),
	}
}

// healthyForecast has a season that its history holds, so that it is Ready soon.
var healthyForecast = strings.Replace(
	forecast("load", "query: up", "0.9"),
	"history: 10m",
	"history: 10m\n  seasons: [2m]",
	1,
)

const healthyHPA = `
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, namespace: team}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  minReplicas: 1
  maxReplicas: 20
  metrics:
  - {type: External, external: {metric: {name: load}, target: {type: AverageValue, averageValue: "10"}}}
  behavior: {scaleDown: {stabilizationWindowSeconds: 300}}
`

const llama = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: llama, namespace: team}
spec:
  replicas: 12
  selector: {matchLabels: {app: llama}}
  template:
    metadata: {labels: {app: llama}}
    spec: {containers: [{name: c, image: i}]}
`

// poolWith is a WarmPool for the Forecast load.
func poolWith(name, actuator, mode string) string {
	return fmt.Sprintf(`
apiVersion: forewarm.dev/v1alpha1
kind: WarmPool
metadata: {name: %s, namespace: team}
spec:
  members: [{forecast: load}]
  max: 3
  mode: %s
  actuator: {%s}
  chunk:
    podTemplate:
      spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]}
`, name, mode, actuator)
}

// Each way in which an installation breaks is found in a real cluster with the real Forewarm, with what to do; where it is well
// the doctor is silent.
func TestDoctor(t *testing.T) {
	s := &scene{Cluster: testcluster.Start(t)}
	history := httptest.NewServer(http.HandlerFunc(waves))
	t.Cleanup(history.Close)
	s.MustKubectl(t, "", "delete", "crd", "forecasts.forewarm.dev", "warmpools.forewarm.dev")
	run := func(name string, list []ailment) {
		t.Run(name, func(t *testing.T) {
			for i := range list {
				t.Run(list[i].name, func(t *testing.T) { list[i].test(t, s) })
			}
		})
	}
	run("before it is installed", absent())
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.external.metrics.k8s.io")
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/default")
	s.MustKubectl(t, "", "create", "namespace", "team")
	run("without a replica", idle())
	s.MustKubectl(t, healthyForecast+"\n---"+llama+"\n---"+healthyHPA, "apply", "-f", "-")
	s.replicas = append(s.replicas, start(t, s.Cluster, history.URL))
	s.MustKubectl(t, "", readyStatus(2)...)
	port, err := strconv.Atoi(s.replicas[0].url[strings.LastIndex(s.replicas[0].url, ":")+1:])
	if err != nil {
		t.Fatal(err)
	}
	s.Route(t, system, "forewarm", port)
	t.Run("well", func(t *testing.T) { healthy(t, s) })
	run("while it runs", broken())
	t.Run("a pool that may be held", func(t *testing.T) { heldPool(t, s) })
	t.Run("a clock that is wrong", func(t *testing.T) { wrongClock(t, s) })
	t.Run("without rights", func(t *testing.T) { strangers(t, s) })
	t.Run("an expired leaf", func(t *testing.T) { expiredLeaf(t, s) })
	s.replicas[0].stop(t)
	run("after it ended", ended())
}

func absent() []ailment {
	return []ailment{
		{
			name: "nothing is there", check: "Installed", level: doctor.Error,
			words: []string{"not installed", "--namespace"},
		},
		{
			name:  "an uninstalled KEDA left its APIService",
			check: "APIGroups",
			level: doctor.Error,
			harm:  [][]string{{apply, "-f", "-"}},
			input: orphan,
			words: []string{
				"ServiceNotFound",
				"no namespace",
				"kubectl delete apiservice v1beta1.external.metrics.k8s.io",
			},
		},
	}
}

const orphan = `
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.external.metrics.k8s.io}
spec:
  group: external.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  insecureSkipTLSVerify: true
  service: {name: keda-operator-metrics-apiserver, namespace: keda}
`

func idle() []ailment {
	return []ailment{
		{name: "no replica is ready", check: "Deployment", level: doctor.Error, words: []string{"0 of 2", "no pod"}},
		{name: "nobody leads", check: "Leader", level: doctor.Error, words: []string{"no replica has led"}},
		{
			name:  "the Secret is empty",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"forewarm-ca", "is empty"},
		},
		{
			name:  "there is no caBundle",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"no caBundle", "leader"},
		},
		{
			name:  "no API answers",
			check: "APIGroups",
			level: doctor.Error,
			words: []string{"is not available", "kubectl get pods"},
		},
	}
}

func broken() []ailment {
	clusterRole := func(verb string) []string { return []string{verb, "-f", "deploy/rbac/server.yaml"} }
	return []ailment{
		{
			name: "one replica is not ready", check: "Deployment", level: doctor.Warning, words: []string{"1 of 2"},
			harm: [][]string{readyStatus(1)}, heal: [][]string{readyStatus(2)},
		},
		{
			name: "no source", check: "Source", level: doctor.Error, words: []string{"neither --prometheus-url"},
			harm: [][]string{{
				"patch", deployment, "-n", system, "--type=json", "-p",
				`[{"op": "replace", "path": "/spec/template/spec/containers/0/args", "value": ["serve"]}]`,
			}},
			heal: [][]string{{"apply", "--server-side", "--force-conflicts", "-f", "deploy/server/deployment.yaml"}},
		},
		{
			name: "its ClusterRole is gone", check: "Rights", level: doctor.Error,
			words: []string{"may not get,list,watch forecasts.forewarm.dev", "no Forecast is served"},
			harm:  [][]string{{"delete", "clusterrole", "forewarm:server"}},
			heal:  [][]string{clusterRole("apply")},
		},
		{
			name:  "a right is missing",
			check: "Rights",
			level: doctor.Warning,
			words: []string{"list,watch pods", "fallback"},
			harm: [][]string{
				{
					"patch",
					"clusterrole",
					"forewarm:server",
					"--type=json",
					"-p",
					`[{"op": "remove", "path": "/rules/7"}]`,
				},
			},
			heal: [][]string{clusterRole("apply")},
		},
		{
			name: "a second Forewarm", check: "OneForewarm", level: doctor.Error, words: []string{"other", "second"},
			harm: [][]string{
				{"create", "namespace", "other"},
				{"create", "deployment", "forewarm", "-n", "other", "--image=i"},
				{"label", deployment, "-n", "other", "--overwrite", "app.kubernetes.io/name=forewarm"},
			},
			heal: [][]string{{"delete", deployment, "-n", "other"}},
		},
		{
			name: "a CRD older than the binary", check: "CRDs", level: doctor.Error,
			words: []string{"spec.seasons", "status.objective.burnRate", "drops"},
			harm: [][]string{{
				"patch", "crd", "forecasts.forewarm.dev", "--type=json", "-p", `[
	{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/seasons"},
	{"op": "remove", "path": "/spec/versions/0/schema/openAPIV3Schema/properties/status/properties/objective/properties/burnRate"}]`,
			}},
			heal: [][]string{
				{"apply", "--server-side", "--force-conflicts", "-k", "deploy/crds"},
				{"apply", "-f", "-"},
			},
			input: healthyForecast,
		},
		{
			name: "an APIService that skips verification", check: "Certificates", level: doctor.Warning,
			words: []string{"insecureSkipTLSVerify"},
			harm: [][]string{{
				"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
				`{"spec": {"insecureSkipTLSVerify": true, "caBundle": null}}`,
			}},
			heal: [][]string{{
				"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
				`{"spec": {"insecureSkipTLSVerify": false}}`,
			}},
		},
		{
			name: "an HPA that explain warns of", check: "Autoscalers", level: doctor.Warning,
			words: []string{"ValueTargetCompounds", "AverageValue"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: strings.NewReplacer(
				"name: llama, namespace",
				"name: compounds, namespace",
				"AverageValue",
				"Value",
				"averageValue",
				"value",
				"kind: Deployment, name: llama",
				"kind: Deployment, name: other",
			).Replace(healthyHPA),
		},
		{
			name:  "an invalid Forecast",
			check: "Forecasts",
			level: doctor.Error,
			words: []string{"team/wrong", "vllm/inflight"},
			harm:  [][]string{{"apply", "-f", "-"}},
			heal:  [][]string{{"delete", "-f", "-"}},
			input: forecast("wrong", "preset: vllm/in-flight", "0.9"),
		},
		{
			name: "no CapacityBuffers", check: "CapacityBuffers", level: doctor.Error,
			words: []string{"autoscaling.x-k8s.io/v1beta1", "placeholderPods"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: poolWith("buffers", "capacityBuffer: {}", "Recommend"),
		},
		{
			name: "a quota that refuses real pods", check: "Quotas", level: doctor.Error,
			words: []string{"ResourceQuota gpus", "priority classes"},
			harm: [][]string{
				{"apply", "-f", "-"},
				{"create", "quota", "gpus", "-n", "team", "--hard=requests.nvidia.com/gpu=4"},
				{
					"patch", "quota", "gpus", "-n", "team", "--subresource=status", "--type=merge", "-p",
					`{"status": {"hard": {"requests.nvidia.com/gpu": "4"}, "used": {"requests.nvidia.com/gpu": "4"}}}`,
				},
			},
			heal:  [][]string{{"delete", "-f", "-"}, {"delete", "quota", "gpus", "-n", "team"}},
			input: poolWith("held", "placeholderPods: {}", "Recommend"),
		},
		{
			name: "a pool that may not be held", check: "Rights", level: doctor.Error,
			words: []string{"patch warmpools", "mode Enforce", "docs/warm-pools.md"},
			harm:  [][]string{{"apply", "-f", "-"}}, heal: [][]string{{"delete", "-f", "-"}},
			input: poolWith("enforced", "placeholderPods: {}", "Enforce"),
		},
		{
			name: "a group that nobody serves", check: "APIGroups", level: doctor.Warning,
			words: []string{"custom.metrics.k8s.io", "nobody serves"},
			harm:  [][]string{{"delete", "apiservice", "v1beta2.custom.metrics.k8s.io"}},
		},
		{
			name: "a group that another took", check: "APIGroups", level: doctor.Error,
			words: []string{"no HPA can read a Forecast", "KEDA"},
			harm: [][]string{{
				"patch", "apiservice", "v1beta1.external.metrics.k8s.io", "--type=merge", "-p",
				`{"spec": {"service": {"name": "keda-operator-metrics-apiserver", "namespace": "keda"}}}`,
			}},
		},
	}
}

func ended() []ailment {
	const secret = "secret/forewarm-ca"
	data := func(text string) []string {
		return []string{"patch", secret, "-n", system, "--type=merge", "-p", text}
	}
	bundle := func(text []byte) []string {
		return []string{
			"patch", "apiservice", "v1alpha1.inspect.forewarm.dev", "--type=merge", "-p",
			fmt.Sprintf(`{"spec": {"caBundle": %q}}`, base64.StdEncoding.EncodeToString(text)),
		}
	}
	foreign, _ := certificate(time.Now().Add(time.Hour))
	old, _ := certificate(time.Now().Add(-time.Hour))
	return []ailment{
		{name: "nobody leads", check: "Leader", level: doctor.Error, words: []string{"no replica leads"}},
		{
			name:  "a wrong CA",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"lacks a certificate", "leader writes it"},
			harm:  [][]string{bundle(foreign)},
		},
		{
			name: "a damaged caBundle", check: "Certificates", level: doctor.Error, words: []string{"is damaged"},
			harm: [][]string{bundle([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))},
		},
		{
			name: "a Secret edited by hand", check: "Certificates", level: doctor.Error,
			words: []string{"changed by someone else", "remove its data"},
			harm:  [][]string{data(`{"stringData": {"ca.crt": "hello"}}`)},
		},
		{
			name: "a Secret without its key", check: "Certificates", level: doctor.Error, words: []string{"no ca.key"},
			harm: [][]string{data(fmt.Sprintf(`{"stringData": {"ca.crt": %q}, "data": {"ca.key": null}}`, foreign))},
		},
		{
			name: "expired certificates", check: "Certificates", level: doctor.Error, words: []string{"have expired"},
			harm: [][]string{data(fmt.Sprintf(`{"stringData": {"ca.crt": %q, "ca.key": "x"}}`, old)), bundle(old)},
		},
		{
			name:  "a deleted Secret",
			check: "Certificates",
			level: doctor.Error,
			words: []string{"does not exist", "manifests"},
			harm:  [][]string{{"delete", secret, "-n", system}},
		},
		{
			name:  "a deleted CRD",
			check: "CRDs",
			level: doctor.Error,
			words: []string{"CRD of WarmPool is not installed"},
			harm:  [][]string{{"delete", "crd", "warmpools.forewarm.dev"}},
		},
		{
			name: "a deleted Deployment", check: "Deployment", level: doctor.Error, words: []string{"does not exist"},
			harm: [][]string{{"delete", deployment, "-n", system}},
		},
	}
}

// heldPool: rights that are granted in the pool's namespace only are enough.
func heldPool(t *testing.T, s *scene) {
	t.Helper()
	s.MustKubectl(t, "", "apply", "--server-side", "-k", "deploy/warm-pools")
	s.MustKubectl(t, "", "delete", "clusterrolebinding", "forewarm:warm-pools")
	s.MustKubectl(t, "", "create", "rolebinding", "pools", "-n", "team", "--clusterrole=forewarm:warm-pools",
		"--serviceaccount="+system+":forewarm")
	pool := poolWith("allowed", "placeholderPods: {}", "Enforce")
	s.MustKubectl(t, pool, "apply", "-f", "-")
	eventually(t, func() string {
		all := examine(t, s.Config)
		if may := (&ailment{check: "Rights", level: doctor.OK, words: []string{"mode Enforce"}}); may.found(all) == nil {
			return "it may not be held:" + described(all)
		}
		return ""
	})
	s.MustKubectl(t, pool, "delete", "-f", "-")
}

// wrongClock: a caller whose clock is ahead is told so, and nothing else is thought to be late.
func wrongClock(t *testing.T, s *scene) {
	t.Helper()
	all := examineAt(t, s.Config, func() time.Time { return time.Now().Add(time.Hour) })
	for _, whose := range []string{"the kube-apiserver", "Forewarm"} {
		behind := ailment{check: "Clocks", level: doctor.Warning, words: []string{whose, "behind", "NTP"}}
		if behind.found(all) == nil {
			t.Errorf("nothing says that the clock of %s differs:%s", whose, described(all))
		}
	}
	if led := (&ailment{check: "Leader", level: doctor.OK}); led.found(all) == nil {
		t.Errorf("its lease is thought to be old:%s", described(all))
	}
}

// strangers may read nothing, and are told so; whoever may read one namespace is told of that one.
func strangers(t *testing.T, s *scene) {
	t.Helper()
	all := examine(t, s.User(t, "stranger"))
	for _, check := range []string{"Deployment", "Access", "APIGroups", "Certificates", "Rights", "Leader", "OneForewarm"} {
		missing := ailment{check: check, level: doctor.Unknown, words: []string{"you may not", "administrator"}}
		if missing.found(all) == nil {
			t.Errorf("nothing says that %s may not be checked:%s", check, described(all))
		}
	}
	for _, f := range all {
		if f.Level == doctor.Error || f.Level == doctor.Warning {
			t.Errorf("what cannot be known is called %s: %+v", f.Level, f)
		}
	}
	s.MustKubectl(
		t,
		"",
		"create",
		"rolebinding",
		"viewer",
		"-n",
		"team",
		"--clusterrole=forewarm:view",
		"--user=viewer",
	)
	eventually(t, func() string {
		all := examine(t, s.User(t, "viewer"))
		only := ailment{check: "Access", level: doctor.Unknown, words: []string{"only those of the namespace team"}}
		load := ailment{check: "Forecasts", level: doctor.OK, words: []string{"team/load"}}
		if only.found(all) == nil || load.found(all) == nil {
			return fmt.Sprintf("the viewer of a namespace finds: %+v", all)
		}
		return ""
	})
}

// certificate is a self-signed authority, and its key, that ends at a time.
func certificate(end time.Time) ([]byte, tls.Certificate) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(
			1,
		),
		Subject:               pkix.Name{CommonName: "x"},
		NotBefore:             end.Add(-24 * time.Hour),
		NotAfter:              end,
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		DNSNames:              []string{"forewarm." + system + ".svc"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// expiredLeaf: a server whose certificate ended is found by what the kube-apiserver says of it.
func expiredLeaf(t *testing.T, s *scene) {
	t.Helper()
	bundle, own := certificate(time.Now().Add(-time.Hour))
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = &tls.Config{Certificates: []tls.Certificate{own}}
	server.StartTLS()
	defer server.Close()
	s.MustKubectl(t, "", "create", "service", "externalname", "expired", "-n", "team", "--external-name=localhost")
	s.MustKubectl(t, fmt.Sprintf(`
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1beta1.custom.metrics.k8s.io}
spec:
  group: custom.metrics.k8s.io
  version: v1beta1
  groupPriorityMinimum: 100
  versionPriority: 100
  caBundle: %s
  service: {name: expired, namespace: team, port: %s}
`, base64.StdEncoding.EncodeToString(bundle), server.URL[strings.LastIndex(server.URL, ":")+1:]), "apply", "-f", "-")
	a := ailment{
		check: "APIGroups", level: doctor.Error, words: []string{"expired", "clocks", "rollout restart"},
	}
	a.test(t, s)
	s.MustKubectl(t, "", "delete", "apiservice", "v1beta1.custom.metrics.k8s.io")
}
