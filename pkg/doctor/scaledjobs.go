package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/core/humanize"
	"github.com/forewarm/forewarm/pkg/manifest"
)

// scaledJob is what starts and ends the jobs of a ScaledJob of KEDA.
type scaledJob struct {
	MinReplicaCount int32
	ScalingStrategy scalingStrategy
	Triggers        []jobTrigger
	JobTargetRef    jobTarget
}

type scalingStrategy struct{ Strategy string }

type jobTrigger struct{ Metadata map[string]string }

type jobTarget struct {
	Parallelism, Completions int32
	BackoffLimit             *int32
	ActiveDeadlineSeconds    int64
}

// reads returns the fleet and the consumer that one of the triggers names; empty if none does.
func (j *scaledJob) reads() (fleet, batch string) {
	for _, t := range j.Triggers {
		if t.Metadata["fleet"] != "" {
			return t.Metadata["fleet"], t.Metadata["batch"]
		}
	}
	return "", ""
}

// checkScaledJobs: does batch work that starts by the metric of a fleet end before the members need its GPUs?
func checkScaledJobs(_ context.Context, _ *Doctor, s *state) (out []Finding) {
	readers := map[string]string{}
	for i := range s.scaledJobs {
		o := &s.scaledJobs[i]
		var job scaledJob
		spec, err := json.Marshal(o.Object["spec"])
		if err != nil || json.Unmarshal(spec, &job) != nil {
			continue // KEDA says so.
		}
		fleet, batch := job.reads()
		if fleet == "" {
			continue
		}
		name := o.GetNamespace() + "/" + o.GetName()
		f := Finding{Check: "ScaledJobs", Level: OK, Object: "ScaledJob " + name, Message: "its jobs end in time"}
		found, fixes := job.check(s.consumer(o.GetNamespace(), fleet, batch))
		key := strings.Join([]string{o.GetNamespace(), fleet, batch}, "/")
		if other := readers[key]; other != "" {
			found = append(found, "it reads the same metric as "+other+", so both use the same GPUs")
			fixes = append(fixes, "add a consumer for it to spec.batch of the GPUFleet")
		}
		readers[key] = name
		if len(found) > 0 {
			f.Level, f.Message = Error, "jobs may be in the way of the fleet's members: "+strings.Join(found, "; ")
			f.Remedy = humanize.List(fixes)
		}
		out = append(out, f)
	}
	return out
}

// check returns what is unsafe about the jobs of a consumer, and how to fix it. The consumer is nil if there is none.
func (j *scaledJob) check(of *manifest.FleetBatch) (found, fixes []string) {
	unsafe := func(fix, text string, args ...any) {
		found, fixes = append(found, fmt.Sprintf(text, args...)), append(fixes, fix)
	}
	if len(j.Triggers) > 1 {
		unsafe("remove the other triggers", "it has %d triggers, and KEDA ignores one whose value is 0",
			len(j.Triggers))
	}
	if strategy := j.ScalingStrategy.Strategy; strategy != "" && strategy != "default" {
		unsafe("remove spec.scalingStrategy", "the strategy %.64s does not subtract the jobs that run", strategy)
	}
	if j.MinReplicaCount > 0 {
		unsafe("set minReplicaCount: 0", "it always keeps %s", humanize.Plural(int(j.MinReplicaCount), "job"))
	}
	job := &j.JobTargetRef
	if pods := max(job.Parallelism, job.Completions); pods > 1 {
		unsafe("set parallelism and completions to 1", "a job has %d pods, and each pod is a replica", pods)
	}
	if job.BackoffLimit == nil || *job.BackoffLimit > 0 {
		unsafe("set backoffLimit: 0", "a failed job is started again, although no GPU may be spare")
	}
	if of == nil {
		fleet, batch := j.reads()
		const text = "no GPUFleet %.64q that you may read has the consumer %.64q"
		unsafe("correct fleet and batch of the trigger", text, fleet, batch)
	} else if seconds := int64(of.Run.Seconds()); job.ActiveDeadlineSeconds == 0 || job.ActiveDeadlineSeconds > seconds {
		fix := fmt.Sprintf("set activeDeadlineSeconds: %d", seconds)
		unsafe(fix, "nothing ends a job after the consumer's run of %s", humanize.Span(of.Run))
	}
	return found, fixes
}

// consumer returns a consumer of a valid fleet; nil if there is none.
func (s *state) consumer(namespace, fleet, batch string) *manifest.FleetBatch {
	at := slices.IndexFunc(s.fleets, func(f unstructured.Unstructured) bool {
		return f.GetNamespace() == namespace && f.GetName() == fleet
	})
	if at < 0 {
		return nil
	}
	object, err := manifest.FleetFromObject(s.fleets[at].Object)
	if err != nil {
		return nil
	}
	resolved, problems := manifest.ResolveFleet(object)
	i := slices.IndexFunc(resolved.Batch, func(b manifest.FleetBatch) bool { return b.Name == batch })
	if len(problems) > 0 || i < 0 {
		return nil
	}
	return &resolved.Batch[i]
}
