package capacity_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/capacity"
)

// Targets are rounded down, and are what Kubernetes takes for a quantity in its own spelling.
func TestQuantity(t *testing.T) {
	for v, want := range map[float64]string{
		42.18: "42", 40: "40", 39.99: "39", 4123: "4100", 7: "7", 4.93: "4900m", 4.5: "4500m", 0.85: "850m", 0.8: "800m",
		1: "1", 9.999: "9900m", 100: "100", 0.0123: "12m", 0.00001: "1m", 123456789: "120M",
	} {
		got := capacity.Quantity(v)
		q, err := resource.ParseQuantity(got)
		if err != nil {
			t.Errorf("%v: %v", v, err)
			continue
		}
		if got != want || q.String() != got {
			t.Errorf("%v is %s (%s), want %s", v, got, q.String(), want)
		}
	}
}
