package manifest

import (
	"fmt"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/warmpool"
	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// ResolvedPool is a pool whose own fields are valid.
type ResolvedPool struct {
	// Object is the pool with its defaults, without managed fields and status.
	Object *v1alpha1.WarmPool
	// Pool is the input of the planner. Node is the lead time of the spec; Pod is not known from the object.
	Pool warmpool.Pool
	// MeasureLeadTime reports that the lead time of a node is measured. Pool.Node is the fallback.
	MeasureLeadTime bool
	Members         []PoolMember
	Actuator        PoolActuator
}

// PoolMember is one Forecast of a pool, in the pool's namespace, and the chunks that a replica of it takes.
type PoolMember struct {
	Forecast string
	Chunks   float64
}

// PoolActuator is how the chunks are held.
type PoolActuator string

// Ways to hold chunks.
const (
	ActuatorPlaceholderPods PoolActuator = "PlaceholderPods"
	ActuatorCapacityBuffer  PoolActuator = "CapacityBuffer"
	ActuatorScale           PoolActuator = "Scale"
)

// ResolvePool sets a WarmPool's defaults and validates it. If there are problems, the list has all of them, and only the
// Object of the result is valid. The pod of a chunk is checked strictly, because the API server does not: a misspelled resource
// would hold nothing.
func ResolvePool(object *v1alpha1.WarmPool) (ResolvedPool, field.ErrorList) {
	r := ResolvedPool{Object: poolWithDefaults(object)}
	r.Object.ManagedFields, r.Object.Status = nil, v1alpha1.WarmPoolStatus{}
	read := poolReader{}
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

// poolReader reads the fields of a pool.
type poolReader struct{ Fields }

func (r *poolReader) members(path *field.Path, members []v1alpha1.Member) []PoolMember {
	name := func(i int) string { return members[i].Forecast }
	if !r.memberNames(path, len(members), MaxPoolMembers, name) {
		return nil
	}
	out := make([]PoolMember, 0, len(members))
	for i, m := range members {
		out = append(out, PoolMember{Forecast: m.Forecast, Chunks: r.part(path.Index(i).Child("chunks"), m.Chunks)})
	}
	return out
}

// memberNames reads the names of an object's members, which are Forecasts. It returns false if there are too many.
func (f *Fields) memberNames(path *field.Path, count, most int, name func(i int) string) bool {
	switch {
	case count == 0:
		f.Add(field.Required(path, "list the Forecasts whose workloads are members"))
	case count > most:
		f.Add(field.TooMany(path, count, most))
		return false
	}
	known := map[string]bool{}
	for i := range count {
		at, one := path.Index(i).Child("forecast"), name(i)
		switch {
		case one == "":
			f.Add(field.Required(at, "write the name of a Forecast in the same namespace"))
		case known[one]:
			f.Add(field.Duplicate(at, one))
		default:
			f.AddMessages(at, one, validation.IsDNS1123Subdomain(one))
		}
		known[one] = true
	}
	return true
}

// part reads how much a replica takes; 1 without a quantity.
func (f *Fields) part(path *field.Path, q *resource.Quantity) float64 {
	if q == nil {
		return 1
	}
	return f.amount(path, *q, minPart, maxPart)
}

// amount reads a positive quantity between low and high.
func (f *Fields) amount(path *field.Path, q resource.Quantity, low, high float64) float64 {
	value := q.AsFloat64Slow()
	if value > 0 && value >= low && value <= high {
		return value
	}
	text := fmt.Sprintf("write a quantity above 0, at most %g", high)
	if low > 0 {
		text = fmt.Sprintf("write a quantity from %g to %g", low, high)
	}
	f.Add(field.Invalid(path, q.String(), text))
	return 0
}

// quantile reads the quantile of the demand that the pool covers.
func (r *poolReader) quantile(path *field.Path, text string) float64 {
	const lowest = 0.5
	if value, ok := ParseDecimal(text); ok && value >= lowest && value <= windowpeak.HighestQuantile {
		return value
	}
	r.Invalid(path, text, "write a number from %g to %g, in quotes", lowest, windowpeak.HighestQuantile)
	return 0
}

// leadTime reads the lead time of a node, and whether it is measured.
func (r *poolReader) leadTime(path *field.Path, lead *v1alpha1.LeadTime) (length time.Duration, measured bool) {
	at, text := r.LeadTime(path, lead, "the lead time of a node")
	if at == nil {
		return 0, false
	}
	d, err := model.ParseDuration(string(text))
	if length = time.Duration(d); err != nil || length < minNodeLead || length > MaxLead {
		r.Invalid(at, text, "write a duration from %s to %s, for example 5m",
			model.Duration(minNodeLead), model.Duration(MaxLead))
		return 0, false
	}
	return length, lead.Mode == v1alpha1.LeadTimeAuto
}

// bounds reads min, max and fallback.
func (r *poolReader) bounds(path *field.Path, spec *v1alpha1.WarmPoolSpec, pool *warmpool.Pool) {
	least, most, fallback := *spec.Min, spec.Max, *spec.Fallback
	switch {
	case most < 1 || most > MaxPoolChunks:
		r.Invalid(path.Child("max"), most, "write 1 to %d chunks", MaxPoolChunks)
	case least < 0 || least > most:
		r.Invalid(path.Child("min"), least, "write 0 to max, which is %d", most)
	case fallback < least || fallback > most:
		r.Invalid(path.Child("fallback"), fallback, "write a number from min (%d) to max (%d)", least, most)
	default:
		pool.Min, pool.Max, pool.Fallback = int(least), int(most), int(fallback)
	}
}
