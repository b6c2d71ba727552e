package autoscaler_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/manifest"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// TestTheSamplesCount: each autoscaler of deploy/samples is one that the sample's Forecast is calibrated for, with the
// full capacity of a replica and without a hold.
func TestTheSamplesCount(t *testing.T) {
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "deploy", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(text), "\n---\n")
		return first
	}
	for name, references := range map[string][]manifest.Reference{
		"hpa.yaml":          autoscaler.FromHPA(readHPA(t, read("hpa.yaml"))),
		"hpa-object.yaml":   autoscaler.FromHPA(readHPA(t, read("hpa-object.yaml"))),
		"scaledobject.yaml": autoscaler.FromScaledObject(readScaledObject(t, read("scaledobject.yaml"))),
	} {
		if len(references) != 1 || references[0].Forecast != inflight {
			t.Errorf("%s: %+v", name, references)
			continue
		}
		choice := manifest.ChooseAutoscalers(references, llama, 0)
		if len(choice.Scalings) != 1 || choice.Scalings[0].Target() != 64 || choice.Scalings[0].HPA.Max != 20 ||
			choice.Scalings[0].HPA.Behavior.Down.Stabilization != 0*time.Second {
			t.Errorf("%s: %+v", name, choice)
		}
	}
}
