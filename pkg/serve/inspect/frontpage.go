package inspect

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/chart"
	"github.com/forewarm/forewarm/pkg/core/decide"
	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

//go:embed frontpage.html
var frontSource string

// frontTemplate has the style sheet of a Forecast's page.
//
//nolint:gochecknoglobals // Parsed once.
var frontTemplate = template.Must(template.Must(pageTemplate.Clone()).New("front").
	Funcs(template.FuncMap{"objective": ObjectiveText}).Parse(frontSource))

// maxFrontRows limits the page to about a megabyte.
const maxFrontRows = 500

// frontPage is the data of the template.
type frontPage struct {
	*page

	// Namespace is empty if the page lists all namespaces; API is the relative path to what it lists.
	Namespace, API string
	Rows           []frontRow
	// Looks is how many of the Total Forecasts need attention; More is how many are not shown.
	Looks, More, Total int
}

// frontRow is one Forecast.
type frontRow struct {
	*page

	Link    string
	Reasons []string
	Missed  bool
	Spark   template.HTML

	entry *snapshot.ForecastSnapshot
	order int
}

// renderFrontPage lists the entries of a namespace, or of all namespaces if it is empty. Entries that need attention come first.
func renderFrontPage(entries []*snapshot.ForecastSnapshot, namespace string, now time.Time) ([]byte, error) {
	front := frontPage{
		page:      &page{Style: chart.Style(), Now: now},
		Namespace: namespace,
		API:       "../../",
		Total:     len(entries),
	}
	if namespace == "" {
		front.API = "apis/" + v1alpha1.GroupVersion().String() + "/" // From the root of a standalone server.
	}
	for _, e := range entries {
		row := newFrontRow(e, now)
		if row.order < needsNoLook {
			front.Looks++
		}
		front.Rows = append(front.Rows, row)
	}
	slices.SortStableFunc(front.Rows, func(a, b frontRow) int { return a.order - b.order })
	front.Rows = front.Rows[:min(len(entries), maxFrontRows)]
	front.More = len(entries) - len(front.Rows)
	for i := range front.Rows {
		if err := front.Rows[i].fill(namespace, front.API, now); err != nil {
			return nil, fmt.Errorf("front page: %w", err)
		}
	}
	var out bytes.Buffer
	if err := frontTemplate.Execute(&out, front); err != nil {
		return nil, fmt.Errorf("front page: %w", err)
	}
	return []byte(printable.Text(out.String())), nil
}

// The order of the rows: no value is served, a condition is bad, the objective is missed, or there is no problem.
const (
	notServing = iota
	impaired
	missesObjective
	needsNoLook
)

// newFrontRow returns a row with only its order and reasons.
func newFrontRow(e *snapshot.ForecastSnapshot, now time.Time) frontRow {
	row := frontRow{page: &page{}, entry: e, order: needsNoLook}
	add := func(order int, why string) {
		const most = 300 // The Forecast's page shows longer texts in full.
		row.order, row.Reasons = min(row.order, order), append(row.Reasons, printable.Clip(why, most))
	}
	if _, err := e.Answer(decide.Overrides{}, now); err != nil {
		add(notServing, strings.TrimPrefix(err.Error(), snapshot.ErrNotServing.Error()+": "))
		return row
	}
	for _, c := range e.Conditions {
		if isProblem(c) {
			add(impaired, c.Type+": "+c.Message)
		}
	}
	if row.Missed = e.Objective != nil && e.Objective.Verdict.Misses(); row.Missed {
		verdict := v1alpha1.Objective{Verdict: string(e.Objective.Verdict)}
		add(missesObjective, (&objectivePanel{Objective: &verdict}).Missed())
	}
	return row
}

// isProblem reports whether a condition needs attention. The verdict decides whether an objective is missed.
func isProblem(c snapshot.Condition) bool {
	switch c.Type {
	case snapshot.ConditionUncalibrated, snapshot.ConditionSaturated, snapshot.ConditionPaused:
		return true // These conditions are present only if something is wrong.
	case snapshot.ConditionObjective, snapshot.ConditionScaledToZero:
		return false
	}
	return !c.True
}

// fill adds the content of the row. The link is relative, because a proxy may add a prefix to the path.
func (r *frontRow) fill(namespace, api string, now time.Time) (err error) {
	e := brief(r.entry) // The row does not show the removed parts, which are most of an outlook.
	e.Candidates, e.Path, e.Past, e.Events, e.Classifications = nil, nil, nil, nil, nil
	o := Outlook(e, now)
	r.Outlook, r.Link = &o, "../"+url.PathEscape(o.Name)+"/page"
	if namespace == "" {
		r.Link = api + "namespaces/" + url.PathEscape(o.Namespace) + "/" + v1alpha1.Resource + r.Link[len(".."):]
	}
	r.Spark, err = sparkline(&o.Status, now)
	return err
}

