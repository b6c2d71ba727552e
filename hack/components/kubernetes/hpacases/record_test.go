package hpacases

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

const (
	cases       = 400
	syncsOfEach = 30
	path        = "../../../../pkg/core/hpa/testdata/controller.jsonl.gz"
)

var (
	write = flag.Bool("write", false, "write "+path)
	zero  = flag.Bool("zero", true, "compare HPAs that may scale to zero, too. Before 1.36, the controller read the metrics at zero in any case")
)

// TestMain silences Kubernetes: the generated HPAs fail on purpose, and the error handlers would sleep by a clock that is
// not theirs.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// TestRecording compares the committed recording with the controller, or writes it.
func TestRecording(t *testing.T) {
	recording := bytes.Buffer{}
	encoder := json.NewEncoder(&recording)
	want, differ := strings.SplitAfter(string(committed(t)), "\n"), 0
	for seed := range uint64(cases) {
		got, begin := record(t, seed, syncsOfEach), recording.Len()
		if err := encoder.Encode(got); err != nil {
			t.Fatal(err)
		}
		if !*write && (*zero || !got.Spec.ScaleToZero) && string(recording.Bytes()[begin:]) != want[seed] {
			differ++
		}
	}
	if *write {
		if err := os.WriteFile(path, compressed(t, recording.Bytes()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if differ > 0 {
		t.Errorf("the controller does something else with %d of %d HPAs than %s says; go test ./hpacases -write writes it again",
			differ, cases, path)
	}
}

func compressed(t *testing.T, text []byte) []byte {
	t.Helper()
	out := bytes.Buffer{}
	w := gzip.NewWriter(&out)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func committed(t *testing.T) []byte {
	t.Helper()
	packed, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
