// Package golden reads R's figures for classic series from the folder that FOREWARM_DATA names, for tests. They are too
// many to stand in the repository; package classic has a few that do.
package golden

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
)

// Load reads golden/golden.json.gz and golden/golden2.json into a struct of what the test needs. It skips the test where
// FOREWARM_DATA is unset.
func Load[T any](t *testing.T) (data T) {
	t.Helper()
	dir := os.Getenv("FOREWARM_DATA")
	if dir == "" {
		t.Skip("FOREWARM_DATA is unset: it names the folder with golden/golden.json.gz")
	}
	first := open(t, filepath.Join(dir, "golden", "golden.json.gz"))
	unzipped, err := gzip.NewReader(first)
	if err != nil {
		t.Fatal(err)
	}
	second := open(t, filepath.Join(dir, "golden", "golden2.json"))
	for _, decoder := range []*json.Decoder{json.NewDecoder(unzipped), json.NewDecoder(second)} {
		if err := decoder.Decode(&data); err != nil {
			t.Fatal(err)
		}
	}
	return data
}

func open(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() }) //nolint:errcheck // Read only.
	return file
}

// Values are a list of R's, NaN where it has none. A list of one stands without brackets there.
type Values []float64

// UnmarshalJSON reads null as NaN, and a number as a list of it.
func (v *Values) UnmarshalJSON(text []byte) error {
	var numbers []*float64
	if err := json.Unmarshal(text, &numbers); err != nil {
		var one float64
		if err := json.Unmarshal(text, &one); err != nil {
			return err
		}
		*v = Values{one}
		return nil
	}
	*v = make(Values, len(numbers))
	for i, number := range numbers {
		(*v)[i] = math.NaN()
		if number != nil {
			(*v)[i] = *number
		}
	}
	return nil
}
