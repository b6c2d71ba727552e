package demandevents_test

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/hack/processtest"
	"github.com/forewarm/forewarm/pkg/calendar"
	"github.com/forewarm/forewarm/pkg/core/event"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/demandevents"
	"github.com/forewarm/forewarm/pkg/refresh"
)

// jobs are the Forecasts of a namespace; the last one has no room for further events.
type jobs struct {
	*demandevents.Watch
}

func (j jobs) List(time.Time) (out []refresh.Job) {
	for _, name := range []string{"a", "b", "full"} {
		key := snapshot.Key{Namespace: "default", Name: name}
		job := refresh.Job{Key: key}
		if name != "full" {
			job.Events = j.Of(key)
		}
		out = append(out, job)
	}
	return out
}

func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	t.Run("EventsComeChangeAndGo", func(t *testing.T) { testEvents(t, c) })
	t.Run("Schema", func(t *testing.T) { testSchema(t, c) })
	t.Run("RefusedStatusesDelayNoOthers", func(t *testing.T) { testRefused(t, c) })
	t.Run("NoRights", func(t *testing.T) { testNoRights(t, c) })
}

func object(name, spec string) string {
	return fmt.Sprintf(
		"---\napiVersion: forewarm.dev/v1alpha1\nkind: DemandEvent\nmetadata: {name: %s}\nspec: {%s}\n",
		name,
		spec,
	)
}

func watch(t *testing.T, access *rest.Config, log *slog.Logger) *demandevents.Watch {
	t.Helper()
	w, err := demandevents.NewWatch(access, log)
	if err != nil {
		t.Fatal(err)
	}
	apiservertest.Background(t, w.Run)
	w.WaitForSync(t.Context(), 10*time.Second)
	return w
}

func names(events []calendar.Event) string {
	var out []string
	for i := range events {
		out = append(out, events[i].Name)
	}
	return strings.Join(out, " ")
}

