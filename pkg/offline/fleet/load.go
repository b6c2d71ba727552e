package fleet

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
)

// Load is a workload whose replicas have a part of a GPU each.
type Load struct {
	Name string
	// Fraction of a GPU that a replica has: more than 0 and at most 1. It is exact, so that four quarters are one.
	Fraction *big.Rat
	Replicas int
}

const (
	// mostDigits of a fraction, in whole numbers and behind the point.
	mostDigits = 6
	// MostReplicas of a load.
	MostReplicas = 1_000_000
)

// ParseLoad reads llama=0.25,replicas=4 or llama=1/3. Without replicas there is one.
func ParseLoad(text string) (Load, error) {
	first, rest, more := strings.Cut(text, ",")
	name, share, found := strings.Cut(first, "=")
	l := Load{Name: strings.TrimSpace(name), Replicas: 1}
	if !found || l.Name == "" {
		return Load{}, loadError(text, errors.New("no fraction is given"))
	}
	var err error
	if l.Fraction, err = parseFraction(strings.TrimSpace(share)); err != nil {
		return Load{}, loadError(text, err)
	}
	if !more {
		return l, nil
	}
	given, err := parseFields(rest, "replicas")
	if err != nil {
		return Load{}, loadError(text, err)
	}
	l.Replicas, err = strconv.Atoi(given["replicas"])
	if err != nil || l.Replicas < 1 || l.Replicas > MostReplicas {
		return Load{}, loadError(text,
			fmt.Errorf("replicas=%s, want a whole number from 1 to %d", given["replicas"], MostReplicas))
	}
	return l, nil
}

func loadError(text string, err error) error {
	return fmt.Errorf("fraction %q: %w; an example: llama=0.25,replicas=4", text, err)
}

// parseFraction reads 0.25, 1 or 1/3.
func parseFraction(text string) (*big.Rat, error) {
	above, below, quotient := strings.Cut(text, "/")
	whole, behind, _ := strings.Cut(above, ".")
	for _, digits := range []string{whole, behind, below} {
		if len(digits) > mostDigits || strings.Trim(digits, "0123456789") != "" {
			return nil, fmt.Errorf("a share of %q, want one such as 0.25 or 1/3, of at most %d digits", text,
				mostDigits)
		}
	}
	if quotient && (behind != "" || strings.Contains(above, ".")) {
		return nil, fmt.Errorf("a share of %q, want a quotient of whole numbers", text)
	}
	f, ok := new(big.Rat).SetString(text)
	if !ok || f.Sign() <= 0 || f.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, fmt.Errorf("a share of %q, want more than 0 and at most 1 GPU", text)
	}
	return f, nil
}

// FormatFraction is a fraction as people write it: 0.25, and 1/3 where no decimals end.
func FormatFraction(f *big.Rat) string {
	digits, exact := f.FloatPrec()
	if !exact || digits > mostDigits {
		return f.RatString()
	}
	return f.FloatString(digits)
}
