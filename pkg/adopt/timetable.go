package adopt

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/common/model"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/calendar/importer"
	"github.com/forewarm/forewarm/pkg/core/hpa"
	"github.com/forewarm/forewarm/pkg/manifest/autoscaler"
)

// kindCronHPA is Alibaba Cloud's object that sets the replicas of a workload, or of an HPA, at the times of a cron table.
const kindCronHPA = "CronHorizontalPodAutoscaler"

// timetable is a part of an autoscaler that keeps replicas at the times of a cron table.
type timetable struct {
	// workload is the workloadKey of the workload. object has the timetable, and text describes it in a sentence.
	workload, object, text string
	// event is what it becomes, of the forecast, which is empty if there is none. err says why it cannot be an event.
	event    v1alpha1.ForecastEvent
	forecast string
	err      error
}

// newTimetable completes a timetable. The replicas are kept from each time of a schedule until the next time of any of the others. If
// continues, they are kept although it begins again before that. KEDA keeps them only after the last start.
func newTimetable(t timetable, replicas, start string, ends []string, continues bool) *timetable {
	n, err := strconv.ParseInt(replicas, 10, 32)
	switch {
	case err != nil:
		t.err = fmt.Errorf("%.64q is not a number of replicas: correct it", replicas)
		return &t
	case n < 1:
		t.err = errors.New("it asks for no replicas, and a Forecast needs no event for this")
		return &t
	}
	found, err := importer.Timetable(start, ends, t.event.TimeZone, continues)
	found.Name, found.Replicas = t.event.Name, int32(n)
	t.event.Replicas, t.event.Start = found.Replicas, v1alpha1.EventTime(found.Start)
	t.event.Recurrence, t.event.Duration = found.Recurrence, v1alpha1.Duration(model.Duration(found.Duration).String())
	if t.err = err; err == nil {
		t.err = found.Check()
	}
	return &t
}

// keepTimetable says what to do with a timetable that has become an event.
const keepTimetable = " Keep it during shadow mode, in which events change no replicas, and remove it along with serve: Shadow."

// outcome says what became of a timetable.
func (t *timetable) outcome() string {
	if t.err != nil {
		return t.text + " It is not converted to an event: " + t.err.Error() + "."
	}
	return fmt.Sprintf("%s It is the event %q of the Forecast %s.", t.text, t.event.Name, t.forecast) + keepTimetable
}

// workloadKey identifies a workload among the timetables.
func workloadKey(namespace, kind, name string) string { return namespace + " " + kind + " " + name }

// cronTrigger reads a cron trigger of a ScaledObject.
func (c *converter) cronTrigger(o *unstructured.Unstructured, workload string, i int, m map[string]string) {
	text := fmt.Sprintf("triggers[%d] (cron) keeps %s replicas from %q to %q, %s.", i, m["desiredReplicas"], m["start"],
		m["end"], m["timezone"])
	out := timetable{workload: workload, object: objectName(o), text: text}
	out.event.Name, out.event.TimeZone = fmt.Sprintf("%s cron %d", o.GetName(), i), m["timezone"]
	c.timetables = append(c.timetables, newTimetable(out, m["desiredReplicas"], m["start"], []string{m["end"]}, false))
}

// cronJob is a job of a CronHorizontalPodAutoscaler. It sets the replicas at the times of a schedule.
type cronJob struct {
	Name, Schedule string
	TargetSize     int32
	RunOnce        bool
}

// recurring returns the jobs that recur, and leaves out the others.
func (c *converter) recurring(object string, all []cronJob) []cronJob {
	var out []cronJob
	for _, j := range all {
		if !j.RunOnce && !strings.HasPrefix(j.Schedule, "@date ") {
			out = append(out, j)
			continue
		}
		const once = "job %s sets %d replicas once, at %q: write an event that starts then"
		c.leave(object, "cron", fmt.Sprintf(once, j.Name, j.TargetSize, j.Schedule))
	}
	return out
}