func testEvents(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	begins := time.Now().UTC().Add(25 * time.Hour).Truncate(time.Second)
	starts := begins.Format("2006-01-02T15:04:05")
	// The oldest comes first, and "all" before "launch" within a second: their order does not depend on when a second begins.
	c.MustKubectl(t, object("all", `holidays: US, like: Sunday`)+
		object("launch", fmt.Sprintf(`start: %q, duration: 2h, times: "3", forecasts: [a]`, starts))+
		object("office", `start: "2026-12-01", replicas: 5, forecasts: [a]`)+
		object("invalid", `holidays: XX, like: Sunday`)+
		object("missing", `start: "2026-12-01", like: Sunday, forecasts: [c]`)+
		object("late", `start: "2026-12-01", like: Sunday, forecasts: [full]`), "create", "-f", "-")
	w := watch(t, c.Config, slog.New(slog.DiscardHandler))
	of := func(name string) []calendar.Event { return w.Of(snapshot.Key{Namespace: "default", Name: name}) }
	if got := names(of("a")); got != "all launch office" {
		t.Errorf("the events of a: %s", got)
	}
	if first, again := of("b"), of("b"); names(first) != "all" || &first[0] != &again[0] {
		t.Errorf("the events of b: %s, or another list each time", names(first))
	}
	if got := w.Of(snapshot.Key{Namespace: "kube-system", Name: "a"}); got != nil {
		t.Errorf("another namespace has %s", names(got))
	}
	var snapshots snapshot.Store
	failed := event.Effect{Times: 1}
	snapshots.Publish(snapshot.New(time.Now(), map[snapshot.Key]*snapshot.ForecastSnapshot{
		{Namespace: "default", Name: "a"}: {Events: []event.Announcement{
			{
				Occurrence: event.Occurrence{
					Name:      "launch",
					Knowledge: event.Knowledge{Times: 3},
				},
				Effects: []event.Effect{failed, failed},
			},
		}},
	}, 0, snapshot.LoopStats{}))
	if err := demandevents.NewStatusWriter(w, jobs{w}, &snapshots).Step(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"launch": begins.Format(time.RFC3339) + " 1 Applied used by a;Plausible the last two occurrences had no effect on the demand of a: correct the event, or delete it;",
		"office": "Plausible what one replica sustains is not known, so the event has no effect on a: let an HPA",
		"all":    " 2 Applied used by a and b;", "invalid": " 0 Invalid spec: Invalid value: \"invalid\": holidays \"XX\" are unknown: write one of AR,",
		"missing": "NoForecast the event applies to no valid Forecast", "late": "TooMany the Forecasts already have 64 older events",
	} {
		got := c.MustKubectl(t, "", "get", "demandevent", name, "-o", "jsonpath={.status.next} {.status.forecasts} "+
			"{.status.conditions[0].reason} {.status.conditions[0].message};{range .status.conditions[1:]}{.type} {.message};{end}")
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	c.MustKubectl(t, "", "delete", "demandevent", "launch")
	c.MustKubectl(t, "", "patch", "demandevent", "all", "--type=merge", "-p", `{"spec": {"forecasts": ["a"]}}`)
	apiservertest.Eventually(t, 10*time.Second, func() string {
		if names(of("a")) != "all office" || names(of("b")) != "" {
			return fmt.Sprintf("a has %s, b has %s", names(of("a")), names(of("b")))
		}
		return ""
	})
}

// testSchema: the API server refuses what no one can mean.
func testSchema(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	for spec, want := range map[string]string{
		`start: "2026-12-01", holidays: US, like: Sunday`: "write start or holidays",
		`like: Sunday`:                                      "write start or holidays",
		`start: "2026-12-01"`:                               "write one of atLeast, replicas, times, like and ignore",
		`start: "2026-12-01", replicas: 0`:                  "spec.replicas",
		`start: "2026-12-01", replicas: 5, times: "2"`:      "write one of atLeast, replicas, times, like and ignore",
		`start: "2026-12-01", like: Sunday, times: "2"`:     "write one of atLeast, replicas, times, like and ignore",
		`holidays: US, recurrence: FREQ=DAILY, like: Last`:  "a recurrence begins with start",
		`start: tomorrow, like: Last`:                       "spec.start in body should match",
		`start: "2026-12-01", alsoOn: [never], like: Last`:  "spec.alsoOn[0] in body should match",
		`start: "2026-12-01", like: Someday`:                "Unsupported value",
		`start: "2026-12-01", ignore: false`:                "Unsupported value",
		`start: "2026-12-01", like: Last, forecast: [a]`:    "unknown field",
		`start: "2026-12-01", like: Last, duration: a year`: "spec.duration in body should match",
	} {
		if out, err := c.Kubectl(
			t,
			object("x", spec),
			"create",
			"--validate=strict",
			"-f",
			"-",
		); err == nil ||
			!strings.Contains(out, want) {
			t.Errorf("%s: %v %s, want %s", spec, err, out, want)
		}
	}
}

// testRefused has the API server refuse the statuses of another tenant's events: too large for etcd, by an admission policy, and by a
// schema. Those of the namespace default are written.
func testRefused(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	evil := c.Refused(t, "DemandEvent", "evil", 6, map[string]any{"start": "2026-12-24", "times": "2"})
	log := &processtest.LogBuffer{}
	w := watch(t, c.Config, slog.New(slog.NewTextHandler(log, nil)))
	writer := demandevents.NewStatusWriter(w, jobs{w}, &snapshot.Store{})
	now := time.Now()
	for i := range 5 {
		name := fmt.Sprint("newer-", i) // The oldest object used to come first.
		c.MustKubectl(t, object(name, `start: "2026-12-24", times: "2"`), "create", "-f", "-")
		apiservertest.Eventually(t, 10*time.Second, func() string {
			now = now.Add(10 * time.Second)
			if err := writer.Step(t.Context(), now); err != nil {
				return err.Error()
			}
			got := c.MustKubectl(t, "", "get", "demandevent", name, "-o", "jsonpath={.status.conditions[0].reason}")
			return apiservertest.Differs(name, got, "Applied")
		})
		c.MustKubectl(t, "", "delete", "demandevent", name)
	}
	for _, name := range evil {
		if n := strings.Count(log.String(), "object=evil/"+name+" "); n != 1 {
			t.Errorf("%s was told %d times: %s", name, n, log.String())
		}
	}
}

// testNoRights: it is said once what to do, and Forecasts go on.
func testNoRights(t *testing.T, c *apiservertest.Cluster) {
	t.Helper()
	other := rest.CopyConfig(c.Config)
	other.Impersonate.UserName = "stranger"
	log := &processtest.LogBuffer{}
	w := watch(t, other, slog.New(slog.NewTextHandler(log, nil)))
	if !strings.Contains(log.String(), "upgrade the chart with demandEvents.enabled") {
		t.Errorf("the log: %s", log.String())
	}
	if got := w.Of(snapshot.Key{Namespace: "default", Name: "a"}); got != nil {
		t.Errorf("without rights: %s", names(got))
	}
}
