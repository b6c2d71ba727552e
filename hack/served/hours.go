package main

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math"
	"strconv"
	"time"
)

// digits are those of a value that count.
const digits = 9

// nineDigits is a value to nine digits.
func nineDigits(v float64) string {
	if math.IsNaN(v) {
		return "NaN"
	}
	return strconv.FormatFloat(v+0, 'g', digits, 64) // −0 + 0 is 0.
}

// hour is what was served in an hour of the clock, as the first four bytes of a SHA-256: that another hour has the same
// happens once in 4·10⁹.
type hour struct {
	at  time.Time
	sum string
}

// hours hashes values by the hour.
type hours struct {
	done []hour
	at   time.Time
	hash hash.Hash
}

// add takes the value of a time, which is not before that of the last.
func (h *hours) add(at time.Time, value float64) {
	if begins := at.Truncate(time.Hour); h.hash == nil || !begins.Equal(h.at) {
		h.close()
		h.at, h.hash = begins, sha256.New()
	}
	h.hash.Write([]byte(nineDigits(value) + "\n")) // A hash never fails.
}

// close ends the hour that is under way, and returns all.
func (h *hours) close() []hour {
	if h.hash != nil {
		h.done = append(h.done, hour{h.at, sum(h.hash)})
		h.hash = nil
	}
	return h.done
}

func sum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)[:4]) }

// sumOf hashes values that are to be the same altogether.
func sumOf(values []float64) string {
	h := sha256.New()
	for _, v := range values {
		h.Write([]byte(nineDigits(v) + "\n")) // A hash never fails.
	}
	return sum(h)
}

// fuses says that the processor rounds a product and a sum once, and not each: the records are of one that does not.
//
//go:noinline
func fuses(x, y, z float64) bool { return x*y+z != float64(x*y)+z }

// fusesMultiplyAdd is fuses on a product whose rounding matters.
func fusesMultiplyAdd() bool {
	const x = 1 + 1.0/(1<<30)
	return fuses(x, x, -(1 + 2.0/(1<<30)))
}
