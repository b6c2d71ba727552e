package servegen_test

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/hack/tracegen/servegen"
)

func TestRecorded(t *testing.T) {
	all, err := servegen.Recorded()
	if err != nil || len(all) != 14*24*6 || all[0].Rate != 809.762 || !(all[0].Dispersion > 1) {
		t.Fatalf("%d windows, the first is %+v (%v), want two weeks of ten minutes", len(all), all[0], err)
	}
}

func TestClientsAddUp(t *testing.T) {
	folder := fstest.MapFS{
		"chunk-0-trace.csv":    {Data: []byte("0,3,1,Gamma,1,1\n600,0,0,,0,0\n")},
		"chunk-12-trace.csv":   {Data: []byte("0,1,3,Gamma,1,1\n600,2,2,Gamma,1,1\n")},
		"chunk-0-dataset.json": {Data: []byte("{}")},
	}
	got, err := servegen.Sum(folder)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]servegen.Window{{Rate: 4, Dispersion: 3}, {Rate: 2, Dispersion: 4}}, got); diff != "" {
		t.Error(diff)
	}
	if _, err := servegen.Sum(fstest.MapFS{}); err == nil || !strings.Contains(err.Error(), "data/language/m-small") {
		t.Errorf("an empty folder: %v", err)
	}
	folder["chunk-1-trace.csv"] = &fstest.MapFile{Data: []byte("0,x,1")}
	if _, err := servegen.Sum(folder); err == nil || !strings.Contains(err.Error(), "chunk-1-trace.csv") {
		t.Errorf("a line without numbers: %v", err)
	}
}
