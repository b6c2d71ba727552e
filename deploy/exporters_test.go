package deploy_test

import (
	"os"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/signal"
)

// The chart names the exporters that Forewarm believes without it.
func TestTheChartBelievesTheSameExporters(t *testing.T) {
	text, err := os.ReadFile("charts/forewarm/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		ExporterNamespaces []string `json:"exporterNamespaces"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	if want := signal.DefaultTrust().Exporters; !slices.Equal(values.ExporterNamespaces, want) {
		t.Errorf("the chart names %v, want %v", values.ExporterNamespaces, want)
	}
}
