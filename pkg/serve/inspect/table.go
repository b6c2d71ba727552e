package inspect

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// columns are those of "kubectl get outlooks"; the ones of priority 1 appear with -o wide.
var columns = []metav1.TableColumnDefinition{ //nolint:gochecknoglobals // A constant table.
	{Name: "Name", Type: "string", Format: "name", Description: "Name of the Forecast."},
	{Name: "Now", Type: "string", Description: "The demand observed now."},
	{Name: "Served", Type: "string", Description: "The value that the metrics APIs answer."},
	{
		Name:        "Asked",
		Type:        "string",
		Description: "The quantile to serve, the share of the demand that may be late, or what late demand costs (20×).",
	},
	{Name: "Late", Type: "string", Description: "The share of the last week's demand that was late; ! where too much."},
	{Name: "Lead", Type: "string", Description: "The time from more replicas to ready."},
	{Name: "Model", Type: "string", Description: "The model that serves."},
	{Name: "Skill", Type: "string", Description: "How much better than the last value, on the decision's own loss."},
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
	return metav1.TableRow{
		Object: runtime.RawExtension{Object: o},
		Cells: []any{
			o.Name, number(s.Observed), number(s.Served), level(s), achieved(s), span(s.LeadTime.Duration.Duration),
			orUnknown(s.Model), percent(s.Skill), percent(s.Coverage), s.State, age(s, now),
			span(s.Window.Duration), multiplied(s), orUnknown(s.Unit), s.Reason,
		},
	}
}
