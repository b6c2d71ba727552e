package inspect_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/forecast"
	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet/fleettest"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/core/snapshot/snapshottest"
	"github.com/forewarm/forewarm/pkg/serve/inspect"
)

// store is the storage as an API server uses it.
type store interface {
	rest.Getter
	rest.Lister
}

var everybody = authorizerfactory.NewAlwaysAllowAuthorizer()

func storages(tb testing.TB, snapshots *snapshot.Store) map[string]rest.Storage {
	tb.Helper()
	scheme, err := inspect.Scheme()
	if err != nil {
		tb.Fatal(err)
	}
	return inspect.Group(scheme, snapshots, fleettest.Store(), snapshottest.Now, everybody).VersionedResourcesStorageMap["v1alpha1"]
}

func outlooks(tb testing.TB, snapshots *snapshot.Store) store { //nolint:ireturn // The storage has no exported type.
	tb.Helper()
	s, ok := storages(tb, snapshots)["outlooks"].(store)
	if !ok {
		tb.Fatal("outlooks are neither got nor listed")
	}
	return s
}

func everyState() *snapshot.Store { return snapshottest.Store(snapshottest.EveryState()...) }

// browse fetches a sub-resource of a Forecast in namespace "inference" as a browser would.
func browse(t *testing.T, snapshots *snapshot.Store, name, sub string) *httptest.ResponseRecorder {
	t.Helper()
	connecter, ok := storages(t, snapshots)["outlooks/"+sub].(rest.Connecter)
	if !ok {
		t.Fatalf("%s is no connecter", sub)
	}
	ctx := request.WithUser(request.WithNamespace(t.Context(), "inference"), &user.DefaultInfo{Name: "somebody"})
	handler, err := connecter.Connect(ctx, name, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/", http.NoBody))
	return recorder
}

// says fails the test where a page does not say some words, lacks where it does.
func says(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(page, w) {
			t.Errorf("the page does not say %q", w)
		}
	}
}

func lacks(t *testing.T, page string, words ...string) {
	t.Helper()
	for _, w := range words {
		if strings.Contains(page, w) {
			t.Errorf("the page says %q", w)
		}
	}
}

func TestOutlookSaysWhatIsServedAndWhy(t *testing.T) {
	entry := snapshottest.Ready(snapshottest.Key("ready"))
	o := inspect.Outlook(entry, snapshottest.Now())
	s := o.Status
	if s.Served == nil || *s.Served != entry.Decision.Value || s.Reason != entry.Decision.Reason() {
		t.Errorf("served %v because %q, want %g because %q", s.Served, s.Reason, entry.Decision.Value,
			entry.Decision.Reason())
	}
	if s.Quantile == nil || *s.Quantile != 0.95 || s.Late != nil {
		t.Errorf("quantile %v, late %v; want 0.95 and none", s.Quantile, s.Late)
	}
	if len(s.Path) != 120 || s.Path[0].Quantiles["0.95"] <= *s.Path[0].Point {
		t.Errorf("%d steps of path, the first %+v", len(s.Path), s.Path[0])
	}
	if last := s.Past[len(s.Past)-1]; last.Actual != nil || last.Forecast == nil {
		t.Errorf("the open window shows %+v, want a forecast and nothing observed", last)
	}
	if n := len(s.Candidates); n != 4 || !s.Candidates[0].Selected || s.Candidates[1].Selected {
		t.Errorf("candidates %+v", s.Candidates)
	}
	if o.Labels[v1alpha1.LabelState] != "Ready" || o.Labels[v1alpha1.LabelModel] != "arima" {
		t.Errorf("labels %v", o.Labels)
	}
}

