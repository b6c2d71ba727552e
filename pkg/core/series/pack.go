package series

import (
	"encoding/binary"
	"math"
)

// packSize is the number of samples that are packed together.
const packSize = 512

// packed stores samples in few bytes. Most demands are counts. For samples that are whole numbers, only the differences are stored, in one
// or two bytes each. Other samples take four bytes each. The first byte says which encoding is used.
type packed []byte

const (
	packedFloats byte = iota
	packedDifferences
)

// pack packs samples.
func pack(samples []float32) packed {
	whole := make(packed, 1, 2*len(samples)+1)
	whole[0] = packedDifferences
	last := int64(0)
	for _, v := range samples {
		if v != v { // 0 means a gap. An encoded difference is never 0.
			whole = append(whole, 0)
			continue
		}
		n := int64(v)
		if float32(n) != v || n == 0 && math.Signbit(float64(v)) || len(whole) > 4*len(samples) {
			return packFloats(samples)
		}
		difference := n - last
		whole = binary.AppendUvarint(whole, 1+uint64(difference<<1^difference>>63)) // The sign is the lowest bit.
		last = n
	}
	return append(make(packed, 0, len(whole)), whole...)
}

func packFloats(samples []float32) packed {
	out := make(packed, 1, 4*len(samples)+1)
	out[0] = packedFloats
	for _, v := range samples {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out
}

// appendTo appends the samples.
func (p packed) appendTo(dst []float32) []float32 {
	if p[0] == packedFloats {
		for at := 1; at < len(p); at += 4 {
			dst = append(dst, math.Float32frombits(binary.LittleEndian.Uint32(p[at:])))
		}
		return dst
	}
	last := int64(0)
	for at := 1; at < len(p); {
		n, size := binary.Uvarint(p[at:])
		if at += size; n == 0 {
			dst = append(dst, float32(math.NaN()))
			continue
		}
		n--
		last += int64(n>>1) ^ -int64(n&1)
		dst = append(dst, float32(last))
	}
	return dst
}
