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

// Selection is what one request asks beside the Forecast's own settings; zero fields keep those.
type Selection struct {
	Horizon  time.Duration
	Quantile float64
	Late     float64
	Model    string
	Mode     Mode
}

// ErrSelection: a request asks for something that does not exist; the message says what does.
var ErrSelection = errors.New("selector")

// selectors reads one key's value into a selection.
var selectors = map[string]func(*Selection, string) error{ //nolint:gochecknoglobals // A constant table.
	"horizon":  setHorizon,
	"late":     setLate,
	"model":    setModel,
	"quantile": setQuantile,
	"serve":    setServe,
}

// SelectionKeys are the keys that ParseSelection knows, sorted.
func SelectionKeys() []string { return slices.Sorted(maps.Keys(selectors)) }

// maxProblems are said of one selector: whoever asks for thousands of keys needs no list of them.
const maxProblems = 5

// ParseSelection reads the pairs of a selector. The first problems are in the error, which wraps ErrSelection and lists the
// valid keys or values.
func ParseSelection(pairs map[string]string) (Selection, error) {
	var (
		s        Selection
		problems []string
	)
	keys := make([]string, 0, 8) // On the stack: a request parses its selector.
	for key := range pairs {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		set, known := selectors[key]
		if !known {
			valid := strings.Join(SelectionKeys(), ", ")
			problems = append(problems, fmt.Sprintf("unknown key %.64q, valid keys are %s", key, valid))
			continue
		}
		if err := set(&s, pairs[key]); err != nil {
			problems = append(problems, err.Error())
		}
	}
	if s.Quantile != 0 && s.Late != 0 {
		problems = append(problems, "quantile and late exclude each other, keep one")
	}
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems], fmt.Sprintf("and %d more", more))
	}
	if len(problems) > 0 {
		return Selection{}, fmt.Errorf("%w: %s", ErrSelection, strings.Join(problems, "; "))
	}
	return s, nil
}

// Apply is the policy of a request: the Forecast's own, with what the selection asks for.
func (s Selection) Apply(p Policy) Policy {
	switch {
	case s.Quantile != 0:
		p.Quantile, p.CostRatio = s.Quantile, 0
	case s.Late != 0:
		p.Quantile, p.CostRatio, p.Late = 0, 0, s.Late
	}
	if s.Mode != "" {
		p.Mode = s.Mode
	}
	return p
}

func setHorizon(s *Selection, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d <= 0 {
		return fmt.Errorf("horizon=%.64q is not a duration, write for example 5m or 1h30m", value)
	}
	s.Horizon = d
	return nil
}

func setQuantile(s *Selection, value string) error {
	q, err := strconv.ParseFloat(value, 64)
	if err != nil || !(q >= windowpeak.Lowest && q <= windowpeak.Highest) {
		return fmt.Errorf(
			"quantile=%.64q is not a number from %v to %v, write for example 0.95",
			value,
			windowpeak.Lowest,
			windowpeak.Highest,
		)
	}
	s.Quantile = q
	return nil
}

func setLate(s *Selection, value string) error {
	late, err := strconv.ParseFloat(value, 64)
	if err != nil || !(late > 0 && late < 1) {
		return fmt.Errorf("late=%.64q is not a share between 0 and 1, write for example 0.01 for 1 %%", value)
	}
	s.Late = late
	return nil
}

func setModel(s *Selection, value string) error {
	if value == "" {
		return errors.New("model is empty, write for example arima")
	}
	s.Model = value
	return nil
}

func setServe(s *Selection, value string) error {
	for _, mode := range []Mode{Floor, Forecast, Shadow} {
		if strings.EqualFold(value, string(mode)) {
			s.Mode = mode
			return nil
		}
	}
	return fmt.Errorf("serve=%.64q is unknown, valid are floor, forecast, shadow", value)
}
