package objective

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/x448/float16"

	"github.com/forewarm/forewarm/pkg/core/hpa/sim"
)

// Record is what the served values did, for a status: what was served is the one thing that the history does not hold. Replicas agree
// by it, and a restart does not lose it.
type Record struct {
	// Through is the end of the newest hour.
	Through time.Time
	// Wait and Capacity are what lateness and replica-hours are about: how long demand may wait, and what a replica sustains.
	Wait     time.Duration
	Capacity float64
	// Hours are packed, oldest first: see packHour.
	Hours string
}

// packedHour is an hour as three numbers of 16 bits: the demand and the replica-hours as half-precision floats (IEEE 754), and flags with
// the share of the demand that was late.
type packedHour [3]uint16

const (
	packedBytes = 6
	// lateUnits is the unit of the late share, 1/lateUnits, in the third number. The rest of it are flags.
	lateUnits                = 1<<13 - 1
	flagRecorded, flagJudged = 1 << 15, 1 << 14
	flagCapped               = 1 << 13
	// maxPackedHours refuses what no Forewarm writes: the longest period of a budget is bounded by the longest history.
	maxPackedHours = 24 * 400
)

func packHour(h clockHour) packedHour {
	if !h.recorded {
		return packedHour{}
	}
	share := 0.0
	if h.arrived > 0 {
		share = min(max(h.late/h.arrived, 0), 1)
	}
	units := math.Round(share * lateUnits)
	switch bad := sim.IsBadHour(lateUnits, units); {
	case sim.IsBadHour(1, share) && !bad, share > 0 && units == 0:
		units++
	case !sim.IsBadHour(1, share) && bad:
		units--
	}
	flags := uint16(units) | flagRecorded
	if h.judged {
		flags |= flagJudged
	}
	if h.late > 0 && float64(h.capped) > h.late/2 {
		flags |= flagCapped
	}
	return packedHour{half(h.arrived), half(h.paid), flags}
}

// half is a number from 0 on in half precision, at most its largest.
func half(v float64) uint16 {
	const largest = 65504
	return float16.Fromfloat32(float32(min(v, largest))).Bits()
}

// unpackHour is the hour that was packed. What is not packed is that of another hour.
func unpackHour(p packedHour, other clockHour) clockHour {
	out := other
	out.arrived = float64(float16.Frombits(p[0]).Float32())
	out.paid = float64(float16.Frombits(p[1]).Float32())
	out.late = out.arrived * float64(p[2]&lateUnits) / lateUnits
	out.capped = 0
	if p[2]&flagCapped != 0 {
		out.capped = float32(out.late)
	}
	out.recorded, out.judged = p[2]&flagRecorded != 0, p[2]&flagJudged != 0
	return out
}

// Record is what Forewarm has served, up to the newest hour; nil before the first one. The caller must not change it.
func (o *Calibrator) Record() *Record {
	l := &o.published.hours
	if l.packed != nil || l.sum(o.compared()).recorded == 0 {
		return l.packed
	}
	var bytes []byte
	for _, h := range l.ring.All() {
		if len(bytes) == 0 && !h.recorded {
			continue
		}
		for _, number := range packHour(*h) {
			bytes = binary.BigEndian.AppendUint16(bytes, number)
		}
	}
	of := o.unit()
	l.packed = &Record{l.end, of.wait, of.capacity, base64.StdEncoding.EncodeToString(bytes)}
	return l.packed
}

// ErrRecord is the error of an invalid Record.
var ErrRecord = errors.New("invalid record of served hours")

// unpack returns the packed hours, oldest first.
func (r *Record) unpack() ([]packedHour, error) {
	bytes, err := base64.StdEncoding.DecodeString(r.Hours)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	case len(bytes)%packedBytes != 0 || len(bytes) > packedBytes*maxPackedHours:
		return nil, fmt.Errorf("%w: %d bytes, expected %d for each of at most %d hours", ErrRecord, len(bytes),
			packedBytes, maxPackedHours)
	case !r.Through.Equal(r.Through.Truncate(time.Hour)):
		return nil, fmt.Errorf("%w: it ends at %s, expected a full hour", ErrRecord,
			r.Through.UTC().Format(time.RFC3339))
	}
	out := make([]packedHour, len(bytes)/packedBytes)
	for i := range out {
		for j := range out[i] {
			out[i][j] = binary.BigEndian.Uint16(bytes[packedBytes*i+2*j:])
		}
		for _, bits := range out[i][:2] {
			if v := float16.Frombits(bits); v.IsNaN() || v.IsInf(0) || v.Signbit() {
				return nil, fmt.Errorf("%w: %v replica-hours, expected a number of at least 0", ErrRecord, v)
			}
		}
	}
	return out, nil
}

// Validate returns ErrRecord if the hours cannot be unpacked.
func (r *Record) Validate() error {
	_, err := r.unpack()
	return err
}

// Restore takes the hours of a Record, which another replica or an earlier process has written, in place of those that this one knows. A
// Record that is not valid, or about other units, is left alone.
func (o *Calibrator) Restore(r *Record) {
	p := o.published
	if r == nil || o.unit() != (unit{r.Wait, r.Capacity}) || p.restored == *r {
		return
	}
	if !p.hours.end.Before(r.Through) { // Else some of them are still to come.
		p.restored = *r
	}
	packed, err := r.unpack()
	if err != nil {
		return
	}
	for i, one := range packed {
		start := r.Through.Add(-time.Duration(len(packed)-i) * time.Hour)
		kept := p.hours.at(start)
		if kept == nil || one[2]&flagRecorded == 0 {
			continue
		}
		if h := unpackHour(one, *kept); p.hours.set(start, h) {
			p.race.correct(start, h.late/math.Max(h.arrived, math.SmallestNonzeroFloat64))
		}
	}
}
