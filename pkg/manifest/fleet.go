package manifest

import (
	"cmp"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/fleet"
)

// MaxFleetGPUs is the largest count of GPUs of a fleet.
const MaxFleetGPUs = 1_000_000

// Other limits of a fleet.
const (
	maxFleetMembers = 50
	maxFleetBatch   = 8
	maxFleetShare   = 1000
	minRun, maxRun  = time.Minute, 24 * time.Hour
	maxNodeLabels   = 16
)

// ResolvedFleet is a GPUFleet whose own fields are valid.
type ResolvedFleet struct {
	// Object is the fleet with its defaults, without managed fields and status.
	Object *v1alpha1.GPUFleet
	// Resource is what is counted on nodes, in pods and in the quota.
	Resource corev1.ResourceName
	// Nodes selects the nodes of the fleet; nil if the number of GPUs is a count or a quota.
	Nodes   labels.Selector
	Members []FleetMember
	Batch   []FleetBatch
}

// FleetMember is one Forecast of a fleet, in the fleet's namespace, and the GPUs that a replica of it uses.
type FleetMember struct {
	Forecast string
	GPUs     float64
}

// FleetBatch is a consumer of spare GPUs, and what selects its pods in the fleet's namespace.
type FleetBatch struct {
	fleet.Consumer

	Selector labels.Selector
}

// ResolveFleet sets a GPUFleet's defaults and validates it. If there are problems, the list has all of them, and only the Object of the
// result is valid.
func ResolveFleet(object *v1alpha1.GPUFleet) (ResolvedFleet, field.ErrorList) {
	r := ResolvedFleet{Object: object.DeepCopy()}
	r.Object.ManagedFields, r.Object.Status = nil, v1alpha1.GPUFleetStatus{}
	spec, path := &r.Object.Spec, field.NewPath("spec")
	spec.Resource = cmp.Or(spec.Resource, string(wholeGPU))
	for i := range spec.Batch {
		spec.Batch[i].Share = cmp.Or(spec.Batch[i].Share, 1)
	}
	read := fleetReader{}
	read.Name(field.NewPath("metadata", "name"), object.Name, "name the fleet; its metric is NAME-spare")
	read.Namespace(object.Namespace)
	r.Nodes = read.source(path.Child("gpus"), &spec.GPUs)
	r.Resource = read.resource(path.Child("resource"), spec.Resource)
	r.Members = read.members(path.Child("members"), spec.Members)
	r.Batch = read.consumers(path.Child("batch"), spec.Batch)
	return r, read.Problems
}

// fleetReader reads the fields of a fleet.
type fleetReader struct{ Fields }

// source reads where the number of GPUs comes from. It returns the selector of the nodes, if they are it.
func (r *fleetReader) source(path *field.Path, gpus *v1alpha1.FleetGPUs) labels.Selector {
	var given []string
	if gpus.Count != 0 {
		given = append(given, "count")
		if gpus.Count < 1 || gpus.Count > MaxFleetGPUs {
			r.Invalid(path.Child("count"), gpus.Count, "write the number of GPUs, 1 to %d", MaxFleetGPUs)
		}
	}
	var nodes labels.Selector
	if gpus.NodeSelector != nil {
		given = append(given, "nodeSelector")
		nodes = r.nodes(path.Child("nodeSelector"), gpus.NodeSelector)
	}
	if queue := gpus.ClusterQueue; queue != nil {
		given = append(given, "clusterQueue")
		r.Name(path.Child("clusterQueue", "name"), queue.Name, "write the name of a ClusterQueue of Kueue")
	}
	if len(given) != 1 {
		r.Invalid(path, strings.Join(given, ", "), "write one of count (at least 1), nodeSelector and clusterQueue: "+
			"it says how many GPUs the fleet has")
	}
	return nodes
}

