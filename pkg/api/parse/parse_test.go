package parse_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/parse"
)

func TestQuantity(t *testing.T) {
	for text, milli := range map[string]int64{"64": 64_000, "0.5": 500, "500m": 500, "4k": 4_000_000, "1e3": 1_000_000, "-2": -2000} {
		if q, err := parse.Quantity(text); err != nil || q.MilliValue() != milli {
			t.Errorf("%s: %v, %v", text, q, err)
		}
	}
	for _, text := range []string{"", "many", "1,5", "1e-30000000", "1E+300", strings.Repeat("9", 33), "1 k", "NaN"} {
		q, err := parse.Quantity(text)
		if err == nil || !strings.Contains(err.Error(), "is not a quantity, write for example") {
			t.Errorf("%s: %v, %v", text, q, err)
		}
	}
}

func FuzzQuantity(f *testing.F) {
	f.Add("64")
	f.Add("1e-30000000")
	f.Fuzz(func(t *testing.T, text string) {
		started := time.Now()
		q, err := parse.Quantity(text)
		if err != nil && len(err.Error()) > 400 {
			t.Errorf("the error has %d bytes", len(err.Error()))
		}
		if err == nil && !parse.Bounded(text) {
			t.Errorf("%q is %v", text, q)
		}
		if took := time.Since(started); took > time.Second {
			t.Errorf("%q took %s", text, took)
		}
	})
}

func TestSelector(t *testing.T) {
	in := func(key string, values ...string) metav1.LabelSelectorRequirement {
		return metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: values}
	}
	labels := map[string]string{"queue": "orders"}
	for _, c := range []struct {
		name     string
		selector *metav1.LabelSelector
		want     map[string]string
		problem  string
	}{
		{"none", nil, nil, ""},
		{"labels", &metav1.LabelSelector{MatchLabels: labels}, labels, ""},
		{
			"an expression",
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("queue", "orders")}}, labels, "",
		},
		{
			"both alike",
			&metav1.LabelSelector{MatchLabels: labels, MatchExpressions: []metav1.LabelSelectorRequirement{in("queue", "orders")}},
			labels, "",
		},
		{
			"both different",
			&metav1.LabelSelector{MatchLabels: labels, MatchExpressions: []metav1.LabelSelectorRequirement{in("queue", "mail")}},
			nil, `"queue" has two values`,
		},
		{
			"several values",
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{in("queue", "orders", "mail")}},
			nil, `"queue" does not select a single value`,
		},
		{
			"another operator",
			&metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: "queue", Operator: metav1.LabelSelectorOpExists},
			}},
			nil, `"queue" does not select a single value`,
		},
	} {
		got, err := parse.Selector(c.selector)
		if (err == nil) != (c.problem == "") || err != nil && !strings.Contains(err.Error(), c.problem) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.problem)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}
