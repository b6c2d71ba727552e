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
