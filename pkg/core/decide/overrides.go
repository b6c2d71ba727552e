package decide

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// Overrides are the settings that the selector of one request sets instead of the Forecast's spec. Fields that are zero keep the spec.
type Overrides struct {
	Horizon  time.Duration
	Quantile float64
	// Late is the share of the demand that may be late, BadHours the share that may arrive in bad hours; at most one is set.
	Late, BadHours float64
	Model          string
	Mode           Mode
	// Variant is the name of the variant whose part of the value is requested. No other field is set with it.
	Variant string
}

// ErrSelector is an invalid selector; the message lists what is valid.
var ErrSelector = errors.New("selector")

// overrideSetters contains, for each key, the function that parses its value.
var overrideSetters = map[string]func(*Overrides, string) error{ //nolint:gochecknoglobals // A constant table.
	"badHours": setBadHours,
	"horizon":  setHorizon,
	"late":     setLate,
	"model":    setModel,
	"quantile": setQuantile,
	"serve":    setServe,
	"variant":  setVariant,
}

// SelectorKeys are the keys that ParseSelector knows, sorted.
func SelectorKeys() []string { return slices.Sorted(maps.Keys(overrideSetters)) }

// ViewKeys returns the keys that request another view of the value. An alias cannot have these keys as labels. The key variant is not among
// them.
func ViewKeys() []string {
	return slices.DeleteFunc(SelectorKeys(), func(key string) bool { return key == "variant" })
}

// maxProblems is the maximum number of problems that one error lists.
const maxProblems = 5

// ParseSelector reads the pairs of a selector. Its error wraps ErrSelector and lists the first problems with the valid keys or
// values.
func ParseSelector(pairs map[string]string) (Overrides, error) {
	var (
		s        Overrides
		problems []string
	)
	keys := make([]string, 0, 8) // On the stack, because every request parses its selector.
	for key := range pairs {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		set, known := overrideSetters[key]
		if !known {
			valid := strings.Join(SelectorKeys(), ", ")
			problems = append(problems, fmt.Sprintf("unknown key %.64q: valid keys are %s", key, valid))
			continue
		}
		if err := set(&s, pairs[key]); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if goals := s.goals(); len(goals) > 1 {
		problems = append(problems, strings.Join(goals, " and ")+" exclude each other: keep one")
	}
	if s.Variant != "" && len(pairs) > 1 {
		problems = append(problems, "variant cannot be combined with other keys: remove the other keys")
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	if len(problems) > 0 {
		return Overrides{}, fmt.Errorf("%w: %s", ErrSelector, strings.Join(problems, "; "))
	}
	return s, nil
}

// goals returns the names of the mutually exclusive keys that are set.
func (s Overrides) goals() []string {
	var out []string
	if s.Quantile != 0 {
		out = append(out, "quantile")
	}
	if s.Late != 0 {
		out = append(out, "late")
	}
	if s.BadHours != 0 {
		out = append(out, "badHours")
	}
	return out
}

// Apply returns the settings of a request: the Forecast's own settings with these overrides.
func (s Overrides) Apply(p Settings) Settings {
	switch {
	case s.Quantile != 0:
		p.Quantile, p.CostRatio = s.Quantile, 0
	case s.Late != 0:
		p.Quantile, p.CostRatio, p.Late, p.BadHours = 0, 0, s.Late, false
	case s.BadHours != 0:
		p.Quantile, p.CostRatio, p.Late, p.BadHours = 0, 0, s.BadHours, true
	}
	if s.Mode != "" {
		p.Mode = s.Mode
	}
	return p
}

func setHorizon(s *Overrides, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return fmt.Errorf("horizon=%.64q is not a duration: write for example 5m or 1h30m", value)
	}
	s.Horizon = d
	return nil
}

func setQuantile(s *Overrides, value string) error {
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !(q >= windowpeak.LowestQuantile && q <= windowpeak.HighestQuantile) {
		return fmt.Errorf("quantile=%.64q is not a number from %v to %v: write for example 0.95", value,
			windowpeak.LowestQuantile, windowpeak.HighestQuantile)
	}
	s.Quantile = q
	return nil
}

func setLate(s *Overrides, value string) (err error) {
	s.Late, err = parseShare("late", value)
	return err
}

func setBadHours(s *Overrides, value string) (err error) {
	s.BadHours, err = parseShare("badHours", value)
	return err
}

// parseShare parses a share of the demand. With an error, it returns 0.
func parseShare(key, value string) (float64, error) {
	share, err := strconv.ParseFloat(value, 64)
	if err != nil || !(share > 0 && share < 1) {
		return 0, fmt.Errorf("%s=%.64q is not a share between 0 and 1: write for example 0.01 for 1 %%", key, value)
	}
	return share, nil
}

func setModel(s *Overrides, value string) error {
	if value == "" {
		return errors.New("model is empty: write for example arima")
	}
	s.Model = value
	return nil
}

func setVariant(s *Overrides, value string) error {
	if value == "" {
		return errors.New("variant is empty: write the name of a variant")
	}
	s.Variant = value
	return nil
}

func setServe(s *Overrides, value string) error {
	for _, mode := range []Mode{Floor, Forecast, Shadow} {
		if strings.EqualFold(value, string(mode)) {
			s.Mode = mode
			return nil
		}
	}
	return fmt.Errorf("serve=%.64q is unknown: valid values are floor, forecast, shadow", value)
}
