package explain //nolint:testpackage // How an argument is read is internal.

import "testing"

// Whatever is asked for, it is refused in a few words, or it is a name that an API can be asked for.
func FuzzArguments(f *testing.F) {
	for _, text := range []string{
		"llama", "inference/llama", "inference/hpa/llama", "so/llama", "//", "a/b/c/d", "", "5m", "25h", "-0s",
	} {
		f.Add(text, text)
	}
	f.Fuzz(func(t *testing.T, text, namespace string) {
		short := func(err error) {
			t.Helper()
			if len(err.Error()) > 1200 {
				t.Fatalf("%q, %q: %d bytes: %v", text, namespace, len(err.Error()), err)
			}
		}
		o := options{namespace: namespace, leadTime: text}
		if of, err := o.parseName(text); err != nil {
			short(err)
		} else if of.Name == "" || len(of.Name) > 253 || of.Kind != "" && kindOf(of.Kind) != of.Kind {
			t.Fatalf("%q is %+v", text, of)
		}
		if lead, err := o.lead(); err != nil {
			short(err)
		} else if lead < 0 {
			t.Fatalf("%q is the lead time %s", text, lead)
		}
	})
}
