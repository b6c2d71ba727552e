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

const askedIs = "The quantile to serve, the share of the demand that may be late, or what late demand costs (20×)."

// columns are those of "kubectl get outlooks"; the ones of priority 1 appear with -o wide.
var columns = []metav1.TableColumnDefinition{ //nolint:gochecknoglobals // A constant table.
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the Forecast."},
	{Name: "Now", Type: "string", Description: "The demand observed now."},
	{Name: "Served", Type: "string", Description: "The value that the metrics APIs answer."},
	{Name: "Asked", Type: "string", Description: askedIs},
	{Name: "Late", Type: "string", Description: "The share of the last week's demand that was late; ! where too much."},
	{Name: "Lead", Type: "string", Description: "The time from more replicas to ready."},
	{Name: "Model", Type: "string", Description: "The model that serves."},
	{
		Name:        "Skill",
		Type:        "string",
		Description: "How much less than the last value the model loses, by the loss that it was chosen by: the cost under an objective, else the pinball loss.",
	},
	{Name: "Coverage", Type: "string", Description: "The share of past windows within the served quantile."},
	{Name: "State", Type: "string", Description: "Ready, Warming, FallingBack, Stale, Pending or Invalid."},
	{Name: "Age", Type: "string", Description: "The age of the newest sample."},
	{Name: "Window", Type: "string", Priority: 1, Description: "How far the served value looks ahead."},
	{Name: "K", Type: "string", Priority: 1, Description: "The margin served: the multiple of the spread."},
	{Name: "Unit", Type: "string", Priority: 1, Description: "The unit of the demand."},
	{Name: "Reason", Type: "string", Priority: 1, Description: "Why this value is served, or none."},
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
		return nil, fmt.Errorf("no table for %T", object)
	}
	return table, nil
}

func row(o *v1alpha1.Outlook, now time.Time) metav1.TableRow {
	s := &o.Status
	var k *float64
	if s.Outcome != nil {
		k = s.Outcome.K
	}
	return metav1.TableRow{
		Object: runtime.RawExtension{Object: o},
		Cells: []any{
			o.Name, number(s.Observed), number(s.Served), level(s), Achieved(s), span(s.LeadTime.Duration.Duration),
			printable.Line(cmp.Or(s.Model, unknown)), percent(s.Skill), percent(s.Coverage), s.State, Age(s, now),
			span(s.Window.Duration), multiple(k), printable.Line(cmp.Or(s.Unit, unknown)), printable.Line(s.Reason),
		},
	}
}
