package inspect_test

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

func in(namespace string) context.Context {
	return request.WithNamespace(context.Background(), namespace)
}

func fleets(t *testing.T) store { //nolint:ireturn // The storage has no exported type.
	t.Helper()
	s, ok := storages(t, everyState())["gpufleets"].(store)
	if !ok {
		t.Fatal("fleets are neither got nor listed")
	}
	return s
}

func fleetPage(t *testing.T, name string) string {
	t.Helper()
	page, ok := storages(t, everyState())["gpufleets/page"].(rest.Connecter)
	if !ok {
		t.Fatal("there is no page")
	}
	handler, err := page.Connect(in("inference"), name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, nil)
	policy := recorder.Header().Get("Content-Security-Policy")
	if recorder.Code != http.StatusOK || !strings.Contains(policy, "sandbox") ||
		!strings.Contains(policy, "default-src 'none'") {
		t.Errorf("code %d, policy %q", recorder.Code, policy)
	}
	return recorder.Body.String()
}

func outlookOf(t *testing.T, name string) *v1alpha1.FleetOutlook {
	t.Helper()
	object, err := fleets(t).Get(in("inference"), name, nil)
	o, ok := object.(*v1alpha1.FleetOutlook)
	if err != nil || !ok {
		t.Fatalf("%T, %v", object, err)
	}
	return o
}

func TestFleetOutlook(t *testing.T) {
	s := &outlookOf(t, "h100").Status
	if *s.GPUs != 64 || *s.Members != 31 || *s.Other != 2 || s.Problem != "" || len(s.Batch) != 2 {
		t.Errorf("%+v", s)
	}
	if b := &s.Batch[0]; b.Name != "embeddings" || b.Replicas != 12 || b.Running != 9 || b.GPUs != 1 ||
		*b.Need != 37.8 || !strings.HasPrefix(b.Message, "37.8 of 62 GPUs are kept for the members for the next 20m") {
		t.Errorf("%+v", b)
	}
	if d := s.Day; d == nil || len(d.Hours) != 24 || len(d.Members) != 7 || len(d.Members[0].GPUs) != 24 ||
		!d.Members[6].Unknown {
		t.Errorf("%+v", d)
	}
}

// What is not known is left out: JSON has no infinite numbers.
func TestFleetsWithoutAPlan(t *testing.T) {
	for name, problem := range map[string]string{
		"stale": "the newest plan is 3m15s old", "broken": "there is no plan: Forecast <chat> does not exist",
		"unlimited": "",
	} {
		o := outlookOf(t, name)
		if !strings.HasPrefix(o.Status.Problem, problem) || (problem == "") != (o.Status.Problem == "") {
			t.Errorf("%s: %q", name, o.Status.Problem)
		}
		if name == "unlimited" && (o.Status.Batch[0].Need != nil || o.Status.Day != nil) {
			t.Errorf("%+v", o.Status)
		}
		if _, err := json.Marshal(o); err != nil {
			t.Error(err)
		}
		if page := fleetPage(t, name); !strings.Contains(page, "There is no plan yet") != (name == "stale") {
			t.Errorf("%s: %s", name, page)
		}
	}
}

func TestFleetsOfANamespace(t *testing.T) {
	named := &internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "stale")}
	for _, c := range []struct {
		namespace string
		options   *internalversion.ListOptions
		want      []string
	}{
		{"inference", nil, []string{"broken", "h100", "stale", "unlimited"}},
		{"", nil, []string{"broken", "h100", "stale", "unlimited", "secret"}},
		{"other", &internalversion.ListOptions{}, []string{"secret"}},
		{"inference", named, []string{"stale"}},
		{"empty", nil, nil},
	} {
		object, err := fleets(t).List(in(c.namespace), c.options)
		if err != nil {
			t.Fatal(err)
		}
		list, ok := object.(*v1alpha1.FleetOutlookList)
		if !ok {
			t.Fatalf("%T", object)
		}
		var names []string
		for i := range list.Items {
			names = append(names, list.Items[i].Name)
			if list.Items[i].Status.Day != nil {
				t.Errorf("%s has a day in a list", names[i])
			}
		}
		if diff := cmp.Diff(c.want, names); diff != "" {
			t.Errorf("%q: %s", c.namespace, diff)
		}
		table, err := fleets(t).ConvertToTable(in(c.namespace), list, &metav1.TableOptions{})
		if err != nil || len(table.Rows) != len(names) {
			t.Errorf("%v, %v", table, err)
		}
		for i := range table.Rows {
			if len(table.Rows[i].Cells) != len(table.ColumnDefinitions) {
				t.Errorf("%d cells", len(table.Rows[i].Cells))
			}
		}
	}
	if _, err := fleets(t).Get(in("inference"), "secret", nil); !apierrors.IsNotFound(err) {
		t.Errorf("another namespace's: %v", err)
	}
}

func TestFleetPage(t *testing.T) {
	page := fleetPage(t, "h100")
	for _, want := range []string{
		">Shortage ahead<",
		"On Thu, 5 Mar from 07:00 to 12:00 UTC the members need up to 70 GPUs, 8 more than the fleet has for them: chat (17.5)",
		`<title id="day-title">The day ahead</title>`, `class="member p1"`, `class="member p7"`, ">tiny (partly unknown",
		"37.8 of 62 GPUs are kept", `<td data-label="Running" class="n">9</td>`, `href="../h100"`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%q is not on the page", want)
		}
	}
	// The largest member is at the bottom, so its area begins at the base line.
	if strings.Index(page, `</i>chat<`) > strings.Index(page, `</i>code<`) {
		t.Error("the legend does not begin with the largest member")
	}
	for _, bad := range []string{"NaN", "Inf", "ZgotmplZ", "<script"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is on the page", bad)
		}
	}
	if broken := fleetPage(t, "broken"); !strings.Contains(broken, "Forecast &lt;chat&gt; does not exist") {
		t.Errorf("a text is not escaped:\n%s", broken)
	}
}

// More members than colors share one band.
func TestFleetPageOfManyMembers(t *testing.T) {
	state := fleettest.H100()
	for len(state.Day.Members) < 50 {
		state.Day.Members = append(state.Day.Members, state.Day.Members[6])
	}
	state.Plan.Members = math.Inf(1)
	o := inspect.FleetOutlook(state, snapshottest.Now())
	if o.Status.Members != nil {
		t.Errorf("members %g", *o.Status.Members)
	}
	body, err := inspect.RenderFleet(&o, snapshottest.Now())
	if err != nil || !strings.Contains(string(body), "</i>42 other members<") ||
		!strings.Contains(string(body), `class="member p0"`) {
		t.Errorf("%v\n%s", err, body)
	}
}

// A consumer without a metric is shown with the reason.
func TestRefusedConsumer(t *testing.T) {
	state := fleettest.H100()
	state.Refused = map[string]string{"training": "its grace period is 30s: set 20m"}
	o := inspect.FleetOutlook(state, snapshottest.Now())
	b := &o.Status.Batch[2]
	if b.Name != "training" || b.Replicas != 0 || b.Message != "gets no metric: its grace period is 30s: set 20m" {
		t.Errorf("%+v", b)
	}
}
