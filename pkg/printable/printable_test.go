package printable_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/forewarm/forewarm/pkg/printable"
)

func TestText(t *testing.T) {
	for _, c := range []struct{ name, text, want, line string }{
		{"what people write", "größer als 5\u00a0% ▕██·▏ ❤️ 中文", "", ""},
		{"lines and tabs", "a\n\tb", "", `a\u000a\u0009b`},
		{"a terminal's commands", "\x1b[2J\x1b]0;owned\a\r\b", `\u001b[2J\u001b]0;owned\u0007\u000d\u0008`, ""},
		{"C1 and DEL", "\u009b31m\u0085\x7f", `\u009b31m\u0085\u007f`, ""},
		{"NUL", "a\x00b", `a\u0000b`, ""},
		{"directions", "\u202a\u202b\u202c\u202d\u202e", `\u202a\u202b\u202c\u202d\u202e`, ""},
		{"isolates", "\u2066\u2067\u2068\u2069", `\u2066\u2067\u2068\u2069`, ""},
		{"marks of direction", "\u200e\u200f\u061c", `\u200e\u200f\u061c`, ""},
		{"what shows nothing", "a\u200bb\ufeff\u2028\U000e0041", `a\u200bb\ufeff\u2028\udb40\udc41`, ""},
		{"no UTF-8", "a\x9b31m\xff", "a\ufffd31m\ufffd", ""},
	} {
		want, line := c.want, c.line
		if want == "" {
			want = c.text
		}
		if line == "" {
			line = want
		}
		if diff := cmp.Diff(want, printable.Text(c.text)); diff != "" {
			t.Errorf("%s: text (-want +got)\n%s", c.name, diff)
		}
		if diff := cmp.Diff(line, printable.Line(c.text)); diff != "" {
			t.Errorf("%s: line (-want +got)\n%s", c.name, diff)
		}
	}
}

// A character that is split over two writes stays whole, and one that is never completed is not a control character.
func TestWriter(t *testing.T) {
	const text = "größer ▕█\x1b[2J\u202e\u009b\xff\U000e0041 ende\n"
	for cut := range len(text) {
		var out strings.Builder
		w := printable.NewWriter(&out)
		for _, part := range []string{text[:cut], text[cut:]} {
			if n, err := w.Write([]byte(part)); n != len(part) || err != nil {
				t.Fatalf("%d of %d bytes, %v", n, len(part), err)
			}
		}
		if diff := cmp.Diff(printable.Text(text), out.String()); diff != "" {
			t.Fatalf("cut at %d (-want +got)\n%s", cut, diff)
		}
	}
}

func TestWriterReturnsTheError(t *testing.T) {
	broken := errors.New("gone")
	if n, err := printable.NewWriter(failing{broken}).Write([]byte("ab")); n != 0 || !errors.Is(err, broken) {
		t.Errorf("%d, %v, want the writer's error", n, err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }

func FuzzWriter(f *testing.F) {
	f.Add("a\x1b\u202e", "\xe2\x80", `"`)
	f.Fuzz(func(t *testing.T, a, b, value string) {
		var out strings.Builder
		w := printable.NewWriter(&out)
		for _, part := range []string{a, b} {
			if _, err := w.Write([]byte(part)); err != nil {
				t.Fatal(err)
			}
		}
		if !utf8.ValidString(out.String()) || strings.ContainsFunc(out.String(), func(r rune) bool {
			return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r))
		}) {
			t.Fatalf("%q came through of %q, %q", out.String(), a, b)
		}
		encoded, err := json.MarshalIndent(map[string]string{"value": value}, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		var before, after map[string]string
		if err := errors.Join(json.Unmarshal(encoded, &before),
			json.Unmarshal([]byte(printable.Text(string(encoded))), &after)); err != nil {
			t.Fatal(err)
		}
		if before["value"] != after["value"] {
			t.Fatalf("%q became %q", before["value"], after["value"])
		}
	})
}
