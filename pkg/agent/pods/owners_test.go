package pods_test

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/forewarm/forewarm/pkg/agent/pods"
)

const (
	uidLlama = "8e6b5a30-6f0e-4f7b-9a52-3d2c1b0a9f8e"
	uidEmbed = "0c1d2e3f-4a5b-4c6d-8e7f-90a1b2c3d4e5"
	idLlama  = "4f1c9a7e2b3d5c60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8"
	idEmbed  = "0a1b2c3d4e5f60718293a4b5c6d7e8f94f1c9a7e2b3d5c60718293a4b5c6d7e8"
)

// counted counts how often a file or folder is opened.
type counted struct {
	fstest.MapFS

	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.MapFS.Open(name)
}

func (c counted) ReadDir(name string) ([]fs.DirEntry, error) {
	c.opened[name]++
	return c.MapFS.ReadDir(name)
}

// folders is a node's /proc and /var/log.
type folders struct {
	proc, logs counted
	owners     *pods.Owners
}

func newFolders() folders {
	n := folders{
		proc: counted{fstest.MapFS{}, map[string]int{}},
		logs: counted{fstest.MapFS{}, map[string]int{}},
	}
	n.owners = pods.NewOwners(n.proc, n.logs)
	return n
}

func (n folders) run(pid, start int, comm, cgroup string) {
	n.file(n.proc, strconv.Itoa(pid)+"/stat", statOf(pid, start, comm))
	n.file(n.proc, strconv.Itoa(pid)+"/cgroup", cgroup+"\n")
}

// statOf a process is what the kernel writes of it.
func statOf(pid, start int, comm string) string {
	return fmt.Sprintf("%d (%s) S 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 %d 1234 56\n", pid, comm, start)
}

func (folders) file(in counted, name, text string) {
	in.MapFS[name] = &fstest.MapFile{Data: []byte(text)}
}

func (n folders) link(c pods.Container, id string) {
	name := "containers/" + c.Pod + "_" + c.Namespace + "_" + c.Name + "-" + id + ".log"
	n.logs.MapFS[name] = &fstest.MapFile{Data: []byte("../pods/elsewhere"), Mode: fs.ModeSymlink}
}

func in(uid, id string) string {
	slice := "kubepods-pod" + strings.ReplaceAll(uid, "-", "_") + ".slice"
	return "0::/kubepods.slice/" + slice + "/cri-containerd-" + id + ".scope"
}

func (n folders) want(t *testing.T, why string, pid int, container pods.Container, known bool) {
	t.Helper()
	if c, k := n.owners.Lookup()(pid); c != container || k != known {
		t.Errorf("%s: %+v, %v; want %+v, %v", why, c, k, container, known)
	}
}

func TestOwners(t *testing.T) {
	n := newFolders()
	n.link(llama, idLlama)
	n.link(embed, idEmbed)
	stranger := strings.Repeat("e", 64)
	try := func(why, comm, cgroup string, container pods.Container, known bool) {
		n.run(10, 100, comm, cgroup)
		n.owners = pods.NewOwners(n.proc, n.logs)
		n.want(t, why, 10, container, known)
	}
	try("a pod's", "python3", in(uidLlama, idLlama), llama, true)
	try("a comm may look like the end of the comm", "a (b) c) S 1", in(uidEmbed, idEmbed), embed, true)
	try("the node's own", "nvidia-persiste", "0::/system.slice/nvidia-persistenced.service", unowned, true)
	try("an MPS server works for others", "nvidia-cuda-mps", in(uidLlama, idLlama), unowned, false)
	try("a container that is none of Kubernetes'", "sh", "0::/system.slice/docker-"+stranger+".scope", unowned, true)
	try("one that may be of the agent's own pod", "sh", "0::/../cri-containerd-"+stranger+".scope", unowned, false)
	try("one of the agent's own pod", "sh", "0::/../cri-containerd-"+idEmbed+".scope", embed, true)
	try("a container without a log", "sh", in(uidLlama, stranger), unowned, false)
	try("a cgroup file without end", "sh", strings.Repeat("0::/system.slice\n", 1000), unowned, false)

	n.file(n.proc, "10/cgroup", "")
	n.want(t, "a cgroup file that is empty", 10, unowned, false)
	n.file(n.proc, "20/stat", "20 (python3) S 1 1")
	n.want(t, "a stat that is cut", 20, unowned, false)
	n.file(n.proc, "21/stat", "21 (python3) Z 1 1 1 0 -1 4194560 1 0 0 0 7 3 0 0 20 0 1 0 100 0 0")
	n.file(n.proc, "21/cgroup", "0::/")
	n.want(t, "a zombie, which has left its cgroup", 21, unowned, false)
	n.want(t, "a process that is not there", 99, unowned, false)
	n.want(t, "what is no process", -1, unowned, false)
}

