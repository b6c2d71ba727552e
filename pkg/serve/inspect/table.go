package inspect

import (
	"cmp"
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/printable"
)

const objectiveDescription = "The quantile to serve, the share of the demand that may be late or in bad hours, or the cost ratio (20×)."

// columns are the columns of "kubectl get outlooks". Columns of priority 1 appear only with -o wide.
var columns = []metav1.TableColumnDefinition{ //nolint:gochecknoglobals // A constant table.
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the Forecast."},
	{Name: "Now", Type: "string", Description: "The demand that is observed now."},
	{Name: "Served", Type: "string", Description: "The value that the metrics APIs serve."},
	{Name: "Objective", Type: "string", Description: objectiveDescription},
	{
		Name:        "Late",
		Type:        "string",
		Description: "The share of the demand that was late over the budget's period; ! if the objective is missed.",
	},
	{
		Name:        "Lead",
		Type:        "string",
		Description: "The lead time: the time from a request for more replicas until they are ready.",
	},
	{Name: "Model", Type: "string", Description: "The selected candidate, or the fallback."},
	{
		Name:        "Skill",
		Type:        "string",
		Description: "How much lower the pinball loss of the selected candidate is than the loss of the last value.",
	},
	{
		Name:        "Coverage",
		Type:        "string",
		Description: "The share of past window peaks at or below the selected candidate's quantile.",
	},
	{Name: "State", Type: "string", Description: "Ready, Warming, FallingBack, Stale, Pending or Invalid."},
	{Name: "Data Age", Type: "string", Description: "The age of the newest sample."},
	{Name: "Age", Type: "string", Description: "The age of the Forecast; unknown for a Forecast from a file."},
	{Name: "Window", Type: "string", Priority: 1, Description: "The lead window, over which demand is forecast."},
	{
		Name:        "Headroom",
		Type:        "string",
		Priority:    1,
		Description: "The headroom multiplier, as a multiple of the spread.",
	},
	{Name: "Unit", Type: "string", Priority: 1, Description: "The unit of the demand."},
	{Name: "Reason", Type: "string", Priority: 1, Description: "Why Forewarm serves this value, or no value."},
}

// ConvertToTable is what kubectl prints.
func (s *storage) ConvertToTable(_ context.Context, object, options runtime.Object) (*metav1.Table, error) {
	table := &metav1.Table{}
	if o, ok := options.(*metav1.TableOptions); !ok || !o.NoHeaders {
		table.ColumnDefinitions = columns
	}
	now := s.now()
	switch o := object.(type) {
	case *v1alpha1.Outlook:
		table.Rows = []metav1.TableRow{row(o, now)}
	case *v1alpha1.OutlookList:
		table.ListMeta = o.ListMeta
		table.Rows = make([]metav1.TableRow, len(o.Items))
		for i := range o.Items {
			table.Rows[i] = row(&o.Items[i], now)
		}
	default:
		return nil, fmt.Errorf("cannot print %T as a table", object)
	}
	return table, nil
}

func row(o *v1alpha1.Outlook, now time.Time) metav1.TableRow {
	s := &o.Status
	var headroom *float64
	if s.Objective != nil {
		headroom = s.Objective.Headroom
	}
	return metav1.TableRow{
		Object: runtime.RawExtension{Object: o},
		Cells: []any{
			o.Name,
			number(s.Observed),
			number(s.Served),
			ObjectiveText(s),
			AchievedLateness(s),
			span(s.LeadTime.Duration.Duration),
			printable.Line(cmp.Or(s.Model, unknown)),
			percent(s.Skill),
			percent(s.Coverage),
			s.State,
			SampleAge(s, now),
			Age(o, now),
			span(s.Window.Duration),
			significant(headroom),
			printable.Line(cmp.Or(s.Unit, unknown)),
			printable.Line(s.Reason),
		},
	}
}