// The clock decides whether data is good: a snapshot that no one renewed goes stale by itself.
func TestOutlookGoesStaleByTheClock(t *testing.T) {
	later := snapshottest.Now().Add(11 * time.Minute)
	o := inspect.Outlook(snapshottest.Ready(snapshottest.Key("ready")), later)
	if o.Status.State != "Stale" || o.Status.Served != nil || o.Labels[v1alpha1.LabelState] != "Stale" {
		t.Errorf("state %s, served %v, labels %v", o.Status.State, o.Status.Served, o.Labels)
	}
	if !strings.Contains(o.Status.Reason, "11m30s old") {
		t.Errorf("reason %q does not say how old", o.Status.Reason)
	}
}

// poison puts NaN and infinities wherever an entry has room for a number.
func poison(e *snapshot.ForecastSnapshot) {
	nan, inf := math.NaN(), math.Inf(1)
	e.Observed, e.Skill, e.Coverage = nan, inf, nan
	e.Decision.Value = inf
	hours := e.Views.Look(snapshottest.Now()).NextDay
	for i := range hours {
		hours[i].Point, hours[i].Quantiles = inf, [3]float64{nan, inf, nan}
	}
	for i := range e.Recent.Values {
		e.Recent.Values[i] = []float64{nan, inf, 3}[i%3]
	}
	for i := range e.Path {
		e.Path[i].Point, e.Path[i].Quantiles = nan, [3]float64{inf, nan, 1}
	}
	for i := range e.Past {
		e.Past[i].Forecast, e.Past[i].Actual = nan, inf
	}
	for i := range e.Candidates {
		c := &e.Candidates[i]
		c.Loss, c.Skill, c.Coverage = inf, nan, inf
		for j := range c.Windows {
			c.Windows[j].Quantiles[0], c.Windows[j].Quantiles[9] = nan, inf
		}
	}
}

func TestNothingButNumbersReachesJSON(t *testing.T) {
	poisoned := snapshottest.Ready(snapshottest.Key("poisoned"))
	poison(poisoned)
	for _, e := range append(snapshottest.EveryState(), poisoned) {
		o := inspect.Outlook(e, snapshottest.Now())
		text, err := json.Marshal(o)
		if err != nil {
			t.Fatalf("%s: %v", e.Key, err)
		}
		var back v1alpha1.Outlook
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatalf("%s: %v", e.Key, err)
		}
		if back.Status.State != o.Status.State || len(back.Status.Path) != len(o.Status.Path) {
			t.Errorf("%s does not survive JSON", e.Key)
		}
	}
}

