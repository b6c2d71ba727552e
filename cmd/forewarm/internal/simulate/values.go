package simulate

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/forewarm/forewarm/pkg/api/parse"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/offline/simulate/compare"
)

// leadFlag is a lead time as a flag, for example 5m, or 5m,p90=8m.
type leadFlag compare.LeadTime

// String is the flag as it is written.
func (l *leadFlag) String() string {
	if *l == (leadFlag{}) {
		return ""
	}
	if l.P90 == 0 {
		return l.Median.String()
	}
	return l.Median.String() + ",p90=" + l.P90.String()
}

// Type is the word for it in the help.
func (*leadFlag) Type() string { return "duration[,p90=duration]" }

// Set reads it.
func (l *leadFlag) Set(text string) error {
	const most = 24 * time.Hour
	wrong := errors.New("write for example 5m, or 5m,p90=8m with a p90 that is no shorter, up to 24h")
	median, rest, more := strings.Cut(text, ",")
	read := leadFlag{Known: "given"}
	var err error
	read.Median, err = time.ParseDuration(strings.TrimSpace(median))
	if err != nil || read.Median <= 0 || read.Median > most {
		return wrong
	}
	if more {
		key, value, _ := strings.Cut(rest, "=")
		read.P90, err = time.ParseDuration(strings.TrimSpace(value))
		if err != nil || strings.TrimSpace(key) != "p90" || read.P90 < read.Median || read.P90 > most {
			return wrong
		}
	}
	*l = read
	return nil
}

// shareFlag is a share of the demand as a flag, for example 1%.
type shareFlag float64

// String is the flag as it is written.
func (s *shareFlag) String() string { return strconv.FormatFloat(100*float64(*s), 'g', 6, 64) + "%" }

// Type is the word for it in the help.
func (*shareFlag) Type() string { return "percentage" }

// Set reads it. Without the sign it is not known whether 1 is everything or a hundredth.
func (s *shareFlag) Set(text string) error {
	number, isPercentage := strings.CutSuffix(strings.TrimSpace(text), "%")
	percent, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !isPercentage || err != nil || !(percent > 0 && percent < 100) {
		return errors.New("write a percentage above 0% and below 100%, for example 1%")
	}
	*s = shareFlag(percent / 100)
	return nil
}

// quantityFlag is a quantity in the form that an HPA uses: 64, 0.5 or 4k.
type quantityFlag float64

// String is empty where none is given.
func (q *quantityFlag) String() string {
	if *q == 0 {
		return ""
	}
	return strconv.FormatFloat(float64(*q), 'f', -1, 64)
}

// Type is the word for it in the help.
func (*quantityFlag) Type() string { return "quantity" }

// Set reads it.
func (q *quantityFlag) Set(text string) error {
	read, err := parse.Quantity(text)
	if err != nil {
		return errors.New("write what one replica sustains, above 0, for example 64, 0.5 or 4k")
	}
	value := read.AsApproximateFloat64()
	if !(value >= 0.001 && value < hpa.MaxValue) {
		return fmt.Errorf("expected 0.001 to %.3g: use a larger or smaller unit", float64(hpa.MaxValue))
	}
	*q = quantityFlag(value)
	return nil
}