// sparkline is a small chart of the demand of the last day; empty if no demand is known.
func sparkline(s *v1alpha1.OutlookStatus, now time.Time) (template.HTML, error) {
	const width, height, perGroup = 160, 30, 4
	var points []chart.Point
	// One point for each group is enough. It is the highest value, so that no peak is lost.
	for group := range slices.Chunk((timeScale{now}).recent(s), perGroup) {
		highest := chart.Point{X: group[0].X, Y: math.NaN()}
		for _, p := range group {
			if !(p.Y <= highest.Y) && humanize.Known(p.Y) {
				highest.Y = p.Y
			}
		}
		points = append(points, highest)
	}
	if !slices.ContainsFunc(points, func(p chart.Point) bool { return humanize.Known(p.Y) }) {
		return "", nil
	}
	top := chart.Highest(points)
	c := &chart.Chart{
		X: chart.Axis{From: -24 * time.Hour.Seconds()}, Y: chart.Axis{To: panelTop(1.1, points)},
		Tall: height, Across: width, Up: height, Title: "at most " + number(&top) + " " + clipped(s.Unit),
	}
	c.Area("near", nil, points)
	c.Line("observed", points...)
	return c.Spark()
}

const htmlType = "text/html; charset=utf-8"

// FrontPage is the page that lists the Forecasts of a namespace, or of all namespaces if it is empty.
func FrontPage(snapshots *snapshot.Store, namespace string, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		newest := snapshots.Load()
		if newest == nil {
			http.Error(w, noData().Error(), http.StatusServiceUnavailable)
			return
		}
		body, err := renderFrontPage(newest.Entries(namespace), namespace, now())
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		writeDocument(w, htmlType, body)
	})
}

// frontPages are the sub-resource that lists the Forecasts of a namespace: outlooks/-/frontpage, a name that no Forecast
// can have.
//
// Reading it requires its own permission: get on outlooks/frontpage. This permission may come from a rule for this name or for all
// sub-resources that was not meant to grant a list. Therefore the user must also be allowed to list the outlooks of the namespace.
type frontPages struct {
	document

	access authorizer.UnconditionalAuthorizer
}

// Connect renders the front page of the namespace.
func (f *frontPages) Connect(
	ctx context.Context, name string, _ runtime.Object, _ rest.Responder,
) (http.Handler, error) {
	resource := schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.Resource}
	if name != "-" {
		resource.Resource += "/frontpage"
		return nil, apierrors.NewNotFound(resource, name)
	}
	user, _ := request.UserFrom(ctx)
	namespace := request.NamespaceValue(ctx)
	list := authorizer.AttributesRecord{
		User: user, Verb: "list", Namespace: namespace, ResourceRequest: true,
		APIGroup: v1alpha1.GroupName, APIVersion: v1alpha1.Version, Resource: v1alpha1.Resource,
	}
	if decision, _, err := f.access.Authorize(ctx, list); decision != authorizer.DecisionAllow {
		return nil, apierrors.NewForbidden(resource, "",
			errors.Join(errors.New("the front page also requires permission to list outlooks"), err))
	}
	return FrontPage(f.storage.snapshots, namespace, f.storage.now), nil
}

// contentSecurityPolicy forbids scripts, forms, frames and every outside resource.
const contentSecurityPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"

var (
	_ rest.Connecter = (*document)(nil)
	_ rest.Scoper    = (*document)(nil)
)

// document is a sub-resource for browsers. It is a Connecter because a streamed resource would answer 406 to a
// browser's Accept header.
type document struct {
	storage     *storage
	contentType string
	render      func(outlook *v1alpha1.Outlook, now time.Time) ([]byte, error)
}

// New is an empty outlook, the parent of the sub-resource.
func (*document) New() runtime.Object { return &v1alpha1.Outlook{} }

// Destroy has nothing to release.
func (*document) Destroy() {}

// NamespaceScoped is true, as for outlooks.
func (*document) NamespaceScoped() bool { return true }

// ConnectMethods is GET only.
func (*document) ConnectMethods() []string { return []string{http.MethodGet} }

// NewConnectOptions returns none.
func (*document) NewConnectOptions() (options runtime.Object, hasPath bool, pathKey string) {
	return nil, false, ""
}

// Connect renders the outlook.
func (d *document) Connect(
	ctx context.Context, name string, _ runtime.Object, responder rest.Responder,
) (http.Handler, error) {
	entry, err := d.storage.entry(ctx, name)
	if err != nil {
		return nil, err
	}
	now := d.storage.now()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		outlook := Outlook(entry, now)
		body, err := d.render(&outlook, now)
		if err != nil {
			responder.Error(err)
			return
		}
		writeDocument(w, d.contentType, body)
	}), nil
}

// writeDocument writes what a browser shows but does not run.
func writeDocument(w http.ResponseWriter, contentType string, body []byte) {
	header := w.Header()
	header.Set("Content-Type", contentType)
	header.Set("Content-Security-Policy", contentSecurityPolicy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(body) //nolint:errcheck // The client has disconnected.
}
