package simulate_test

import (
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/cmd/forewarm/internal/simulate"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// refuses wants an error of each text that says what is wrong with it.
func refuses[T any](t *testing.T, parse func(string) (T, error), texts map[string]string) {
	t.Helper()
	for text, want := range texts {
		if _, err := parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want that it says %q", text, err, want)
		}
	}
}

func TestParseShape(t *testing.T) {
	for text, want := range map[string]compare.Shape{
		"name=h100, price=3.06,capacity=1200,gpus=2": {Name: "h100", Price: 3.06, Capacity: 1200, GPUs: 2},
		"name=l4,price=700m,capacity=4k":             {Name: "l4", Price: 0.7, Capacity: 4000},
		"gpus=.25,name=a quarter":                    {Name: "a quarter", GPUs: 0.25},
	} {
		if got, err := simulate.ParseShape(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	refuses(t, simulate.ParseShape, map[string]string{
		"":                        `"": expected each of capacity, gpus, name, price at most once, as name=value`,
		"h100":                    `"h100": expected each of`,
		"name=":                   `"name=": expected each of`,
		"price=1,capacity=2":      "no name is given",
		"name=a,price=free":       `"price=free": expected a number above 0; an example: name=h100,`,
		"name=a,capacity=-2":      `"capacity=-2": want a number`,
		"name=a,gpus=0":           `"gpus=0": want a number`,
		"name=a,capacity=NaN":     `"capacity=NaN": want a number`,
		"name=a,capacity=kk":      `"capacity=kk": want a number`,
		"name=a,price=Inf":        `"price=Inf": want a number`,
		"name=a,price=1,price=2":  `"price=2": expected each of`,
		"name=a,price=1,colour=b": `"colour=b": expected each of`,
	})
}

func TestParseVariant(t *testing.T) {
	for text, want := range map[string]compare.Variant{
		"name=spot, lead-time=90s,price=1.1,capacity=4k,min=0,max=20,interruptions=0.05": {
			Name: "spot", Lead: 90 * time.Second, Price: 1.1, Capacity: 4000, Max: 20, Interruptions: .05,
		},
		"name=base,lead-time=5m,interruptions=0": {Name: "base", Lead: 5 * time.Minute, Min: 1, Max: 100_000},
	} {
		if got, err := simulate.ParseVariant(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	refuses(t, simulate.ParseVariant, map[string]string{
		"lead-time=5m":                       "no name is given",
		"name=a":                             "expected a lead-time above 0 and up to 24h, such as 5m; an example: name=spot,",
		"name=a,lead-time=-5m":               "expected a lead-time above 0",
		"name=a,lead-time=soon":              `"lead-time=soon": time: invalid duration`,
		"name=a,lead-time=5m,min=3,max=2":    "expected a min from 0 to max",
		"name=a,lead-time=5m,min=-1":         "expected a min from 0 to max",
		"name=a,lead-time=5m,max=100001":     "a max up to 100000",
		"name=a,lead-time=5m,max=1e9":        `"max=1e9": expected a whole number`,
		"name=a,lead-time=5m,colour=red":     `"colour=red": expected each of`,
		"name=a,lead-time=5m,price=-1":       `"price=-1": want a number`,
		"name=a,lead-time=5m,interruptions=": `"interruptions=": expected each of`,
	})
}

// Whatever is typed is an error in words or something that can be used.
func FuzzScenarios(f *testing.F) {
	for _, seed := range []string{
		"name=h100,price=3.06,capacity=1200,gpus=2", "name=spot,lead-time=5m,max=8,interruptions=0.01", "name=,price=", ",,=,=",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := simulate.ParseShape(
			text,
		); err == nil &&
			!(s.Name != "" && s.Capacity >= 0 && s.GPUs >= 0 && s.Price >= 0) {
			t.Errorf("shape %q: %+v", text, s)
		}
		if v, err := simulate.ParseVariant(
			text,
		); err == nil &&
			!(v.Name != "" && v.Lead > 0 && v.Min <= v.Max && v.Interruptions >= 0) {
			t.Errorf("variant %q: %+v", text, v)
		}
	})
}
