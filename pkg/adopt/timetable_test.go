package adopt_test

import (
	"fmt"
	"strings"
	"testing"
)

// cronHPAOf is a timetable of a target. The second number of replicas is the smallest one.
func cronHPAOf(target, up, further string) string {
	const schedules = "{name: %s, schedule: 0 0 %d * * 1-5, targetSize: %s}"
	jobs := fmt.Sprintf(schedules+", "+schedules+", "+schedules, "up", 8, up, "down", 18, "2", "noon", 12, "12")
	return "\n---\napiVersion: autoscaling.alibabacloud.com/v1beta1\nkind: CronHorizontalPodAutoscaler\nmetadata: {name: office}\n" +
		"spec: {scaleTargetRef: {apiVersion: any, kind: " + target + ", name: chat}, jobs: [" + jobs + "]" + further + "}\n"
}

// Timetables become events of the workload's first Forecast, or they are left out with what to do.
func TestTimetables(t *testing.T) {
	t.Parallel()
	office := cronHPAOf("HorizontalPodAutoscaler", "9", "")
	onDemand := onQuery("sum(a)", `threshold: "64"`) + ","
	for manifests, want := range map[string][]string{
		hpaOf("chat", onQueue) + office: {
			"name: office up", "replicas: 9", "duration: 4h", "name: office noon", "duration: 6h", "replicas: 12", "left out []",
			"team/office, job up sets 9 replicas", "The smallest number, 2, is no event", "remove it along with serve: Shadow",
		},
		cronHPAOf("Deployment", "9", ""): {
			`No metric of its workload was converted`, `in spec.events: {"name":"office up","start":"2025-01-01"`, `"replicas":9}`,
		},
		hpaOf("chat", onQueue) + cronHPAOf("HorizontalPodAutoscaler", "9, runOnce: true", ""): {
			`job up sets 9 replicas once, at "0 0 8 * * 1-5": write an event`, "name: office noon", "duration: 6h",
		},
		hpaOf("chat", onQueue) + cronHPAOf("HorizontalPodAutoscaler", "40", ""): {
			"at \"0 0 8 * * 1-5\".", "raises maxReplicas of the HPA to 40, and Forewarm does not: set it to at least",
		},
		// The controller reads five fields as seconds, minute, hour, day and month.
		hpaOf("chat", onQueue) + strings.ReplaceAll(office, " * * 1-5", " * *"): {
			"FREQ=DAILY;BYHOUR=8;BYMINUTE=0\n", "duration: 4h", "duration: 6h",
		},
		hpaOf("chat", onQueue) + strings.Replace(office, "0 0 12 * * 1-5", "'@date 2026-10-27 21:54:00'", 1): {
			`job noon sets 12 replicas once, at "@date`, "duration: 10h", "name: office up",
		},
		hpaOf("chat", onQueue) + strings.Replace(office, "noon", "up", 1): {
			"Forecast team/chat-queue-depth", "duration: 4h",
			"to an event: the Forecast chat-queue-depth already has an event of this name",
		},
		cronHPAOf("Deployment", "9", ", excludeDates: ['* * * 1 1 *']"):           {"it has excludeDates: write"},
		cronHPAOf("Deployment", "many", ""):                                       {"it cannot be read: "},
		strings.ReplaceAll(cronHPAOf("Deployment", "2", ""), "12}", "2}"):         {"set minReplicas of the autoscaler"},
		scaledObjectOf(onDemand+strings.Replace(cron, "0 18 *", "0 18 1", 1), ""): {"to an event: it begins again before it ends"},
		scaledObjectOf(onDemand+strings.Replace(cron, `"5"`, `"0"`, 1), ""):       {"it asks for no replicas"},
		// The other triggers are converted, whatever is wrong with a timetable.
		scaledObjectOf(onDemand+strings.Replace(cron, `"5"`, `"99999"`, 1), ""): {
			"Forecast team/chat-0", "to an event: replicas 99999: write a whole number from 1",
		},
		scaledObjectOf(onDemand+strings.Replace(cron, `"5"`, "five", 1), ""): {
			"Forecast team/chat-0", `to an event: "five" is not a number`,
		},
		scaledObjectOf(onDemand+strings.Replace(cron, "UTC", "Mars/Base", 1), ""): {
			"Forecast team/chat-0", `to an event: timeZone "Mars/Base": write a name of the time zone database`,
		},
		scaledObjectOf(onDemand+strings.Replace(cron, "0 18 *", "0 8 *", 1), ""): {
			"Forecast team/chat-0", "it begins and ends at the same times",
		},
		scaledObjectOf(onDemand+strings.Repeat(cron+",", 40), ""): {
			"name: chat cron 32\n", "triggers[33]", "to an event: the Forecast chat-0 already has 32 events",
		},
	} {
		got := convert(t, adapterRules, manifests)
		text := fmt.Sprint(got.Converted, "left out ", got.LeftOut)
		for _, part := range want {
			if !strings.Contains(text, part) {
				t.Errorf("%q is missing:\n%s", part, text)
			}
		}
	}
}
