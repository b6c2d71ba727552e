package prometheus //nolint:testpackage // The reader is a part of the transport.

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// Of an answer with more series than are kept, the first ones are left, and it stays an answer; any other stays as it is.
func TestFirstSeries(t *testing.T) {
	one := `{"metric":{"a":"]}{[\"\\"},"values":[[1,"2"],[3,"4"]]}`
	answer := func(series ...string) string {
		return `{"status":"success","isPartial":false,"data":{"resultType":"matrix","result":[` + strings.Join(series,
			",") + `]}}`
	}
	for name, test := range map[string]struct{ whole, want string }{
		"no series":            {answer(), answer()},
		"one":                  {answer(one), answer(one)},
		"two":                  {answer(one, one), answer(one, one)},
		"three":                {answer(one, one, one), answer(one, one, `{"metric":{},"values":[]}`)},
		"many":                 {answer(one, one, one, one, one, one), answer(one, one, `{"metric":{},"values":[]}`)},
		"objects of a kind":    {`{"data":{"stats":{"a":[{},{},{},{}]},"result":[]}}`, `{"data":{"stats":{"a":[{},{},{},{}]},"result":[]}}`},
		"an error":             {`{"status":"error","error":"[{[{[{"}`, `{"status":"error","error":"[{[{[{"}`},
		"brackets too many":    {`]]]}}}{{{`, `]]]}}}{{{`},
		"nothing at all":       {"", ""},
		"what is not an API's": {"<html>", "<html>"},
	} {
		for how, from := range map[string]io.Reader{
			"at once": strings.NewReader(test.whole), "byte by byte": iotest.OneByteReader(strings.NewReader(test.whole)),
		} {
			got, err := io.ReadAll(&firstSeries{from: from, kept: 2})
			if err != nil || string(got) != test.want {
				t.Errorf("%s, %s: %s, %v; want %s", name, how, got, err, test.want)
			}
		}
	}
}

// What is JSON stays JSON.
func FuzzFirstSeries(f *testing.F) {
	f.Add([]byte(`{"data":{"result":[{},{},{},{}]}}`))
	f.Add([]byte(`]]{{[{},{},{},{`))
	f.Fuzz(func(t *testing.T, whole []byte) {
		got, err := io.ReadAll(&firstSeries{from: strings.NewReader(string(whole)), kept: 2})
		if err != nil {
			t.Fatal(err)
		}
		if json.Valid(whole) && !json.Valid(got) {
			t.Errorf("%s became %s", whole, got)
		}
	})
}
