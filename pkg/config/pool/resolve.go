package pool

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/config"
	"github.com/forewarm/forewarm/pkg/warmpool"
	"github.com/forewarm/forewarm/pkg/windowpeak"
)

// Resolved is a pool that is sound as far as it alone goes.
type Resolved struct {
	// Object is the pool with its defaults filled in, without what the server keeps of it.
	Object *v1alpha1.WarmPool
	// Pool is what the planner is asked. Node is the lead time that the object names; Pod is not known from the object.
	Pool warmpool.Pool
	// Measured says that Node is to be measured, and Pool.Node is for as long as it is not.
	Measured bool
	Members  []Member
	Actuator Actuator
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
	Balloon        Actuator = "Balloon"
	CapacityBuffer Actuator = "CapacityBuffer"
	Scale          Actuator = "Scale"
)

// Resolve fills in a pool's defaults and judges it. Where there are problems they are all in the list, and of the result
// only the Object counts.
func Resolve(object *v1alpha1.WarmPool) (Resolved, field.ErrorList) {
	r := Resolved{Object: defaulted(object)}
	r.Object.ManagedFields, r.Object.Status = nil, v1alpha1.WarmPoolStatus{}
	read := reader{}
	read.names(object)
	path, spec := field.NewPath("spec"), &r.Object.Spec
	r.Members = read.members(path.Child("members"), spec.Members)
	r.Pool.GPUs = read.chunk(path.Child("chunk"), &spec.Chunk)
	r.Pool.Quantile = read.quantile(path.Child("quantile"), spec.Quantile)
	r.Pool.Node, r.Measured = read.leadTime(path.Child("leadTime"), spec.LeadTime)
	read.bounds(path, spec, &r.Pool)
	if spec.Budget != nil {
		r.Pool.Budget = read.amount(
			path.Child("budget", "idleGPUHoursPerDay"), spec.Budget.IdleGPUHoursPerDay, 0, mostHours)
	}
	r.Pool.Split = read.capacityTypes(path.Child("capacityTypes"), spec)
	r.Actuator = read.actuator(path.Child("actuator"), spec)
	if spec.Mode != v1alpha1.PoolRecommend && spec.Mode != v1alpha1.PoolEnforce {
		modes := []v1alpha1.PoolMode{v1alpha1.PoolRecommend, v1alpha1.PoolEnforce}
		read.add(field.NotSupported(path.Child("mode"), spec.Mode, modes))
	}
	return r, read.problems
}

// reader reads the fields of one object and collects what is wrong with them. Each of its methods returns the zero value
// where there is a problem.
type reader struct {
	problems field.ErrorList
}

func (r *reader) add(problem *field.Error) { r.problems = append(r.problems, problem) }

func (r *reader) all(path *field.Path, value string, messages []string) {
	for _, message := range messages {
		r.add(field.Invalid(path, value, message))
	}
}

// names checks what the Kubernetes API does for its own objects; a file has nobody else.
func (r *reader) names(object *v1alpha1.WarmPool) {
	path := field.NewPath("metadata")
	if object.Name == "" {
		r.add(field.Required(path.Child("name"), "name the pool"))
	} else {
		r.all(path.Child("name"), object.Name, validation.IsDNS1123Subdomain(object.Name))
	}
	r.all(path.Child("namespace"), object.Namespace, validation.IsDNS1123Label(object.Namespace))
}

func (r *reader) members(path *field.Path, members []v1alpha1.Member) []Member {
	switch {
	case len(members) == 0:
		r.add(field.Required(path, "name the Forecasts whose workloads take what the pool holds"))
	case len(members) > MaxMembers:
		r.add(field.TooMany(path, len(members), MaxMembers))
		return nil
	}
	out := make([]Member, 0, len(members))
	for i, m := range members {
		at := path.Index(i)
		known := slices.ContainsFunc(out, func(before Member) bool { return before.Forecast == m.Forecast })
		switch {
		case m.Forecast == "":
			r.add(field.Required(at.Child("forecast"), "name a Forecast of the pool's namespace"))
		case known:
			r.add(field.Duplicate(at.Child("forecast"), m.Forecast))
		default:
			r.all(at.Child("forecast"), m.Forecast, validation.IsDNS1123Subdomain(m.Forecast))
		}
		member := Member{Forecast: m.Forecast, Chunks: 1}
		if m.Chunks != nil {
			member.Chunks = r.amount(at.Child("chunks"), *m.Chunks, leastPart, mostPart)
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
	r.add(field.Invalid(path, q.String(), text))
	return 0
}

// quantile reads digits with a point, as the schema allows them: no sign, exponent, hexadecimal or NaN.
func (r *reader) quantile(path *field.Path, text string) float64 {
	const lowest = 0.5
	value, err := strconv.ParseFloat(text, 64)
	if err == nil && strings.Trim(text, "0123456789.") == "" && value >= lowest && value <= windowpeak.Highest {
		return value
	}
	r.add(field.Invalid(path, text, fmt.Sprintf("write a number from %g to %g, in quotes", lowest, windowpeak.Highest)))
	return 0
}

// leadTime reads how long a node takes, and whether that is to be measured.
func (r *reader) leadTime(path *field.Path, lead *v1alpha1.LeadTime) (length time.Duration, measured bool) {
	at, text := path.Child("fallback"), lead.Fallback
	switch lead.Mode {
	case v1alpha1.LeadTimeAuto:
		measured = true
		if lead.Duration != "" {
			r.add(
				field.Forbidden(
					path.Child("duration"),
					"is for mode Fixed: add mode: Fixed, or write fallback instead",
				),
			)
		}
	case v1alpha1.LeadTimeFixed:
		if lead.Fallback != "" {
			r.add(field.Forbidden(at, "is for mode Auto: remove it"))
		}
		if at, text = path.Child("duration"), lead.Duration; text == "" {
			r.add(field.Required(at, "mode Fixed needs the time that a node takes, for example 4m"))
			return 0, false
		}
	default:
		modes := []v1alpha1.LeadTimeMode{v1alpha1.LeadTimeAuto, v1alpha1.LeadTimeFixed}
		r.add(field.NotSupported(path.Child("mode"), lead.Mode, modes))
		return 0, false
	}
	d, err := model.ParseDuration(string(text))
	if length = time.Duration(d); err != nil || length < leastLead || length > config.MaxLead {
		r.add(field.Invalid(at, text, fmt.Sprintf("write a duration from %s to %s, for example 5m",
			model.Duration(leastLead), model.Duration(config.MaxLead))))
		return 0, false
	}
	return length, measured
}

// bounds reads min, max and fallback.
func (r *reader) bounds(path *field.Path, spec *v1alpha1.WarmPoolSpec, pool *warmpool.Pool) {
	least, most, fallback := *spec.Min, spec.Max, *spec.Fallback
	switch {
	case most < 1 || most > MaxChunks:
		r.add(field.Invalid(path.Child("max"), most, fmt.Sprintf("write 1 to %d chunks", MaxChunks)))
	case least < 0 || least > most:
		r.add(field.Invalid(path.Child("min"), least, fmt.Sprintf("write 0 to max, which is %d", most)))
	case fallback < least || fallback > most:
		r.add(field.Invalid(path.Child("fallback"), fallback,
			fmt.Sprintf("write a number from min to max, which are %d and %d", least, most)))
	default:
		pool.Min, pool.Max, pool.Fallback = int(least), int(most), int(fallback)
	}
}
