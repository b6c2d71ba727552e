package fleet_test

import (
	"math/big"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/offline/fleet"
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
	s, err := fleet.ParseShape("name=h100, price=3.06,capacity=1200,gpus=2")
	if want := (fleet.Shape{Name: "h100", Price: 3.06, Capacity: 1200, GPUs: 2}); err != nil || s != want {
		t.Errorf("read %+v, %v", s, err)
	}
	if s, err = fleet.ParseShape("name=l4,price=0.7,capacity=100"); err != nil || s.GPUs != 1 {
		t.Errorf("without gpus: %+v, %v", s, err)
	}
	if s, err = fleet.ParseShape("name=l4,price=700m,capacity=4k"); err != nil || s.Capacity != 4000 || s.Price != 0.7 {
		t.Errorf("with suffixes: %+v, %v", s, err)
	}
	refuses(t, fleet.ParseShape, map[string]string{
		"":                                     "has no value",
		"h100":                                 `"h100" has no value, want name=value`,
		"name=a,price=1":                       "no capacity is given",
		"price=1,capacity=2":                   "no name is given",
		"name=a,price=free,capacity=2":         "price=free, want a number of more than 0",
		"name=a,price=1,capacity=-2":           "capacity=-2, want a number of more than 0",
		"name=a,price=1,capacity=2,gpus=0":     "gpus=0, want a number of more than 0",
		"name=a,price=1,capacity=NaN":          "capacity=NaN, want",
		"name=a,price=1,capacity=kk":           "capacity=kk, want",
		"name=a,price=Inf,capacity=1":          "price=Inf, want",
		"name=a,price=1,price=2,capacity=1":    "price is given twice",
		"name=a,price=1,capacity=1,colour=red": `"colour" is unknown, want name, price, capacity, gpus`,
	})
}

func TestParseLoad(t *testing.T) {
	for text, want := range map[string]fleet.Load{
		"llama=0.25,replicas=4": {Name: "llama", Fraction: big.NewRat(1, 4), Replicas: 4},
		"a b = 1/3":             {Name: "a b", Fraction: big.NewRat(1, 3), Replicas: 1},
		"whole=1":               {Name: "whole", Fraction: big.NewRat(1, 1), Replicas: 1},
		"x=.5":                  {Name: "x", Fraction: big.NewRat(1, 2), Replicas: 1},
	} {
		l, err := fleet.ParseLoad(text)
		if err != nil || l.Name != want.Name || l.Fraction.Cmp(want.Fraction) != 0 || l.Replicas != want.Replicas {
			t.Errorf("%q: read %+v, %v", text, l, err)
		}
	}
	refuses(t, fleet.ParseLoad, map[string]string{
		"":                                     "no fraction is given",
		"=0.5":                                 "no fraction is given",
		"a=0":                                  "want more than 0 and at most 1 GPU",
		"a=0/0":                                "want more than 0 and at most 1 GPU",
		"a=1.5":                                "want more than 0 and at most 1 GPU",
		"a=-0.5":                               "want one such as 0.25 or 1/3",
		"a=1e-9":                               "want one such as 0.25 or 1/3",
		"a=0.1234567":                          "of at most 6 digits",
		"a=0.5/2":                              "want a quotient of whole numbers",
		"a=0.5,replicas=0":                     "replicas=0, want a whole number from 1 to 1000000",
		"a=0.5,replicas=many":                  "replicas=many, want a whole number",
		"a=0.5,copies=2":                       `"copies" is unknown, want replicas`,
		"a=0.5,":                               "has no value",
		"a=0.5,replicas=999999999999999999999": "want a whole number",
	})
}

func TestParseSpotMarket(t *testing.T) {
	m, err := fleet.ParseSpotMarket("price=1.1,interruptions=0.01")
	if want := (fleet.SpotMarket{Price: 1.1, Interruptions: 0.01}); err != nil || m != want {
		t.Errorf("read %+v, %v", m, err)
	}
	if m, err = fleet.ParseSpotMarket("price=1.1,interruptions=0"); err != nil || m.Interruptions != 0 {
		t.Errorf("never interrupted: %+v, %v", m, err)
	}
	refuses(t, fleet.ParseSpotMarket, map[string]string{
		"price=1":                  "no interruptions is given",
		"interruptions=1":          "no price is given",
		"price=0,interruptions=-1": "interruptions=-1, want a number of more than 0",
	})
}

func TestParseSharing(t *testing.T) {
	for _, s := range fleet.Sharings() {
		if got, err := fleet.ParseSharing(string(s)); err != nil || got != s || s.Note() == "" {
			t.Errorf("%s: %s, %v", s, got, err)
		}
	}
	if title := fleet.MIG.Title(); title != "MIG" {
		t.Errorf("MIG is called %s", title)
	}
	if _, err := fleet.ParseSharing("vgpu"); err == nil {
		t.Error("vgpu is read")
	}
}

func TestFormatFraction(t *testing.T) {
	for want, f := range map[string]*big.Rat{
		"0.25": big.NewRat(1, 4), "1/3": big.NewRat(1, 3), "1": big.NewRat(7, 7), "0": new(big.Rat), "0.000001": big.NewRat(1, 1e6),
	} {
		if got := fleet.FormatFraction(f); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Whatever is typed is an error in words or something that can be used.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"name=h100,price=3.06,capacity=1200,gpus=2", "llama=0.25,replicas=4", "a=1/3", "price=1.1,interruptions=0.01",
		"a=1/0", "a=1e999999999", "name=,price=", ",,=,=", "a=0.5,replicas=1000000",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := fleet.ParseShape(text); err == nil && !(s.Name != "" && s.Capacity > 0 && s.Hourly() >= 0) {
			t.Errorf("shape %q: %+v", text, s)
		}
		if m, err := fleet.ParseSpotMarket(text); err == nil && !(m.Price > 0 && m.Interruptions >= 0) {
			t.Errorf("market %q: %+v", text, m)
		}
		l, err := fleet.ParseLoad(text)
		if err != nil {
			return
		}
		for _, sharing := range fleet.Sharings() {
			p, err := fleet.Pack([]fleet.Load{l}, sharing)
			if err != nil || p.GPUs < p.Least || p.GPUs > l.Replicas || p.Wasted().Sign() < 0 {
				t.Errorf("load %q under %s: %+v, %v", text, sharing, p, err)
			}
		}
	})
}
