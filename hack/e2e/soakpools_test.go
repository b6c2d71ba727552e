package e2e_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/forewarm/forewarm/hack/e2e/clustertest"
)

// soakPoolWatch watches what pools hold: each has one Deployment of placeholder pods, for as many as its least or more.
type soakPoolWatch struct {
	client   kubernetes.Interface
	made     map[string]map[types.UID]bool
	problems []string
	seen     int
}

func (s *stage) watchSoakPools(t *testing.T) *soakPoolWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.Config)
	if err != nil {
		t.Fatal(err)
	}
	w := &soakPoolWatch{client: client, made: map[string]map[types.UID]bool{}}
	clustertest.MustEventually(t, func() string {
		if held := w.held(t.Context()); len(held) < soakPools {
			return fmt.Sprintf("%d of %d pools hold chunks", len(held), soakPools)
		}
		return ""
	})
	return w
}

// held is what each namespace's pools request; nil while the kube-apiserver does not answer.
func (w *soakPoolWatch) held(ctx context.Context) map[string]int {
	all, err := w.client.AppsV1().Deployments("").List(ctx, metav1.ListOptions{LabelSelector: poolLabel})
	if err != nil {
		return nil
	}
	out := map[string]int{}
	for i := range all.Items {
		d := &all.Items[i]
		out[d.Namespace] += int(*d.Spec.Replicas)
		if w.made[d.Namespace] == nil {
			w.made[d.Namespace] = map[types.UID]bool{}
		}
		w.made[d.Namespace][d.UID] = true
	}
	return out
}

func (w *soakPoolWatch) run(t *testing.T) (stop func()) {
	t.Helper()
	return repeat(t, time.Second, func() error {
		held := w.held(t.Context())
		if held == nil {
			return nil
		}
		w.seen++
		for i := range soakPools {
			if n := held[fmt.Sprintf("soak-pool-%d", i)]; n < 2 || n > 8 {
				w.problems = append(w.problems, fmt.Sprintf("pool %d requests %d chunks, want 2 to 8", i, n))
			}
		}
		return nil
	})
}

func (w *soakPoolWatch) expect(t *testing.T) {
	t.Helper()
	for ns, made := range w.made {
		if len(made) != 1 {
			t.Errorf("the pool of %s had %d Deployments, want one from beginning to end", ns, len(made))
		}
	}
	if len(w.problems) > 0 || w.seen == 0 {
		t.Errorf(
			"pools were looked at %d times: %d problems, the first: %v",
			w.seen,
			len(w.problems),
			w.problems[:min(1, len(w.problems))],
		)
	}
	t.Logf("%d pools held their chunks each of the %d times they were looked at", soakPools, w.seen)
}