func (r *fleetReader) nodes(path *field.Path, selector map[string]string) labels.Selector {
	switch {
	case len(selector) == 0:
		r.Add(field.Required(path, "write the labels of the fleet's nodes, for example "+
			"nvidia.com/gpu.product: NVIDIA-H100-80GB-HBM3"))
	case len(selector) > maxNodeLabels:
		r.Add(field.TooMany(path, len(selector), maxNodeLabels))
		return nil
	}
	r.nodeSelector(path, selector, nil)
	return labels.SelectorFromSet(selector)
}

// resource reads the name of the resource that is counted.
func (r *fleetReader) resource(path *field.Path, name string) corev1.ResourceName {
	if messages := validation.IsQualifiedName(name); len(messages) > 0 {
		r.AddMessages(path, name, messages)
	} else if !strings.Contains(name, "/") {
		r.Invalid(path, name, "write the name of an extended resource, for example %s", wholeGPU)
	}
	return corev1.ResourceName(name)
}

func (r *fleetReader) members(path *field.Path, members []v1alpha1.FleetMember) []FleetMember {
	name := func(i int) string { return members[i].Forecast }
	if !r.memberNames(path, len(members), maxFleetMembers, name) {
		return nil
	}
	out := make([]FleetMember, 0, len(members))
	for i, m := range members {
		out = append(out, FleetMember{Forecast: m.Forecast, GPUs: r.part(path.Index(i).Child("gpus"), m.GPUs)})
	}
	return out
}

func (r *fleetReader) consumers(path *field.Path, batch []v1alpha1.FleetBatch) []FleetBatch {
	switch {
	case len(batch) == 0:
		r.Add(field.Required(path, "list the batch work that may use the GPUs that the members do not need"))
	case len(batch) > maxFleetBatch:
		r.Add(field.TooMany(path, len(batch), maxFleetBatch))
		return nil
	}
	out := make([]FleetBatch, 0, len(batch))
	for i := range batch {
		b, at := &batch[i], path.Index(i)
		one := FleetBatch{
			Consumer: fleet.Consumer{
				Name: b.Name, GPUs: r.part(at.Child("gpus"), b.GPUs), Share: float64(b.Share),
				Run: r.run(at.Child("run"), b.Run),
			},
			Selector: r.selector(at.Child("selector"), &b.Selector),
		}
		if b.Share < 1 || b.Share > maxFleetShare {
			const text = "write a weight from 1 to %d: shares need not add up to anything"
			r.Invalid(at.Child("share"), b.Share, text, maxFleetShare)
		}
		switch {
		case b.Name == "":
			r.Add(field.Required(at.Child("name"), "name the consumer; readers select it by the label batch"))
		case slices.ContainsFunc(out, func(before FleetBatch) bool { return before.Name == b.Name }):
			r.Add(field.Duplicate(at.Child("name"), b.Name))
		default:
			r.AddMessages(at.Child("name"), b.Name, validation.IsDNS1123Label(b.Name))
		}
		if one.Selector != nil && slices.ContainsFunc(out, one.selectsLike) {
			const text = "another consumer has the same selector: list their pods once"
			r.Invalid(at.Child("selector"), one.Selector.String(), text)
		}
		out = append(out, one)
	}
	return out
}

func (r *fleetReader) run(path *field.Path, text v1alpha1.Duration) time.Duration {
	if text == "" {
		r.Add(field.Required(path, "write how long a replica runs at most, for example 20m"))
		return 0
	}
	return r.duration(path, text, minRun, maxRun)
}

func (b FleetBatch) selectsLike(other FleetBatch) bool {
	return other.Selector != nil && other.Selector.String() == b.Selector.String()
}

// selector reads what selects the pods of a consumer; nil if it is invalid.
func (r *fleetReader) selector(path *field.Path, selector *metav1.LabelSelector) labels.Selector {
	if len(selector.MatchLabels)+len(selector.MatchExpressions) == 0 {
		r.Add(field.Required(path, "select the pods of the consumer, for example matchLabels: {app: embeddings}: "+
			"an empty selector would count every pod of the namespace"))
		return nil
	}
	out, err := metav1.LabelSelectorAsSelector(selector)
	if err != nil {
		r.Add(field.Invalid(path, metav1.FormatLabelSelector(selector), err.Error()))
		return nil
	}
	return out
}
