package fleet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
)

func TestParseVariant(t *testing.T) {
	got, err := fleet.ParseVariant("name=spot, lead-time=90s,price=1.1,capacity=4k,min=0,max=20,interruptions=0.05")
	want := fleet.Variant{
		Name: "spot", Lead: 90 * time.Second, Price: 1.1, Capacity: 4000, Min: 0, Max: 20, Interruptions: .05,
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	for text, problem := range map[string]string{
		"lead-time=5m":                    "no name is given",
		"name=a":                          `lead-time "" is not above 0 and up to 24h`,
		"name=a,lead-time=-5m":            "is not above 0 and up to 24h",
		"name=a,lead-time=5m,min=3,max=2": "want min at most max",
		"name=a,lead-time=5m,max=1e9":     "max at most 100000",
		"name=a,lead-time=5m,colour=red":  `"colour" is unknown`,
		"name=a,lead-time=5m,price=-1":    "price",
	} {
		if _, err := fleet.ParseVariant(text); err == nil || !strings.Contains(err.Error(), problem) {
			t.Errorf("%s: %v, want %s", text, err, problem)
		}
	}
}
