package inspect

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/printable"
)

var (
	_ rest.Getter               = (*fleetStorage)(nil)
	_ rest.Lister               = (*fleetStorage)(nil)
	_ rest.Scoper               = (*fleetStorage)(nil)
	_ rest.SingularNameProvider = (*fleetStorage)(nil)
)

// fleetStorage serves the outlooks of GPUFleets. They have no short name, so that kubectl's gpufleets are the objects themselves.
type fleetStorage struct {
	fleets *fleet.Store
	now    func() time.Time
}

// New is an empty outlook.
func (*fleetStorage) New() runtime.Object { return &v1alpha1.FleetOutlook{} }

// NewList is an empty list of outlooks.
func (*fleetStorage) NewList() runtime.Object { return &v1alpha1.FleetOutlookList{} }

// Destroy releases nothing.
func (*fleetStorage) Destroy() {}

// NamespaceScoped is true: an outlook has the namespace of its GPUFleet.
func (*fleetStorage) NamespaceScoped() bool { return true }

// GetSingularName is the singular name for kubectl.
func (*fleetStorage) GetSingularName() string { return "gpufleet" }

// Get is one outlook in full.
func (s *fleetStorage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	return s.outlook(ctx, name)
}

func (s *fleetStorage) outlook(ctx context.Context, name string) (*v1alpha1.FleetOutlook, error) {
	state := s.fleets.Get(snapshot.Key{Namespace: request.NamespaceValue(ctx), Name: name})
	if state == nil {
		resource := schema.GroupResource{Group: v1alpha1.GroupName, Resource: v1alpha1.FleetResource}
		return nil, apierrors.NewNotFound(resource, name)
	}
	o := FleetOutlook(state, s.now())
	return &o, nil
}

// List is the outlooks of a namespace, or of all namespaces, without their days.
func (s *fleetStorage) List(ctx context.Context, options *internalversion.ListOptions) (runtime.Object, error) {
	list := &v1alpha1.FleetOutlookList{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.FleetKind + "List"},
		Items:    []v1alpha1.FleetOutlook{},
	}
	for _, state := range s.fleets.List(request.NamespaceValue(ctx)) {
		none := func() labels.Set { return nil }
		if options != nil && !matchesSelectors(options, state.Key, none) {
			continue
		}
		o := FleetOutlook(state, s.now())
		o.Status.Day = nil
		list.Items = append(list.Items, o)
	}
	return list, nil
}

// ConvertToTable is what kubectl prints.
func (*fleetStorage) ConvertToTable(_ context.Context, object, _ runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the GPUFleet."},
		{Name: "GPUs", Type: "string", Description: "The GPUs of the fleet."},
		{Name: "Members", Type: "string", Description: "The GPUs that the members hold or ask for."},
		{Name: "Other", Type: "string", Description: "The GPUs that other pods hold."},
		{Name: "Batch", Type: "string", Description: "The replicas that each consumer may run now."},
		{Name: "Message", Type: "string", Description: "What is wrong; empty if nothing is."},
	}}
	var all []v1alpha1.FleetOutlook
	switch o := object.(type) {
	case *v1alpha1.FleetOutlook:
		all = []v1alpha1.FleetOutlook{*o}
	case *v1alpha1.FleetOutlookList:
		all = o.Items
	default:
		return nil, fmt.Errorf("cannot print %T as a table", object)
	}
	for i := range all {
		f := &all[i].Status
		table.Rows = append(table.Rows, metav1.TableRow{Object: runtime.RawExtension{Object: &all[i]}, Cells: []any{
			all[i].Name, number(f.GPUs), number(f.Members), number(f.Other), FleetBatches(f),
			printable.Line(FleetMessage(f)),
		}})
	}
	return table, nil
}

// FleetBatches are the replicas that each consumer may run: "embeddings 12, evals 0".
func FleetBatches(s *v1alpha1.FleetOutlookStatus) string {
	parts := convertEach(s.Batch, func(b *v1alpha1.FleetBatch) string {
		return fmt.Sprintf("%s %d", b.Name, b.Replicas)
	})
	if len(parts) == 0 {
		return unknown
	}
	return strings.Join(parts, ", ")
}

// FleetMessage says what is wrong with a fleet; empty if nothing is.
func FleetMessage(s *v1alpha1.FleetOutlookStatus) string {
	if s.Problem != "" {
		return s.Problem
	}
	return s.Shortage
}

// FleetOutlook is a fleet in the API at the time now, which decides whether its plan is stale.
func FleetOutlook(state *fleet.State, now time.Time) v1alpha1.FleetOutlook {
	out := v1alpha1.FleetOutlook{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion().String(), Kind: v1alpha1.FleetKind},
		ObjectMeta: metav1.ObjectMeta{Namespace: state.Key.Namespace, Name: state.Key.Name},
	}
	s, p := &out.Status, &state.Plan
	if err := state.Usable(now); err != nil {
		s.Problem = err.Error()
	}
	if state.Problem != "" {
		return out
	}
	at := utc(p.At)
	s.Time, s.GPUs, s.Members, s.Other = &at, finite(&p.GPUs), finite(&p.Members), finite(&p.Other)
	for i := range p.Batch {
		b := &p.Batch[i]
		shown := v1alpha1.FleetBatch{
			Name: b.Name, Replicas: whole32(b.Replicas), GPUs: b.GPUs, Run: metav1.Duration{Duration: b.Run},
			Need: finite(&b.Need), Message: p.Message(b),
		}
		if i < len(state.Running) {
			shown.Running = whole32(state.Running[i])
		}
		s.Batch = append(s.Batch, shown)
	}
	for _, name := range slices.Sorted(maps.Keys(state.Refused)) {
		s.Batch = append(s.Batch, v1alpha1.FleetBatch{Name: name, Message: "gets no metric: " + state.Refused[name]})
	}
	if shortage := state.Day.Shortage(); shortage != nil {
		s.Shortage = shortage.Message()
	}
	s.Day = fleetDay(&state.Day)
	return out
}

func whole32(n int) int32 { return int32(min(max(n, 0), math.MaxInt32)) }

// fleetDay is a day in the API; nil for an empty one.
func fleetDay(d *fleet.Day) *v1alpha1.FleetDay {
	if len(d.Hours) == 0 {
		return nil
	}
	return &v1alpha1.FleetDay{
		GPUs: d.GPUs, Total: d.Total,
		Hours: convertEach(d.Hours, func(t *time.Time) metav1.Time { return utc(*t) }),
		Members: convertEach(d.Members, func(m *fleet.DayOfMember) v1alpha1.FleetMember {
			return v1alpha1.FleetMember{Name: m.Name, GPUs: m.GPUs, Unknown: m.Unknown}
		}),
	}
}

// fleetPage is the sub-resource for browsers.
type fleetPage struct {
	document

	fleets *fleetStorage
}

// New is an empty outlook, the parent of the sub-resource.
func (*fleetPage) New() runtime.Object { return &v1alpha1.FleetOutlook{} }

// Connect renders the page of a fleet.
func (p *fleetPage) Connect(
	ctx context.Context, name string, _ runtime.Object, _ rest.Responder,
) (http.Handler, error) {
	outlook, err := p.fleets.outlook(ctx, name)
	if err != nil {
		return nil, err
	}
	body, err := renderFleet(outlook, p.fleets.now())
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { writeDocument(w, htmlType, body) }), nil
}
