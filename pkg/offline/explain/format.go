package explain

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/core/humanize"
)

// formatNumber formats a number for people: six digits, one decimal from a thousand on, and no exponent while the number is readable
// without one.
func formatNumber(x float64) string {
	const readable = 1e9
	switch {
	case math.IsNaN(x):
		return "unknown"
	case math.Abs(x) >= readable:
		return strconv.FormatFloat(x, 'g', 6, 64)
	case math.Abs(x) >= 1000:
		return strconv.FormatFloat(math.Round(x*10)/10, 'f', -1, 64)
	}
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 6, 64), 64)
	if err != nil {
		return "unknown"
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

// formatMilli formats a number of thousandths.
func formatMilli(v int64) string { return formatNumber(float64(v) / 1000) }

// unlimited is a number of replicas that no cluster reaches.
const unlimited = 1_000_000

func plural(n int32, what string) string {
	if n == 1 {
		return "1 " + what
	}
	if n >= unlimited {
		return "over a million " + what + "s"
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func replicas(n int32) string { return plural(n, "replica") }

// withUnit formats a quantity with its unit.
func withUnit(v float64, unit string) string {
	if unit == "" {
		return formatNumber(v)
	}
	return formatNumber(v) + " " + unit
}

// formatPolicies formats the policies of one direction: "4 pods or 100% in 15s, whichever is more".
func formatPolicies(r *hpa.Rules) string {
	if r.Select == hpa.SelectDisabled {
		return "selectPolicy: Disabled"
	}
	parts := make([]string, len(r.Policies))
	for i, p := range r.Policies {
		amount := fmt.Sprintf("%d%%", p.Value)
		if p.Type == hpa.Pods {
			amount = plural(p.Value, "pod")
		}
		parts[i] = amount + " in " + humanize.Span(p.Period)
	}
	text := strings.Join(parts, ", ")
	switch {
	case len(parts) < 2:
		return text
	case r.Select == hpa.SelectMin:
		return text + ", whichever is less"
	}
	return text + ", whichever is more"
}

// ceilReplicas rounds up to a number of replicas.
func ceilReplicas(x float64) int32 {
	switch x = math.Ceil(x); {
	case math.IsNaN(x):
		return 0
	case x >= math.MaxInt32:
		return math.MaxInt32
	case x <= 0:
		return 0
	}
	return int32(x)
}