func TestOwnersOfAPodWithoutALink(t *testing.T) {
	n := newFolders()
	n.run(10, 100, "python3", in(uidLlama, idLlama))
	n.file(n.logs, "pods/inference_llama-0_"+uidLlama+"/server-vllm/0.log", "")
	n.want(t, "the pod's one container", 10, llama, true)

	n.run(11, 100, "python3", in(uidEmbed, idEmbed))
	n.file(n.logs, "pods/inference_embed.v2-0_"+uidEmbed+"/init/0.log", "")
	n.file(n.logs, "pods/inference_embed.v2-0_"+uidEmbed+"/server/0.log", "")
	n.want(t, "one of two, and which is not known", 11, unowned, false)
}

func TestOwnersKnowAProcessFromTheNextWithItsPID(t *testing.T) {
	n := newFolders()
	n.link(embed, idEmbed)
	n.run(10, 100, "python3", in(uidLlama, idLlama))
	n.want(t, "the first, before its log", 10, unowned, false)
	n.link(llama, idLlama)
	n.want(t, "the first", 10, llama, true)
	n.run(10, 200, "python3", in(uidEmbed, idEmbed))
	n.want(t, "the second", 10, embed, true)
	delete(n.proc.MapFS, "10/stat")
	n.want(t, "none", 10, unowned, false)
}

// swapping gives a PID to another process when its cgroup is read.
type swapping struct {
	counted

	then func()
}

func (s swapping) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "cgroup") {
		defer s.then()
	}
	return s.counted.Open(name)
}

func TestOwnersAreNotFooledWhileTheyRead(t *testing.T) {
	n := newFolders()
	n.link(llama, idLlama)
	n.run(10, 100, "python3", in(uidLlama, idLlama))
	n.owners = pods.NewOwners(swapping{n.proc, func() { n.run(10, 200, "sh", "0::/") }}, n.logs)
	n.want(t, "a PID that was given away between two reads", 10, unowned, false)
}

func TestOwnersReadLittle(t *testing.T) {
	n := newFolders()
	n.link(llama, idLlama)
	for pid := range 40 {
		n.run(pid, 100, "python3", in(uidLlama, idLlama))
	}
	n.run(90, 100, "python3", in(uidEmbed, idEmbed))
	n.run(91, 100, "python3", in(uidEmbed, idEmbed))
	for look := range 3 {
		of := n.owners.Lookup()
		for range 8 { // devices that all have open
			for pid := range 40 {
				of(pid)
			}
		}
		if look > 0 {
			of(90) // in a pod that has no log yet
			of(91)
		}
	}
	if got := n.logs.opened["containers"]; got != 3 {
		t.Errorf("the folder was listed %d times, want once and once for each look with a new container", got)
	}
	if got := n.proc.opened["7/cgroup"]; got != 1 {
		t.Errorf("a cgroup was read %d times in 3 looks at one process, want once", got)
	}
	if got := n.proc.opened["7/stat"]; got != 4 {
		t.Errorf("a start time was read %d times, want twice at first and once for each look after", got)
	}
}

func TestOwnersForget(t *testing.T) {
	n := newFolders()
	for pid := range 1000 {
		n.run(pid, 100, "sh", "0::/")
		n.owners.Lookup()(pid)
	}
	if got := n.owners.Remembered(); got > 2 {
		t.Errorf("%d processes are remembered, of which one was asked about in each look", got)
	}
}

// TestOwnersOfThisProcess reads what a kernel writes.
func TestOwnersOfThisProcess(t *testing.T) {
	file, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Skip("no /proc here:", err)
	}
	comm, err := os.ReadFile("/proc/self/comm")
	if err != nil {
		t.Fatal(err)
	}
	got, start, err := pods.ParseStat(file)
	if err != nil || got != strings.TrimSuffix(string(comm), "\n") || start == 0 {
		t.Errorf("%s is read as %q, %d, %v; want %s", file, got, start, err, comm)
	}
	look := pods.NewOwners(os.DirFS("/proc"), os.DirFS(t.TempDir())).Lookup()
	if c, _ := look(os.Getpid()); c != unowned {
		t.Errorf("without any logs this process is %+v", c)
	}
}
