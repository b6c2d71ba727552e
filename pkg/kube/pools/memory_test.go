package pools_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/kube/pools"
)

// written is a memory as the API server keeps it, and how long that is.
func written(t *testing.T, m warmpool.Memory) (held *v1alpha1.PoolMemory, size int) {
	t.Helper()
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pools.MemoryOf(m))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	held = &v1alpha1.PoolMemory{}
	if err := json.Unmarshal(text, held); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return held, len(text)
}

// TestAStatusIsTheMemory: a leader that reads it plans as the one who wrote it would have.
func TestAStatusIsTheMemory(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	pool := warmpool.Pool{Quantile: 0.95, Max: 20, GPUs: 8, Budget: 50, Pod: time.Minute, Node: 5 * time.Minute}
	now := noon()
	var memory warmpool.Memory
	for range 2000 {
		now = now.Add(time.Duration(rng.IntN(60_000)) * time.Millisecond)
		held, size := written(t, memory)
		again, err := pools.MemoryIn(held)
		if err != nil || again != memory || size > 4096 {
			t.Fatalf("%+v reads as another memory of %d bytes: %v", held, size, err)
		}
		members := []warmpool.Member{{
			Name: "llama", Chunks: 0.25 * float64(1+rng.IntN(8)), Target: 10, Placed: rng.IntN(9), Waiting: rng.IntN(3),
			Outlook: warmpool.Outlook{Served: 90 * rng.Float64(), Unreliable: []string{"", "is stale"}[rng.IntN(2)]},
		}}
		capacity := warmpool.Capacity{Held: rng.IntN(9), Ready: rng.IntN(9)}
		plan, next := memory.Plan(now, pool, members, capacity)
		if other, after := again.Plan(now, pool, members, capacity); other != plan || after != next {
			t.Fatalf("%+v\n%+v", plan, other)
		}
		memory = next
	}
}

// TestAMemoryHasABound: the greatest that can be.
func TestAMemoryHasABound(t *testing.T) {
	const latest, chunks = 253_402_300_799_999, 1_000_000
	memory, err := warmpool.RestoreMemory(warmpool.Past{
		At:           latest,
		Ready:        chunks,
		Placed:       1000 * chunks,
		Claimed:      chunks,
		Idle:         1 << 50,
		Unseen:       1 << 50,
		Lost:         1000 * chunks,
		Gained:       1000 * chunks,
		Matching:     latest,
		Borrowed:     1000 * chunks,
		Covers:       true,
		TurningSince: latest,
		Unreliable:   true,
	}, slices.Repeat([]warmpool.Want{{At: latest, Total: chunks, Base: chunks}}, 33))
	if err != nil {
		t.Fatal(err)
	}
	held, size := written(t, memory)
	if again, err := pools.MemoryIn(held); err != nil || again != memory {
		t.Errorf("%+v is not read again: %v", held, err)
	}
	if size > 3<<10 {
		t.Errorf("%d bytes in a status", size)
	}
}

func TestAMemoryThatCannotBeIsNone(t *testing.T) {
	for about, spoil := range map[string]func(*v1alpha1.PoolMemory){
		"before 1970":        func(m *v1alpha1.PoolMemory) { m.PlannedAt = metav1.NewMicroTime(time.Unix(-1, 0)) },
		"less than nothing":  func(m *v1alpha1.PoolMemory) { m.Ready = -1 },
		"more than there is": func(m *v1alpha1.PoolMemory) { m.IdleChunkMilliseconds = 1 << 60 },
		"too many wants":     func(m *v1alpha1.PoolMemory) { m.Wants = make([]v1alpha1.WantedChunks, 34) },
	} {
		w := newWorld()
		w.stored.put(t, "h100", enforced)
		w.run(t, 1)
		held := w.status("h100").Memory
		spoil(held)
		if m, err := pools.MemoryIn(held); !errors.Is(err, warmpool.ErrMemory) || m != (warmpool.Memory{}) {
			t.Errorf("%s: %v", about, err)
		}
		status := w.status("h100")
		status.Memory = held
		if err := w.stored.UpdateStatus(t.Context(), w.stored.List()[0], &status); err != nil {
			t.Fatal(err)
		}
		w.lead()
		w.run(t, 4)
		if m, err := pools.MemoryIn(w.status("h100").Memory); err != nil || m.Past().At <= noon().UnixMilli() {
			t.Errorf("%s: the new leader leaves %+v, %v", about, m, err)
		}
	}
}
