package pools_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

var rewrite = flag.Bool("rewrite", false, "write what is made into testdata, to read the difference")

func readPool(t *testing.T, file string) *v1alpha1.WarmPool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	pool := &v1alpha1.WarmPool{}
	if err := yaml.UnmarshalStrict(text, pool); err != nil {
		t.Fatal(err)
	}
	return defaulted(pool)
}

// TestPlaceholders holds the Deployments of a pool with everything in it to a file that people have read.
func TestPlaceholders(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	for _, d := range pools.PlaceholderDeployments(readPool(t, "pool.yaml"), pools.Desired{Base: 3, Tail: 2}) {
		one, err := yaml.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString("---\n")
		text.Write(one)
	}
	golden := filepath.Join("testdata", "placeholders.yaml")
	if *rewrite {
		if err := os.WriteFile(golden, text.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Error(diff)
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a-very-long-name.", 14)[:230]
	seen := map[string]string{}
	for _, c := range []struct{ name, pool, capacity, want string }{
		{"a name as it is", "llama", "", "warm-llama"},
		{"a capacity type has a hash", "llama", "spot", "warm-llama-spot-"},
		{"another pool of nearly that name", "llama-spot", "", "warm-llama-spot"},
		{"no dots, for pods are named by it", "llama.v2", "", "warm-llama-v2-"},
		{"and not the name without", "llama-v2", "", "warm-llama-v2"},
		{"not longer than a label may be", long, "", "warm-a-very-long-name"},
		{"nor with a type", long, "on-demand", "warm-a-very-long-name"},
	} {
		pool := &v1alpha1.WarmPool{}
		pool.Name = c.pool
		got := pools.NameFor(pool, c.capacity)
		if !strings.HasPrefix(got, c.want) || len(got) > 63 || strings.Contains(got, ".") {
			t.Errorf("%s: %s", c.name, got)
		}
		if seen[got] != "" {
			t.Errorf("%s and %s have the same name, %s", c.name, seen[got], got)
		}
		seen[got] = c.name
	}
}
