package trace

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// maxSeconds is 9999-12-31. A larger number is milliseconds, later than 1978; one that is larger still is neither.
	maxSeconds = 253_402_300_799
	// seconds and milliseconds are the units of a time that is a number, in milliseconds.
	seconds, milliseconds = 1000, 1
)

// clock reads the times of a file, one after the other.
type clock struct {
	// zone is that of times without one; nil is UTC.
	zone *time.Location
	// last is the time before, in milliseconds since the epoch.
	last int64
	// unit is that of the first number, in milliseconds.
	unit int64
	// layout is that of the time before.
	layout string
	// local says that there were times without a zone.
	local bool
}

// layouts are of times as text. A fraction of a second may follow the seconds.
func layouts() []string {
	return []string{time.RFC3339, "2006-01-02 15:04:05Z07:00", time.DateTime, "2006-01-02T15:04:05", "2006-01-02 15:04"}
}

// parse parses a time as milliseconds since the epoch, rounded.
func (c *clock) parse(text string) (int64, error) {
	at, err := c.read(strings.TrimSpace(text))
	if err == nil {
		c.last = at
	}
	return at, err
}

func (c *clock) read(text string) (int64, error) {
	if n, err := strconv.ParseFloat(text, 64); err == nil {
		return c.number(text, n)
	}
	wall, err := time.Parse(c.layout, text)
	if c.layout == "" || err != nil {
		for _, c.layout = range layouts() {
			if wall, err = time.Parse(c.layout, text); err == nil {
				break
			}
		}
	}
	if err != nil {
		return 0, fmt.Errorf("time %q: want seconds, milliseconds, 2026-01-02 15:04:05, or RFC 3339 such as "+
			"2026-01-02T15:04:05Z", clip(text))
	}
	at := wall.UnixMilli()
	if !strings.Contains(c.layout, "Z07:00") {
		c.local = true
		if at, err = c.inZone(wall, text); err != nil {
			return 0, err
		}
	}
	if at < 0 {
		return 0, fmt.Errorf("time %q: want 1970 or later", clip(text))
	}
	return at, nil
}

// number is a time of seconds or milliseconds; the first one tells which.
func (c *clock) number(text string, n float64) (int64, error) {
	if c.unit == 0 {
		c.unit = seconds
		if n > maxSeconds {
			c.unit = milliseconds
		}
	}
	ms := n * float64(c.unit)
	switch {
	case ms >= 0 && ms <= maxSeconds*seconds:
		return int64(math.Round(ms)), nil
	case c.unit == seconds:
		return 0, fmt.Errorf("time %s: want seconds from 0 to %d", clip(text), int64(maxSeconds))
	}
	return 0, fmt.Errorf("time %s: want seconds or milliseconds since 1970", clip(text))
}

// inZone is a time that a clock of the zone shows. Of an hour that it repeats the first is meant, unless that is over.
func (c *clock) inZone(wall time.Time, text string) (int64, error) {
	zone, at := cmp.Or(c.zone, time.UTC), time.Time{}
	for _, day := range []time.Duration{-24 * time.Hour, 24 * time.Hour} { // The offsets before and after a change.
		_, offset := wall.Add(day).In(zone).Zone()
		shown := wall.Add(-time.Duration(offset) * time.Second)
		if _, is := shown.In(zone).Zone(); is == offset && (at.IsZero() || at.UnixMilli() <= c.last) {
			at = shown
		}
	}
	if at.IsZero() {
		return 0, fmt.Errorf("time %q: no clock shows it in %s, where the hour is skipped: name the zone of the times "+
			"with --time-zone", clip(text), zone)
	}
	return at.UnixMilli(), nil
}
