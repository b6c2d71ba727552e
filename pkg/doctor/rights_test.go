package doctor //nolint:testpackage // The table is not exported.

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// manifests are the files with Forewarm's roles, from the root of the repository.
func manifests() []string {
	return []string{
		"deploy/default/manifest.yaml", "deploy/warm-pools/manifest.yaml", "deploy/with-keda-scaler/manifest.yaml",
	}
}

// granted is what roles of a file grant, one right with one verb each.
func granted(t *testing.T, file string, roles ...string) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096); ; {
		var role rbacv1.ClusterRole // A Role has the same rules.
		if err := decoder.Decode(&role); errors.Is(err, io.EOF) {
			return out
		} else if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains([]string{"Role", "ClusterRole"}, role.Kind) || !slices.Contains(roles, role.Name) {
			continue
		}
		for i := range role.Rules {
			maps.Copy(out, expanded(&role.Rules[i]))
		}
	}
}

func expanded(rule *rbacv1.PolicyRule) map[string]bool {
	out := map[string]bool{}
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			for _, name := range names {
				for _, verb := range rule.Verbs {
					whole, sub, _ := strings.Cut(resource, "/")
					out[verb+" "+right{group: group, resource: whole, subresource: sub, name: name}.String()] = true
				}
			}
		}
	}
	return out
}

func asked(all []component) map[string]bool {
	out := map[string]bool{}
	for _, c := range all {
		for _, r := range c.rights {
			for _, verb := range r.verbs {
				out[verb+" "+r.String()] = true
			}
		}
	}
	return out
}

// The doctor asks for every right that the manifests grant, and for no other.
func TestRightsAreThoseOfTheManifests(t *testing.T) {
	server, pools, keda := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, file := range manifests() {
		maps.Copy(server, granted(t, file, "forewarm:server", "forewarm:leader"))
		maps.Copy(pools, granted(t, file, "forewarm:warm-pools", "forewarm:priorities"))
		maps.Copy(keda, granted(t, file, "forewarm:client"))
	}
	if diff := cmp.Diff(server,
		asked(append((&state{}).serverComponents(), (&state{}).authorityComponent()))); diff != "" {
		t.Errorf("each replica's rights (-manifests +doctor):\n%s", diff)
	}
	if diff := cmp.Diff(pools, asked([]component{poolComponent("ai")})); diff != "" {
		t.Errorf("the rights to hold pools (-manifests +doctor):\n%s", diff)
	}
	if diff := cmp.Diff(keda, asked([]component{kedaComponent("keda/forewarm-client")})); diff != "" {
		t.Errorf("the rights to KEDA's Secret (-manifests +doctor):\n%s", diff)
	}
}

// The same of fleets, whose rights are granted by a folder of their own.
func TestRightsOfFleets(t *testing.T) {
	all := state{args: map[string]string{"fleets": "true", "fleet-nodes": "true", "fleet-cluster-queues": "true"}}
	want := granted(t, "deploy/fleets/manifest.yaml", "forewarm:fleets")
	if diff := cmp.Diff(want, asked(all.fleetComponents())); diff != "" {
		t.Errorf("the rights to plan fleets (-manifests +doctor):\n%s", diff)
	}
}

// What is not used needs no rights.
func TestComponents(t *testing.T) {
	t.Parallel()
	pool := func(namespace, mode string) unstructured.Unstructured {
		return unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"namespace": namespace}, "spec": map[string]any{"mode": mode},
		}}
	}
	const authority = "certificate authority"
	for _, c := range []struct {
		name  string
		state state
		want  string // the components beyond those of every server
	}{
		{"a server alone", state{}, authority},
		{"certificates in files", state{args: map[string]string{"tls-cert-file": "x"}}, ""},
		{"pools that recommend", state{pools: []unstructured.Unstructured{pool("a", "Recommend")}}, authority},
		{
			"pools that enforce, once for each namespace",
			state{pools: []unstructured.Unstructured{pool("a", "Enforce"), pool("b", "Enforce"), pool("a", "Enforce")}},
			authority + ", " + enforcing + ", " + enforcing,
		},
		{"KEDA", state{args: map[string]string{"keda-address": ":9443"}}, authority + ", KEDA's client certificate"},
		{"fleets", state{args: map[string]string{"fleets": "true", "fleet-nodes": "false"}}, authority + ", GPUFleets"},
		{"KEDA with certificates of its own", state{args: map[string]string{"keda-address": "x", "keda-tls-cert-file": "y"}}, authority},
	} {
		var names []string
		for _, one := range c.state.components()[len(c.state.serverComponents())+1:] {
			names = append(names, one.name)
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
