package pods

import (
	podresources "k8s.io/kubelet/pkg/apis/podresources/v1"

	"github.com/forewarm/forewarm/pkg/agent/gpu"
)

// Read is the first answer, without a kubelet.
func Read(
	list *podresources.ListPodResourcesResponse, all *podresources.AllocatableResourcesResponse, reading gpu.Reading,
) Held {
	answer, _ := readAnswers(list, all, reading, nil)
	return answer
}

// Place is where a process runs.
type Place = place

// The parsers.
var (
	ParsePlace    = parsePlace
	IsContainerID = isContainerID

	ParseLink   = parseLink
	ParseFolder = func(folder string) (uid, namespace, name string, ok bool) {
		uid, p, ok := parseFolder(folder)
		return uid, p.namespace, p.name, ok
	}
	ParseStat = func(file []byte) (comm string, start uint64, err error) {
		s, err := parseStat(file)
		return s.comm, s.start, err
	}
)

// Remembered is how many processes are.
func (o *Owners) Remembered() int { return len(o.processes) }
