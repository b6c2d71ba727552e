package simulate

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// addScenarios adds the flags for other shapes of GPU, and for other workloads that also serve the demand.
func (o *options) addScenarios(flags *pflag.FlagSet) {
	flags.Func(
		"shape",
		"also simulate Forewarm on another GPU shape, repeatable, with the `fields` name=NAME, price=DOLLARS (per GPU-hour), "+
			"capacity=DEMAND (that a replica sustains) and gpus=N (per replica); only name is required; needs --gpu-price",
		func(text string) error {
			one, err := parseShape(text)
			o.asked.Shapes = append(o.asked.Shapes, one)
			return err
		},
	)
	flags.Func("variant", "another workload that serves part of the demand, repeatable, with the `fields` name=NAME, "+
		"lead-time=DURATION, price=DOLLARS (per replica and hour), capacity=DEMAND (that a replica sustains), min=N, max=N and "+
		"interruptions=N (per replica and hour); needs --gpu-price",
		func(text string) error {
			one, err := parseVariant(text)
			o.asked.Variants = append(o.asked.Variants, one)
			return err
		})
	const shape = "--shape name=quarter,gpus=0.25"
	for name, instead := range map[string]string{
		"fraction": shape, "sharing": shape, "spot": "--variant name=spot,lead-time=5m,price=1.1,interruptions=0.05",
	} {
		flags.Func(name, "no longer exists", func(string) error {
			return errors.New("this flag no longer exists, write for example " + instead)
		})
		flags.Lookup(name).Hidden = true
	}
}

// parseShape reads name=h100,price=3.06,capacity=1200,gpus=2. Only the name is required.
func parseShape(text string) (s compare.Shape, err error) {
	err = parseFields(text, map[string]func(string) error{
		"name":     textTo(&s.Name),
		"price":    numberTo(&s.Price),
		"capacity": numberTo(&s.Capacity),
		"gpus":     numberTo(&s.GPUs),
	})
	if err != nil {
		return s, fmt.Errorf("%w; an example: name=h100,price=3.06,capacity=1200,gpus=2", err)
	}
	return s, nil
}

// parseVariant reads name=spot,lead-time=5m,price=1.1,capacity=1200,min=0,max=20,interruptions=0.05. Only the name and the lead
// time are required.
func parseVariant(text string) (compare.Variant, error) {
	const maxReplicas = 100_000
	v := compare.Variant{Min: 1, Max: maxReplicas}
	err := parseFields(text, map[string]func(string) error{
		"name": textTo(&v.Name), "price": numberTo(&v.Price), "capacity": numberTo(&v.Capacity),
		"min": replicasTo(&v.Min), "max": replicasTo(&v.Max),
		"interruptions": func(text string) error {
			if text == "0" {
				return nil
			}
			return numberTo(&v.Interruptions)(text)
		},
		"lead-time": func(text string) (err error) {
			v.Lead, err = time.ParseDuration(text)
			return err
		},
	})
	switch {
	case err != nil:
	case v.Lead <= 0 || v.Lead > 24*time.Hour:
		err = errors.New("expected a lead-time above 0 and up to 24h, such as 5m")
	case v.Min < 0 || v.Min > v.Max || v.Max > maxReplicas:
		err = fmt.Errorf("expected a min from 0 to max, and a max up to %d", maxReplicas)
	}
	if err != nil {
		return v, fmt.Errorf("%w; an example: name=spot,lead-time=5m,price=1.1,max=20,interruptions=0.05", err)
	}
	return v, nil
}

// parseFields reads name=value pairs, separated by commas. Each name must be one of the known fields and occur at most once. The field
// "name" is required.
func parseFields(text string, fields map[string]func(value string) error) error {
	known := strings.Join(slices.Sorted(maps.Keys(fields)), ", ")
	for part := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(part, "=")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		read, ok := fields[name]
		if !ok || value == "" {
			return fmt.Errorf("%q: expected each of %s at most once, as name=value", part, known)
		}
		if err := read(value); err != nil {
			return fmt.Errorf("%q: %w", part, err)
		}
		delete(fields, name)
	}
	if _, missing := fields["name"]; missing {
		return errors.New("no name is given")
	}
	return nil
}

func textTo(to *string) func(string) error {
	return func(text string) error {
		*to = text
		return nil
	}
}

// numberTo reads a number above 0. It may have a suffix like Kubernetes' quantities: 4k is 4000.
func numberTo(to *float64) func(string) error {
	return func(text string) error {
		number := text
		for suffix, exponent := range map[string]string{"m": "e-3", "k": "e3", "M": "e6", "G": "e9"} {
			if digits, found := strings.CutSuffix(text, suffix); found {
				number = digits + exponent
			}
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || !(v > 0) || math.IsInf(v, 0) {
			return errors.New("expected a number above 0")
		}
		*to = v
		return nil
	}
}

func replicasTo(to *int32) func(string) error {
	return func(text string) error {
		n, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return errors.New("expected a whole number")
		}
		*to = int32(n)
		return nil
	}
}
