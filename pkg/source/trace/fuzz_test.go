package trace_test

import (
	"bytes"
	"compress/gzip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/forewarm/forewarm/pkg/source/trace"
)

// A file that says that it is compressed is hostile, too; and one that is, reads as the same file that is not.
func FuzzReadCompressed(f *testing.F) {
	packed := func(text string) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		if _, err := w.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
		if err := w.Close(); err != nil {
			f.Fatal(err)
		}
		return out.Bytes()
	}
	good := packed("t,b\n0,1\n60,2\n")
	f.Add(good)
	f.Add(good[:len(good)-8])
	f.Add(append(bytes.Clone(good), good...))
	f.Add(packed(string(good)))
	f.Add(packed("t," + strings.Repeat("b", 100_000) + "\n"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if s, err := trace.ReadColumn(
			bytes.NewReader(file),
			"b",
		); err == nil &&
			(s.Step < time.Millisecond || s.Len() < 2) {
			t.Fatalf("%q became a series of %d by %v", file, s.Len(), s.Step)
		}
		if bytes.HasPrefix(file, []byte("\x1f\x8b")) {
			return
		}
		plain, err := trace.Columns(bytes.NewReader(file))
		again, errAgain := trace.Columns(bytes.NewReader(packed(string(file))))
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(plain, again) {
			t.Fatalf("%q: %q, %v; compressed %q, %v", file, plain, err, again, errAgain)
		}
	})
}
