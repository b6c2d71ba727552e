package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
)

// maxSkew is the difference of two clocks from which on samples are ascribed to the wrong step.
const maxSkew = 10 * time.Second

// checkClocks compares the clocks of the kube-apiserver and of Forewarm with this machine's.
func checkClocks(ctx context.Context, d *Doctor, s *state) []Finding {
	out := []Finding{clock("the kube-apiserver", s.apiClock.ahead(), s.apiClock.other.IsZero())}
	began := d.Now()
	// The answer passes through the kube-apiserver with Forewarm's own date.
	at, err := d.date(ctx, "/apis/"+v1alpha1.GroupVersion().String())
	if err != nil || at.IsZero() {
		return out // Whether the group answers is a check of its own.
	}
	return append(out, clock("Forewarm", measured{at, began, d.Now()}.ahead(), false))
}

// clock is the finding about another clock that is ahead of this machine's by a time.
func clock(whose string, ahead time.Duration, unknown bool) Finding {
	f := Finding{Check: "Clocks", Level: OK, Object: whose, Message: "its clock agrees with this machine's"}
	if unknown {
		f.Level, f.Message = Unknown, "its clock is unknown: it sends no date"
	}
	if ahead.Abs() > maxSkew {
		side := "ahead of"
		if ahead < 0 {
			side = "behind"
		}
		f.Level = Warning
		f.Message = fmt.Sprintf("its clock is %s %s this machine's", ahead.Abs().Round(time.Second), side)
		f.Remedy = "synchronize the clocks (NTP): samples are taken at the wrong time, and certificates may not be valid"
	}
	return f
}
