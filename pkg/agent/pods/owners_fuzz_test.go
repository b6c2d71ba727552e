package pods_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (python3) S 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 100 1234 56\n"))
	f.Add([]byte("7 (a) b) (c) R 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 18446744073709551615"))
	f.Add([]byte(")("))
	f.Fuzz(func(t *testing.T, file []byte) {
		comm, start, err := pods.ParseStat(file)
		if err != nil {
			return
		}
		if !strings.Contains(string(file), "("+comm+")") {
			t.Errorf("%q is no comm in %q", comm, file)
		}
		after := strings.Fields(string(file)[strings.LastIndex(string(file), ")")+1:])
		if got, err := strconv.ParseUint(after[19], 10, 64); err != nil || got != start {
			t.Errorf("start %d, want field 22 of %q", start, file)
		}
	})
}

func FuzzParseLink(f *testing.F) {
	f.Add("llama-0_inference_server-vllm-" + idLlama + ".log")
	f.Add("a_b_-" + idLlama + ".log")
	f.Add("_b_c-" + idLlama + ".log")
	f.Fuzz(func(t *testing.T, link string) {
		id, c, ok := pods.ParseLink(link)
		if again := c.Pod + "_" + c.Namespace + "_" + c.Name + "-" + id + ".log"; ok && again != link {
			t.Errorf("%q is read as %q", link, again)
		}
		if ok && (c.Pod == "" || c.Namespace == "" || c.Name == "" || len(id) != 64) {
			t.Errorf("%q: %+v, %q is no container", link, c, id)
		}
	})
}

func FuzzParseFolder(f *testing.F) {
	f.Add("inference_llama-0_" + uidLlama)
	f.Add("__")
	f.Fuzz(func(t *testing.T, folder string) {
		uid, namespace, name, ok := pods.ParseFolder(folder)
		if ok && namespace+"_"+name+"_"+uid != folder {
			t.Errorf("%q is read as %q, %q, %q", folder, namespace, name, uid)
		}
	})
}
