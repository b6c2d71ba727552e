package trace_test

import (
	"bytes"
	"compress/gzip"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // The machine may have no zones.

	"github.com/forewarm/forewarm/pkg/source/trace"
)

// packed is a text as gzip packs it.
func packed(tb testing.TB, text string) []byte {
	tb.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	if _, err := w.Write([]byte(text)); err != nil {
		tb.Fatal(err)
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return out.Bytes()
}

// A file that says that it is compressed is hostile, too; and one that is, reads as the same file that is not.
func FuzzReadCompressed(f *testing.F) {
	good := packed(f, "t,b\n0,1\n60,2\n")
	f.Add(good)
	f.Add(good[:len(good)-8])
	f.Add(append(bytes.Clone(good), good...))
	f.Add(packed(f, string(good)))
	f.Add(packed(f, "t,"+strings.Repeat("b", 100_000)+"\n"))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if s, err := trace.ReadColumn(bytes.NewReader(file), "b"); err == nil &&
			(s.Step < time.Millisecond || s.Len() < 2) {
			t.Fatalf("%q became a series of %d by %v", file, s.Len(), s.Step)
		}
		if bytes.HasPrefix(file, []byte("\x1f\x8b")) {
			return
		}
		plain, err := trace.Columns(bytes.NewReader(file))
		again, errAgain := trace.Columns(bytes.NewReader(packed(t, string(file))))
		if (err == nil) != (errAgain == nil) || !reflect.DeepEqual(plain, again) {
			t.Fatalf("%q: %q, %v; compressed %q, %v", file, plain, err, again, errAgain)
		}
	})
}

// Whatever is read, on its own grid or another, by the clocks of any zone, is a grid of demand.
func FuzzRead(f *testing.F) {
	const grafana = "\ufeffsep=;\n\"Time\";\"b\"\n2025-10-26 02:59:59;\"1,5 req/s\"\n2025-10-26 02:00:00;null\n2025-10-26 02:01:00;2 req/s"
	for _, seed := range []string{
		"t,b\n0,1\n60,2\n", "t,b\n1970-01-01T00:00:00Z,1\n1970-01-01T00:01:00Z,\n", "\"t\",b\n0,\"\"\n1,1e300\n",
		"t,b\n0,1\n0.001,2\n9000,3", "\ufefft,b,c\r\n0,1,2\r\n", "t,b\n0,0x1p-2\n1,1_000\n", "t,b\n\n0,1\n\n1,1", grafana,
		"t\tb\n1700000000000\t1\n1700000060013\tNaN\n1700000119000\t1\n", `{"data":{"result":[{"values":[[0,"1"],[60.5,"NaN"],[120,2]]}]}}`,
		`[{"values":[[0,"1"],[1]]}]`, `{"error":"x"}`, `[[`, `{`, "sep=", events, "t,b\n202510200000,1\n202510200001,2\n",
		`{"metric":{},"values":[1,2],"timestamps":[1760918400000,1760918460000]}`, `{"Datapoints":[{"Timestamp":"2025-10-20","Sum":1}]}`,
		`{"MetricDataResults":[{"Timestamps":["2025-10-20"],"Values":[1]}]}`, "{\"t\":0,\"b\":1}\n{\"t\":40,\"b\":[1,]}\n", "\xff\xfet\x00,\x00",
		"t;b\r0;1.012\r60;2.024\r",
		"h - - [20/Oct/2025:00:00:01 +0000] \"GET / HTTP/1.1\" 200 5\nx\nh - - [20/Oct/2025:00:01:01 +0000] \"-\" 400 -\n", "\x28\xb5\x2f\xfd", "t,b\nOct 20, 2025 @ 01:00 pm +0200,1\n20.10.2025 00:00,2\n",
	} {
		f.Add(seed, uint32(0), "", uint8(0))
		f.Add(seed, uint32(60_000), "Europe/Berlin", uint8(1))
		f.Add(seed, uint32(1000), "", uint8(2))
	}
	f.Fuzz(func(t *testing.T, text string, step uint32, zone string, kind uint8) {
		where, err := time.LoadLocation(zone)
		if err != nil {
			t.Skip()
		}
		columns, err := trace.Columns(strings.NewReader(text))
		if err != nil || len(columns) == 0 {
			return
		}
		o, length := trace.Options{
			Zone:    where,
			Decimal: []string{"", ".", ","}[kind/4%3],
		}, time.Duration(
			step,
		)*time.Millisecond
		switch kind % 4 {
		case 1:
			o.Resample = length
		case 2:
			o.Count = length
		case 3:
			o.Sum, o.TimeUnit = length, "ms"
		}
		s, err := o.ReadColumn(strings.NewReader(text), columns[0])
		if err != nil {
			return
		}
		if s.Step < time.Millisecond || s.Len() < 2 || s.Start.Unix() < 0 ||
			kind%4 > 0 && step > 0 && s.Step != length {
			t.Fatalf("%q became a series of %d by %v from %v", text, s.Len(), s.Step, s.Start)
		}
		for i, v := range s.Values {
			if math.IsInf(v, 0) || v < 0 {
				t.Fatalf("%q: value %d is %v", text, i, v)
			}
		}
	})
}
