// Package pool resolves a WarmPool, from a file or from a cluster: it sets defaults and validates. The result is the
// input of the planner and an object for the actuators. It checks the pod of a chunk strictly, because the API server
// does not: a misspelled resource would hold nothing.
package pool

import (
	"fmt"
	"slices"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// Resolved is a pool whose own fields are valid.
type Resolved struct {
	// Object is the pool with its defaults, without managed fields and status.
	Object *v1alpha1.WarmPool
	// Pool is the input of the planner. Node is the lead time of the spec; Pod is not known from the object.
	Pool warmpool.Pool
	// MeasureLeadTime reports that the lead time of a node is measured. Pool.Node is the fallback.
	MeasureLeadTime bool
	Members         []Member
	Actuator        Actuator
}

// Member is one Forecast of a pool, in the pool's namespace, and the chunks that a replica of it takes.
type Member struct {
	Forecast string
	Chunks   float64
}

// Actuator is how the chunks are held.
type Actuator string

// The ways to hold chunks.
const (
	PlaceholderPods Actuator = "PlaceholderPods"
	CapacityBuffer  Actuator = "CapacityBuffer"
	Scale           Actuator = "Scale"
)

// Resolve sets a pool's defaults and validates it. If there are problems, the list has all of them, and only the
// Object of the result is valid.
func Resolve(object *v1alpha1.WarmPool) (Resolved, field.ErrorList) {
	r := Resolved{Object: withDefaults(object)}
	r.Object.ManagedFields, r.Object.Status = nil, v1alpha1.WarmPoolStatus{}
	read := reader{}
	read.Name(field.NewPath("metadata", "name"), object.Name, "name the pool")
	read.Namespace(object.Namespace)
	path, spec := field.NewPath("spec"), &r.Object.Spec
	r.Members = read.members(path.Child("members"), spec.Members)
	r.Pool.GPUs = read.chunk(path.Child("chunk"), &spec.Chunk)
	r.Pool.Quantile = read.quantile(path.Child("quantile"), spec.Quantile)
	r.Pool.Node, r.MeasureLeadTime = read.leadTime(path.Child("leadTime"), spec.LeadTime)
	read.bounds(path, spec, &r.Pool)
	if spec.Budget != nil {
		r.Pool.Budget = read.amount(
			path.Child("budget", "idleGPUHoursPerDay"), spec.Budget.IdleGPUHoursPerDay, 0, maxBudget)
	}
	r.Pool.Split = read.capacityTypes(path.Child("capacityTypes"), spec)
	r.Actuator = read.actuator(path.Child("actuator"), spec)
	if spec.Mode != v1alpha1.PoolRecommend && spec.Mode != v1alpha1.PoolEnforce {
		modes := []v1alpha1.PoolMode{v1alpha1.PoolRecommend, v1alpha1.PoolEnforce}
		read.Add(field.NotSupported(path.Child("mode"), spec.Mode, modes))
	}
	return r, read.Problems
}

// reader reads the fields of a pool.
type reader struct{ manifest.Fields }

func (r *reader) members(path *field.Path, members []v1alpha1.Member) []Member {
	switch {
	case len(members) == 0:
		r.Add(field.Required(path, "name the Forecasts whose workloads use the pool"))
	case len(members) > MaxMembers:
		r.Add(field.TooMany(path, len(members), MaxMembers))
		return nil
	}
	out := make([]Member, 0, len(members))
	for i, m := range members {
		at := path.Index(i)
		known := slices.ContainsFunc(out, func(before Member) bool { return before.Forecast == m.Forecast })
		switch {
		case m.Forecast == "":
			r.Add(field.Required(at.Child("forecast"), "name a Forecast of the pool's namespace"))
		case known:
			r.Add(field.Duplicate(at.Child("forecast"), m.Forecast))
		default:
			r.AddMessages(at.Child("forecast"), m.Forecast, validation.IsDNS1123Subdomain(m.Forecast))
		}
		member := Member{Forecast: m.Forecast, Chunks: 1}
		if m.Chunks != nil {
			member.Chunks = r.amount(at.Child("chunks"), *m.Chunks, minPart, maxPart)
		}
		out = append(out, member)
	}
	return out
}

// amount reads a quantity above 0, from low to high.
func (r *reader) amount(path *field.Path, q resource.Quantity, low, high float64) float64 {
	value := q.AsFloat64Slow()
	if value > 0 && value >= low && value <= high {
		return value
	}
	text := fmt.Sprintf("write a quantity above 0, at most %g", high)
	if low > 0 {
		text = fmt.Sprintf("write a quantity from %g to %g", low, high)
	}
	r.Add(field.Invalid(path, q.String(), text))
	return 0
}

// quantile reads the quantile of the demand that the pool covers.
func (r *reader) quantile(path *field.Path, text string) float64 {
	const lowest = 0.5
	if value, ok := manifest.ParseDecimal(text); ok && value >= lowest && value <= windowpeak.HighestQuantile {
		return value
	}
	r.Invalid(path, text, "write a number from %g to %g, in quotes", lowest, windowpeak.HighestQuantile)
	return 0
}

// leadTime reads the lead time of a node, and whether it is measured.
func (r *reader) leadTime(path *field.Path, lead *v1alpha1.LeadTime) (length time.Duration, measured bool) {
	at, text := r.LeadTime(path, lead, "the lead time of a node")
	if at == nil {
		return 0, false
	}
	d, err := model.ParseDuration(string(text))
	if length = time.Duration(d); err != nil || length < minLead || length > manifest.MaxLead {
		r.Invalid(at, text, "write a duration from %s to %s, for example 5m",
			model.Duration(minLead), model.Duration(manifest.MaxLead))
		return 0, false
	}
	return length, lead.Mode == v1alpha1.LeadTimeAuto
}

// bounds reads min, max and fallback.
func (r *reader) bounds(path *field.Path, spec *v1alpha1.WarmPoolSpec, pool *warmpool.Pool) {
	least, most, fallback := *spec.Min, spec.Max, *spec.Fallback
	switch {
	case most < 1 || most > MaxChunks:
		r.Invalid(path.Child("max"), most, "write 1 to %d chunks", MaxChunks)
	case least < 0 || least > most:
		r.Invalid(path.Child("min"), least, "write 0 to max, which is %d", most)
	case fallback < least || fallback > most:
		r.Invalid(path.Child("fallback"), fallback, "write a number from min to max, which are %d and %d", least, most)
	default:
		pool.Min, pool.Max, pool.Fallback = int(least), int(most), int(fallback)
	}
}
