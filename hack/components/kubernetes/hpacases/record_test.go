package hpacases

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"io"
	"os"
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

var write = flag.Bool("write", false, "write "+path)

// TestMain silences Kubernetes: the generated HPAs fail on purpose, and the error handlers would sleep by a clock that is
// not theirs.
func TestMain(m *testing.M) {
	klog.SetLogger(logr.Discard())
	utilruntime.ErrorHandlers = nil
	os.Exit(m.Run())
}

// TestRecording holds the committed recording against the controller, or makes it.
func TestRecording(t *testing.T) {
	recording := bytes.Buffer{}
	encoder := json.NewEncoder(&recording)
	for seed := range uint64(cases) {
		if err := encoder.Encode(record(t, seed, syncsOfEach)); err != nil {
			t.Fatal(err)
		}
	}
	if *write {
		if err := os.WriteFile(path, compressed(t, recording.Bytes()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(recording.Bytes(), committed(t)) {
		t.Error("the controller does something else than " + path + " says; go test ./hpacases -write writes it again")
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