// cronHPA reads the timetables of a CronHorizontalPodAutoscaler. The smallest size is the minimum of the autoscaler, and each larger size is
// kept until the next job.
func (c *converter) cronHPA(object *unstructured.Unstructured, all []*unstructured.Unstructured) {
	var s struct {
		ScaleTargetRef v1alpha1.TargetRef
		ExcludeDates   []string
		Jobs           []cronJob
	}
	spec, err := json.Marshal(object.Object["spec"])
	err = cmp.Or(err, json.Unmarshal(spec, &s))
	bySize := func(a, b cronJob) int { return cmp.Compare(a.TargetSize, b.TargetSize) }
	switch {
	case err != nil:
		c.leave(objectName(object), "", "it cannot be read: "+err.Error()+": correct it")
		return
	case len(s.Jobs) == 0:
		c.leave(objectName(object), "", "it has no jobs: delete it")
		return
	case len(s.ExcludeDates) > 0:
		c.leave(objectName(object), "", "it has excludeDates: write its events by hand, with these days in exceptOn")
		return
	}
	jobs := c.recurring(objectName(object), s.Jobs)
	switch {
	case len(jobs) == 0:
		return
	case slices.MinFunc(jobs, bySize).TargetSize == slices.MaxFunc(jobs, bySize).TargetSize:
		c.leave(objectName(object), "", "it always asks for one number of replicas: set minReplicas of the autoscaler")
		return
	}
	kind, workload, most := scaledBy(s.ScaleTargetRef, object.GetNamespace(), all)
	schedules := make([]string, len(jobs))
	for i := range jobs {
		schedules[i] = withoutSeconds(jobs[i].Schedule)
	}
	least := slices.MinFunc(jobs, bySize).TargetSize
	for i, job := range jobs {
		if job.TargetSize == least {
			continue
		}
		const text = "job %s sets %d replicas at %q. Its time zone is that of the controller: set timeZone if it is not UTC. The smallest " +
			"number, %d, is no event: set it as minReplicas of the autoscaler."
		one := timetable{
			workload: workloadKey(object.GetNamespace(), kind, workload), object: objectName(object),
			text: fmt.Sprintf(text, job.Name, job.TargetSize, job.Schedule, least),
		}
		if most > 0 && job.TargetSize > most {
			const raise = " The controller raises maxReplicas of the HPA to %d, and Forewarm does not: set it to at " +
				"least this number."
			one.text += fmt.Sprintf(raise, job.TargetSize)
		}
		one.event.Name = object.GetName() + " " + job.Name
		ends := slices.Delete(slices.Clone(schedules), i, i+1)
		replicas := strconv.Itoa(int(job.TargetSize))
		c.timetables = append(c.timetables, newTimetable(one, replicas, schedules[i], ends, true))
	}
}

// scaledBy returns the workload that a CronHorizontalPodAutoscaler scales. If it does so by an HPA, most is the maxReplicas of the HPA,
// otherwise 0.
func scaledBy(
	ref v1alpha1.TargetRef, namespace string, all []*unstructured.Unstructured,
) (kind, name string, most int32) {
	for _, other := range all {
		if ref.Kind != hpa.KindHPA || objectName(other) != hpa.KindHPA+" "+namespace+"/"+ref.Name {
			continue
		}
		if h, err := autoscaler.DecodeHPA(other); err == nil {
			return h.Spec.ScaleTargetRef.Kind, h.Spec.ScaleTargetRef.Name, h.Spec.MaxReplicas
		}
	}
	return ref.Kind, ref.Name, 0
}

// withoutSeconds returns a schedule of a CronHorizontalPodAutoscaler with the five fields of a cron table. It begins with the seconds, and
// the day of the week may be missing.
func withoutSeconds(schedule string) string {
	fields := strings.Fields(schedule)
	if strings.HasPrefix(schedule, "@") || len(fields) < 5 { //nolint:mnd // Seconds, minute, hour, day, month.
		return schedule
	}
	if len(fields) == 5 { //nolint:mnd // As above.
		fields = append(fields, "*")
	}
	return strings.Join(fields[1:], " ")
}

// leaveTimetables leaves out the timetables that no Forecast has.
func (c *converter) leaveTimetables() {
	for _, t := range c.timetables {
		switch text, err := json.Marshal(t.event); {
		case t.err != nil:
			c.leave(t.object, "cron", t.outcome())
		case t.forecast == "" && err == nil:
			const write = "%s No metric of its workload was converted: write a Forecast of the workload's demand, with " +
				"this event in spec.events: %s"
			c.leave(t.object, "cron", fmt.Sprintf(write, t.text, text))
		}
	}
}
