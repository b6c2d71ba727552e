package forecasts_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/decide/objective"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
	"github.com/forewarm/forewarm/pkg/kube/forecasts"
)

// TestServedRecord: a status holds a record exactly, keeps it while the entry has none, and one that was edited is not used.
func TestServedRecord(t *testing.T) {
	record := &objective.Record{
		Through: time.Date(2026, 3, 2, 7, 0, 0, 0, time.UTC), Wait: 1500 * time.Millisecond, Capacity: 1.0 / 3,
		Hours: "RABIAMAA",
	}
	e := &snapshot.ForecastSnapshot{Objective: &objective.Report{Record: record}}
	held := forecasts.ServedRecordOf(e, &v1alpha1.ForecastStatus{})
	if got := forecasts.RecordFrom(held); !cmp.Equal(got, record) {
		t.Errorf("%+v is read as %+v", held, got)
	}
	before := &v1alpha1.ForecastStatus{ServedRecord: held}
	for _, without := range []*snapshot.ForecastSnapshot{{}, {Objective: &objective.Report{}}} {
		if forecasts.ServedRecordOf(without, before) != held {
			t.Error("a record is lost")
		}
	}
	for _, edit := range []func(*v1alpha1.ServedRecord){
		func(s *v1alpha1.ServedRecord) { s.Hours = "no base64" },
		func(s *v1alpha1.ServedRecord) { s.Hours = "AAAA" },
		func(s *v1alpha1.ServedRecord) { s.Wait = "long" },
		func(s *v1alpha1.ServedRecord) { s.Capacity = "much" },
		func(s *v1alpha1.ServedRecord) { s.Through.Time = s.Through.Add(time.Minute) },
	} {
		edited := *held
		edit(&edited)
		if got := forecasts.RecordFrom(&edited); got != nil {
			t.Errorf("%+v is used: %+v", edited, got)
		}
	}
}