func TestTableIsWhatKubectlPrints(t *testing.T) {
	s := outlooks(t, everyState())
	list, err := s.List(request.WithNamespace(t.Context(), "inference"), nil)
	if err != nil {
		t.Fatal(err)
	}
	table, err := s.ConvertToTable(t.Context(), list, &metav1.TableOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	for _, c := range table.ColumnDefinitions {
		got.WriteString(strings.ToUpper(c.Name) + "|")
	}
	got.WriteByte('\n')
	for _, row := range table.Rows {
		for _, cell := range row.Cells {
			text, ok := cell.(string)
			if !ok {
				t.Fatalf("cell %v is no text", cell)
			}
			got.WriteString(text + "|")
		}
		got.WriteByte('\n')
	}
	want, err := os.ReadFile(filepath.Join("testdata", "table.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("table is\n%swant\n%s", got.String(), want)
	}
}

func TestGet(t *testing.T) {
	ctx := request.WithNamespace(t.Context(), "inference")
	_, err := outlooks(t, everyState()).Get(ctx, "missing", nil)
	if !apierrors.IsNotFound(err) {
		t.Errorf("unknown: %v, want not found", err)
	}
	_, err = outlooks(t, &snapshot.Store{}).Get(ctx, "ready", nil)
	if !apierrors.IsServiceUnavailable(err) {
		t.Errorf("before the first snapshot: %v, want unavailable", err)
	}
	object, err := outlooks(t, everyState()).Get(ctx, "ready", nil)
	if o, ok := object.(*v1alpha1.Outlook); err != nil || !ok || o.Name != "ready" {
		t.Errorf("got %v, %v", object, err)
	}
}

func list(t *testing.T, s store, options *internalversion.ListOptions) *v1alpha1.OutlookList {
	t.Helper()
	object, err := s.List(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	out, ok := object.(*v1alpha1.OutlookList)
	if !ok {
		t.Fatalf("listed %T", object)
	}
	return out
}

func TestListInParts(t *testing.T) {
	s := outlooks(t, snapshottest.Store(snapshottest.Many(25)...))
	seen := make(map[string]bool)
	options := &internalversion.ListOptions{Limit: 10}
	for parts := 1; ; parts++ {
		part := list(t, s, options)
		for _, o := range part.Items {
			seen[o.Namespace+"/"+o.Name] = true
		}
		if part.Continue == "" {
			if parts != 3 || len(seen) != 25 {
				t.Errorf("%d outlooks in %d parts, want 25 in 3", len(seen), parts)
			}
			return
		}
		options.Continue = part.Continue
	}
}

func TestListSelectors(t *testing.T) {
	s := outlooks(t, everyState())
	stale := list(t, s, &internalversion.ListOptions{
		LabelSelector: labels.SelectorFromSet(labels.Set{v1alpha1.LabelState: "Stale"}),
	})
	if len(stale.Items) != 1 || stale.Items[0].Name != "stale" {
		t.Errorf("stale: %d items", len(stale.Items))
	}
	named := list(t, s,
		&internalversion.ListOptions{FieldSelector: fields.OneTermEqualSelector("metadata.name", "ready")})
	if len(named.Items) != 1 || named.Items[0].Name != "ready" {
		t.Errorf("named: %d items", len(named.Items))
	}
	_, err := s.List(t.Context(), &internalversion.ListOptions{Continue: "%%%"})
	if !apierrors.IsBadRequest(err) {
		t.Errorf("another list's continue token: %v, want bad request", err)
	}
}

func TestBrowserHeaders(t *testing.T) {
	const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"
	for sub, contentType := range map[string]string{"page": "text/html; charset=utf-8", "plot": "image/svg+xml"} {
		response := browse(t, everyState(), "ready", sub)
		for name, want := range map[string]string{
			"Content-Type": contentType, "Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff",
		} {
			if got := response.Header().Get(name); got != want {
				t.Errorf("%s: %s is %q, want %q", sub, name, got, want)
			}
		}
	}
}

// wellFormed reads the whole document as XML.
func wellFormed(t *testing.T, svg string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("the plot is no XML: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok && (e.Name.Local == "script" || e.Name.Local == "image") {
			t.Errorf("the plot holds a %s", e.Name.Local)
		}
	}
}

// oddEntries are entries at the edge of what can be drawn.
func oddEntries() map[string]*snapshot.ForecastSnapshot {
	out := make(map[string]*snapshot.ForecastSnapshot)
	for _, name := range []string{"zero", "one-point", "poisoned", "huge", "tiny", "gaps", "future"} {
		out[name] = snapshottest.Ready(snapshottest.Key(name))
	}
	zero := out["zero"]
	clear(zero.Recent.Values)
	zero.Views.Set(&snapshot.Background{NextDay: make([]snapshot.PathStep, 24)})
	zero.Path, zero.Past, zero.Observed, zero.Decision.Value, zero.Unit = nil, nil, 0, 0, ""
	one := out["one-point"]
	one.Recent, one.Path, one.Past = one.Recent.Slice(287, 288), one.Path[:1], one.Past[:1]
	one.Views.Set(&snapshot.Background{NextDay: one.Views.Look(snapshottest.Now()).NextDay[:1]})
	poison(out["poisoned"])
	out["huge"].Observed, out["huge"].Decision.Value = 8e14, 9e14
	clear(out["tiny"].Recent.Values)
	out["tiny"].Path, out["tiny"].Past = nil, nil
	out["tiny"].Observed, out["tiny"].Decision.Value = 1e-300, 1e-300
	for i := range out["gaps"].Recent.Values {
		if i%2 == 0 {
			out["gaps"].Recent.Values[i] = math.NaN()
		}
	}
	out["future"].Recent = forecast.Series{
		Start: snapshottest.Now().Add(time.Hour), Step: time.Minute, Values: []float64{1, 2, 3},
	}
	return out
}

func TestPlotOfEverything(t *testing.T) {
	entries := snapshottest.EveryState()
	for _, e := range oddEntries() {
		entries = append(entries, e)
	}
	snapshots := snapshottest.Store(entries...)
	for _, e := range entries {
		t.Run(e.Key.Name, func(t *testing.T) {
			svg := browse(t, snapshots, e.Key.Name, "plot").Body.String()
			wellFormed(t, svg)
			for _, want := range []string{"time of day (UTC)", "demand", ">15:00<"} {
				if e.Recent.Len() == 288 && !strings.Contains(svg, want) {
					t.Errorf("the plot does not say %q", want)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Error("the plot holds a coordinate that is no number")
			}
			if page := browse(t, snapshots, e.Key.Name, "page").Body.String(); !strings.Contains(page, "</html>") {
				t.Error("the page is cut short")
			}
		})
	}
}

// Strings of a hostile object must reach neither page nor plot as markup.
func TestHostileStringsAreEscaped(t *testing.T) {
	const attack = `</title></svg></pre><script>alert(1)</script><img src=x onerror=alert(1)>"'` + "\x00\x1b\u202e"
	e := snapshottest.FallingBack(snapshottest.Key("hostile"))
	e.Unit, e.Model, e.Choice.Selected, e.Workload, e.LeadSource = attack, attack, attack, "Deployment/"+attack, attack
	e.Fallback = false
	e.Conditions[0].Message, e.Conditions[0].Reason, e.Conditions[0].Type = attack, attack, attack
	e.Candidates[0].Title, e.Candidates[0].Name, e.Candidates[3].Error = attack, attack, attack
	e.Key.Name = "hostile"
	snapshots := snapshottest.Store(e)
	plot := browse(t, snapshots, "hostile", "plot").Body.String()
	wellFormed(t, plot)
	page := browse(t, snapshots, "hostile", "page").Body.String()
	for name, text := range map[string]string{"plot": plot, "page": page} {
		for _, markup := range []string{"<script", "<img", "\x1b", "\u202e"} {
			if strings.Contains(text, markup) {
				t.Errorf("the %s holds %q", name, markup)
			}
		}
	}
	says(t, page, "&lt;script&gt;")
	if own := inspect.Outlook(e, snapshottest.Now()).Labels; own[v1alpha1.LabelModel] != "" {
		t.Errorf("a model that is no label value is one: %v", own)
	}
}

func TestPageNeedsNothingFromOutside(t *testing.T) {
	page := browse(t, everyState(), "ready", "page").Body.String()
	page = strings.ReplaceAll(page, `xmlns="http://www.w3.org/2000/svg"`, "")
	lacks(t, page, "http://", "https://", "<script", "<link", "@import", "url(", "src=")
	says(t, page, "<svg", "HorizontalPodAutoscaler", "describedObject",
		"arima is selected: it had a lower pinball loss than regression (0.0231", "ARIMA(1,1,1)", "baseline")
}

func TestOnlyReadableMediaTypes(t *testing.T) {
	scheme, err := inspect.Scheme()
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range inspect.Group(scheme, everyState(), nil, snapshottest.Now, everybody).NegotiatedSerializer.SupportedMediaTypes() {
		if info.MediaType != runtime.ContentTypeJSON && info.MediaType != runtime.ContentTypeYAML {
			t.Errorf("offers %s", info.MediaType)
		}
	}
}
