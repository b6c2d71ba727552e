package pods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"google.golang.org/protobuf/encoding/prototext"
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
	"github.com/forewarm/forewarm/pkg/agent/pods"
)

// TestNode runs all of it on nodes as testdata tells them: a reading, a kubelet's answers, processes and their cgroups,
// the names of containers' logs; and the parts that come of it. UPDATE_GOLDEN=1 rewrites the parts: read the diff.
func TestNode(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no nodes: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := table(partsOf(t, archive))
			want := &archive.Files[len(archive.Files)-1]
			if want.Name != "parts" {
				t.Fatalf("%s ends with %s, want parts", file, want.Name)
			}
			if os.Getenv("UPDATE_GOLDEN") != "" {
				want.Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(want.Data), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// partsOf a node, asked as the agent asks.
func partsOf(t *testing.T, archive *txtar.Archive) []pods.Part {
	t.Helper()
	var reading gpu.Reading
	node := &answers{list: listOf(), all: &podresources.AllocatableResourcesResponse{}}
	proc, logs := fstest.MapFS{}, fstest.MapFS{}
	for _, file := range archive.Files {
		var err error
		switch file.Name {
		case "reading.json":
			err = json.Unmarshal(file.Data, &reading)
		case "list.textproto":
			err = prototext.Unmarshal(file.Data, node.list)
		case "allocatable.textproto":
			err = prototext.Unmarshal(file.Data, node.all)
		case "processes":
			err = processes(proc, string(file.Data))
		case "containers":
			for link := range strings.Lines(string(file.Data)) {
				logs["containers/"+strings.TrimSpace(link)] = &fstest.MapFile{}
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", file.Name, err)
		}
	}
	held, err := lister(t, node).Holdings(t.Context(), reading)
	if err != nil || len(held.Unidentified) > 0 {
		t.Fatalf("%+v, %v", held, err)
	}
	return pods.Attribute(reading, held.Holdings, pods.NewOwners(proc, logs).Lookup())
}

// processes reads lines of PID START COMM CGROUP.
func processes(proc fstest.MapFS, lines string) error {
	for line := range strings.Lines(lines) {
		var (
			pid, start   int
			comm, cgroup string
		)
		if _, err := fmt.Sscan(line, &pid, &start, &comm, &cgroup); err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		folder := strconv.Itoa(pid)
		proc[folder+"/stat"] = &fstest.MapFile{Data: []byte(statOf(pid, start, comm))}
		proc[folder+"/cgroup"] = &fstest.MapFile{Data: []byte(cgroup + "\n")}
	}
	return nil
}

// table is parts as a table; a dash is a figure that is not told.
func table(parts []pods.Part) string {
	const row = "%-28s %-4s %-8s %-6s %-9s %s\n"
	var out strings.Builder
	fmt.Fprintf(&out, row, "container", "gpu", "instance", "busy", "bandwidth", "allocated")
	for _, p := range parts {
		fmt.Fprintf(&out, row, p.Namespace+"/"+p.Pod+"/"+p.Name, "…"+p.GPU[len(p.GPU)-2:], p.Instance,
			cell(p.Busy), cell(p.Bandwidth), cell(pods.Figure{Value: p.Allocated, Known: true}))
	}
	return out.String()
}

func cell(f pods.Figure) string {
	if !f.Known {
		return "-"
	}
	return fmt.Sprintf("%.4f", f.Value)
}
