package collect

import (
	"fmt"
	"hash/crc32"
)

// Titled is a file with a body and the checksum that is right for it.
func Titled(body string) string {
	return fmt.Sprintf("%s %08x\n%s", header, crc32.ChecksumIEEE([]byte(body)), body)
}

// What the tests reach into.
const MaxSeries = maxSeries

var (
	Encode = encode
	Decode = decode
)
