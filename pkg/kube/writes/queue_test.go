package writes_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/kube/writes"
)

// thing is an object with a status that is due every minute; urgent says that it is due every five seconds, and how a write ends.
type thing struct {
	*unstructured.Unstructured

	urgent  bool
	write   func(ctx context.Context) error
	written time.Time
	tries   int
}

func newThing(namespace string, i int) *thing {
	o := &thing{Unstructured: &unstructured.Unstructured{}}
	o.SetNamespace(namespace)
	o.SetName(strconv.Itoa(i))
	o.SetUID(types.UID(fmt.Sprint(namespace, i)))
	o.SetResourceVersion("1")
	return o
}

// world plays a writer with a step every two seconds.
type world struct {
	queue  *writes.Queue
	log    processtest.LogBuffer
	things []*thing
	// oldest is how long a status of a namespace other than evil was unwritten at most.
	oldest time.Duration
}

func newWorld() *world {
	w := &world{}
	w.queue = writes.NewQueue("Forecast", 10, 50, slog.New(slog.NewTextHandler(&w.log, nil)))
	return w
}

func (w *world) add(namespace string, n int, urgent bool, write func(ctx context.Context) error) {
	for i := range n {
		o := newThing(namespace, i)
		o.urgent, o.write, o.written = urgent, write, time.Now()
		w.things = append(w.things, o)
	}
}

func (w *world) step(t *testing.T) error {
	t.Helper()
	now := time.Now()
	var due []writes.Write
	for _, o := range w.things {
		if o.GetNamespace() != "evil" {
			w.oldest = max(w.oldest, now.Sub(o.written))
		}
		pace := time.Minute
		if o.urgent {
			pace = 5 * time.Second
		}
		if last := w.queue.Tried(o, now); !last.IsZero() && now.Sub(last) < pace {
			continue
		}
		due = append(due, writes.Write{Object: o, Urgent: o.urgent, Do: func(ctx context.Context) error {
			o.tries++
			if o.write != nil {
				if err := o.write(ctx); err != nil {
					return err
				}
			}
			o.written = time.Now()
			return nil
		}})
	}
	_, err := w.queue.Step(t.Context(), now, due)
	return err
}

// play takes steps for a time.
func (w *world) play(t *testing.T, d time.Duration) (problems int) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(2 * time.Second) {
		if w.step(t) != nil {
			problems++
		}
	}
	return problems
}

func refuse(context.Context) error {
	return apierrors.NewForbidden(schema.GroupResource{Resource: "forecasts"}, "x", errors.New("write the label team"))
}

// hang is a webhook that does not answer, late one that answers after a while.
func hang(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

func late(ctx context.Context) error {
	time.Sleep(2500 * time.Millisecond)
	return refuse(ctx)
}

// TestRefusedObjectsDelayNoOthers plays twenty minutes in which another tenant's objects are refused: the statuses of two namespaces
// are written every minute.
func TestRefusedObjectsDelayNoOthers(t *testing.T) {
	for _, c := range []struct {
		name    string
		refused int
		write   func(context.Context) error
		// touched: the tenant changes each of its objects all the time.
		touched bool
		most    time.Duration
	}{
		{"3 refused", 3, refuse, false, 65 * time.Second},
		{"50 refused", 50, refuse, false, 65 * time.Second},
		{"500 refused", 500, refuse, false, 65 * time.Second},
		{"500 refused and touched", 500, refuse, true, 65 * time.Second},
		{"500 written all the time", 500, nil, false, 65 * time.Second},
		{"50 without an answer", 50, hang, false, 70 * time.Second},
		{"50 with a late answer", 50, late, false, 70 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				w.add("good", 10, false, nil)
				w.play(t, 10*time.Minute)
				w.add("evil", c.refused, true, c.write)
				w.add("other", 5, false, nil)
				for range 600 {
					if c.touched {
						for i, o := range w.things {
							o.SetResourceVersion(fmt.Sprint(time.Now(), i))
						}
					}
					w.play(t, 2*time.Second)
				}
				t.Log(w.oldest)
				if w.oldest > c.most {
					t.Errorf("a status of another tenant was unwritten for %s", w.oldest)
				}
			})
		})
	}
}

// TestAPauseGrowsAndEnds: a refused object is tried less and less often, at once when someone has changed it, and no longer than five
// minutes after the cause is gone. It is told once, and counted.
func TestAPauseGrowsAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.add("evil", 1, true, refuse)
		o := w.things[0]
		w.play(t, time.Hour)
		if o.tries < 12 || o.tries > 18 {
			t.Errorf("%d attempts in an hour", o.tries)
		}
		if n := strings.Count(w.log.String(), "write the label team"); n != 1 {
			t.Errorf("told %d times: %s", n, w.log.String())
		}
		if n := testutil.ToFloat64(w.queue); n != 1 {
			t.Errorf("%v objects are refused", n)
		}
		before := o.tries
		o.SetResourceVersion("2")
		w.play(t, 2*time.Second)
		if o.tries != before+1 {
			t.Errorf("%d attempts after a change", o.tries-before)
		}
		o.write = nil
		w.play(t, 5*time.Minute)
		if o.tries < before+2 || testutil.CollectAndCount(w.queue) != 0 {
			t.Errorf("%d attempts; it counts as refused", o.tries-before)
		}
	})
}

// TestAnOutageEndsTheStep: without an answer nothing else is tried, and ten seconds after the end of the outage at the latest all is
// written.
func TestAnOutageEndsTheStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, away := newWorld(), true
		w.add("good", 20, true, func(context.Context) error {
			if away {
				return apierrors.NewServiceUnavailable("restarting")
			}
			return nil
		})
		if problems := w.play(t, 10*time.Minute); problems < 290 {
			t.Errorf("%d of 300 steps had a problem", problems)
		}
		tries := 0
		for _, o := range w.things {
			tries += o.tries
		}
		if tries > 300 {
			t.Errorf("%d attempts in 300 steps", tries)
		}
		away = false
		w.play(t, 12*time.Second)
		for _, o := range w.things {
			if time.Since(o.written) > 12*time.Second {
				t.Errorf("%s was not written for %s", o.GetName(), time.Since(o.written))
			}
		}
	})
}
