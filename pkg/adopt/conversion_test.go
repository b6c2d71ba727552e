package adopt_test

import (
	"strings"
	"testing"

	"github.com/forewarm/forewarm/pkg/adopt"
)

// adapterRules give one metric of pods and one external metric.
const adapterRules = `
rules:
- seriesQuery: 'vllm:num_requests_running{namespace!="",pod!=""}'
  resources: {template: <<.Resource>>}
  name: {matches: ".*", as: running}
  metricsQuery: sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)
externalRules:
- seriesQuery: queue_depth{namespace!=""}
  resources: {overrides: {team: {resource: namespace}}}
  metricsQuery: max(<<.Series>>{<<.LabelMatchers>>})
`

// hpaOf is an HPA of a Deployment of the same name, on metrics as they are written in YAML.
func hpaOf(name, metrics string) string {
	return `
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: ` + name + `, labels: {app: chat}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: ` + name + `}
  maxReplicas: 9
  metrics: [` + metrics + "]\n"
}

// scaledObjectOf is a ScaledObject on triggers, and further fields of its spec.
func scaledObjectOf(triggers, further string) string {
	return `
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: chat}
spec:
  scaleTargetRef: {name: chat}
  triggers: [` + triggers + "]\n" + further
}

const (
	onQueue = `{type: External, external: {metric: {name: queue_depth}, target: {type: AverageValue, averageValue: 30}}}`
	onPods  = `{type: Pods, pods: {metric: {name: running}, target: {type: AverageValue, averageValue: 8}}}`
	onCPU   = `{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}`
	cron    = `{type: cron, metadata: {start: 0 8 * * *, end: 0 18 * * *, timezone: UTC, desiredReplicas: "5"}}`
)

// onQuery is a prometheus trigger; the threshold and further fields follow its query.
func onQuery(query, further string) string {
	return `{type: prometheus, metadata: {serverAddress: "http://u:secret@prom:9090", query: '` + query + `', ` + further + "}}"
}

func convert(t *testing.T, rules, manifests string, series ...string) adopt.Conversion {
	t.Helper()
	cfg := adopt.ConvertConfig{TenantLabel: "namespace", Series: series}
	if rules != "" {
		var err error
		if cfg.Rules, err = adopt.ReadRules("rules.yaml", []byte(rules)); err != nil {
			t.Fatal(err)
		}
	}
	found := &adopt.Objects{}
	found.AddManifest("all.yaml", []byte(manifests), "team", adopt.AutoscalerKinds())
	return adopt.Convert(cfg, found)
}

// Each metric becomes a Forecast, or it is left out with what to do.
func TestConvert(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		manifests string
		// converted are the objects in order, with texts of their manifests and reasons; leftOut texts of what is left out.
		converted, written, leftOut []string
	}{
		"an HPA with several metrics": {
			manifests: hpaOf("chat", onQueue+","+onPods+","+onCPU),
			converted: []string{
				"Forecast team/chat-queue-depth", "Forecast team/chat-running", "HorizontalPodAutoscaler team/chat after",
			},
			written: []string{
				`query: max(queue_depth{team="team"})`, "metric: queue_depth", "serve: Shadow", `target: "30"`,
				`query: sum(sum by (pod) (vllm:num_requests_running{namespace="team",pod=~"chat-[a-z0-9]+-[a-z0-9]{5}"}))`,
				"name: chat-running", "app: chat", "averageUtilization: 80",
				"metrics[1] was the Pods metric running. The Forecast is its sum",
				`Not every selector in the query has namespace="team"`,
			},
			leftOut: []string{"Resource metric: it comes from metrics-server"},
		},
		"an object metric": {
			manifests: hpaOf("chat", `{type: Object, object: {metric: {name: running}, describedObject: {apiVersion: v1, kind: Pod, `+
				`name: chat-0}, target: {type: AverageValue, averageValue: 8}}}`),
			converted: []string{"Forecast team/chat-running", "HorizontalPodAutoscaler team/chat after"},
			written:   []string{`pod="chat-0"`},
		},
		"two HPAs of one workload": {
			manifests: hpaOf("chat", onQueue) + strings.Replace(hpaOf("chat", onPods), "name: chat,", "name: other,", 1),
			leftOut: []string{
				"HorizontalPodAutoscaler team/chat: : the Deployment team/chat is used by the HPAs chat and other: keep one",
				"HorizontalPodAutoscaler team/other: : the Deployment",
			},
		},
		"two HPAs that ask for one external metric": {
			manifests: hpaOf("chat", onQueue) + hpaOf("code", onQueue),
			leftOut: []string{
				"team/chat: : the External metric queue_depth in namespace team",
				"is used by the HPAs chat and code: write a Forecast for each Deployment, and let each HPA read its own",
			},
		},
		"a metric without a rule": {
			manifests: hpaOf("chat", strings.Replace(onQueue, "queue_depth", "other", 1)),
			leftOut:   []string{"External metric other: no rule produces it"},
		},
		"a target of another type": {
			manifests: hpaOf("chat", strings.Replace(onQueue, "type: AverageValue, averageValue", "type: Value, value", 1)),
			leftOut:   []string{"its target is not of type AverageValue"},
		},
		"pods without a pattern": {
			manifests: strings.Replace(hpaOf("chat", onPods), "kind: Deployment", "kind: Rollout", 1),
			leftOut:   []string{"the names of its pods cannot be derived from the workload's name"},
		},
		"selectors": {
			manifests: hpaOf("chat", strings.Replace(onQueue, "queue_depth}", `queue_depth, selector: {matchLabels: {b: "2"}, `+
				`matchExpressions: [{key: a, operator: In, values: ["1"]}]}}`, 1)) +
				hpaOf("code", strings.Replace(onQueue, "queue_depth}", `queue_depth, selector: {matchExpressions: [{key: a, `+
					`operator: In, values: ["1", "2"]}]}}`, 1)),
			converted: []string{"Forecast team/chat-queue-depth"},
			written:   []string{`max(queue_depth{a="1",b="2",team="team"})`},
			leftOut:   []string{`"a" does not select a single value`},
		},
		"an HPA that cannot be read, and KEDA's own": {
			manifests: strings.Replace(hpaOf("chat", onQueue), "autoscaling/v2", "autoscaling/v1", 1) + strings.Replace(
				hpaOf("keda", onQueue), "labels:", "ownerReferences: [{apiVersion: keda.sh/v1alpha1, kind: ScaledObject, name: x}], labels:", 1),
			leftOut: []string{"it cannot be read: it is not of autoscaling/v2"},
		},
		"a prometheus trigger and a timetable": {
			manifests: scaledObjectOf(onQuery(`sum(rate(requests{namespace=~"team"}[2m]))`, `threshold: "64"`)+","+cron, ""),
			converted: []string{"Forecast team/chat-0", "ScaledObject team/chat after"},
			written: []string{
				`query: sum(rate(requests{namespace="team"}[2m]))`, "type: external-push", "forecast: chat-0", "kind: Deployment",
				"http://prom:9090", "triggers[0] (prometheus) reads the Forecast chat-0",
				`triggers[1] (cron) keeps 5 replicas from "0 8 * * *" to "0 18 * * *", UTC.`, `desiredReplicas: "5"`,
				"duration: 10h", "name: chat cron 1", "recurrence: FREQ=DAILY;BYHOUR=8;BYMINUTE=0", "replicas: 5", "timeZone: UTC",
				`It is the event "chat cron 1" of the Forecast chat-0. Keep it during shadow mode`,
			},
		},
		"a timetable alone": {
			manifests: scaledObjectOf(cron, ""),
			leftOut:   []string{"ScaledObject team/chat: cron: triggers[0] (cron) keeps 5 replicas"},
		},
		"a threshold that is no text": {
			manifests: scaledObjectOf(onQuery("sum(a)", "threshold: 1"), ""),
			leftOut:   []string{`it cannot be read: threshold of triggers[0] is not a string: write it in quotes, threshold: "1"`},
		},
		"several objects of one name": {
			manifests: scaledObjectOf(onQuery("a offset 1w", `threshold: "1"`), "") + scaledObjectOf(onQuery("b", `threshold: "1"`), ""),
			converted: []string{
				"Forecast team/chat-0", "ScaledObject team/chat after", "Forecast team/chat-0-2", "ScaledObject team/chat after",
			},
			written: []string{"query: sum(a)", "query: sum(b)", "offset 1w is removed from the query", "forecast: chat-0-2"},
		},
		"triggers that are not converted": {
			manifests: scaledObjectOf(strings.Join([]string{
				onQuery("sum(a)", "threshold: many"), onQuery("sum(a)", `threshold: "1e9999999"`), onQuery("sum(", `threshold: "1"`),
				onQuery("a + a offset 1w", `threshold: "1"`), "{type: cpu}", "{type: external, metadata: {forecast: x}}",
				strings.Replace(onQuery("a", `threshold: "1"`), "{type:", "{metricType: Value, type:", 1),
			}, ","), ""),
			leftOut: []string{
				"triggers[0] (prometheus): its threshold", "triggers[1] (prometheus): its threshold \"1e9999999\" is not from 0.001",
				"triggers[2] (prometheus): its query is not valid PromQL", "triggers[3] (prometheus): its query combines several operands",
				"triggers[4] (cpu): it does not read from Prometheus", "triggers[6] (prometheus): its target of type Value",
			},
		},
		"what stays as it is": {
			manifests: strings.Replace(hpaOf("chat", onPods), "labels:", "annotations: {owner: me, "+
				"kubectl.kubernetes.io/last-applied-configuration: secret}, labels:", 1) + strings.Replace(
				scaledObjectOf(strings.Replace(onQuery("a", `threshold: "1"`), "{type:", "{useCachedMetrics: true, type:", 1), ""),
				"{name: chat}", `{name: chat, annotations: {autoscaling.keda.sh/paused-replicas: "4"}}`, 1),
			converted: []string{
				"Forecast team/chat-0", "ScaledObject team/chat after", "Forecast team/chat-running", "HorizontalPodAutoscaler team/chat after",
			},
			written: []string{"  annotations:\n    owner: me\n", `paused-replicas: "4"`, "useCachedMetrics: true"},
		},
		"predictions that are not converted": {
			manifests: scaledObjectOf(`{type: predictkube, metricType: Value, metadata: {query: sum(x), threshold: "5"}}, `+
				`{type: predictkube, metadata: {query: sum(x), threshold: "0"}}`, ""),
			leftOut: []string{
				"triggers[0] (predictkube): its target of type Value", `triggers[1] (predictkube): its threshold "0" is not from 0.001`,
			},
		},
		"a formula of predictions": {
			manifests: scaledObjectOf(`{type: predictkube, metadata: {query: sum(a), threshold: "1"}}`,
				"  advanced: {scalingModifiers: {formula: a + b}}\n"),
			leftOut: []string{"its scalingModifiers compute another value from its triggers"},
		},
		"a formula": {
			manifests: scaledObjectOf(onQuery("sum(a)", `threshold: "1"`), "  advanced: {scalingModifiers: {formula: a + b}}\n"),
			leftOut:   []string{"its scalingModifiers compute another value from its triggers"},
		},
		"documents that are no autoscalers": {
			manifests: "apiVersion: v1\nkind: Service\nmetadata: {name: x}\n---\nkind: List\nitems: []\n---\n" +
				"kind: ScaledObject\nmetadata: {name: ../x}\n---\nkind: [\n",
			leftOut: []string{"a list without items", "its name or namespace is not valid in Kubernetes", "is not YAML"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := convert(t, adapterRules, c.manifests)
			var objects, leftOut []string
			var text strings.Builder
			for _, d := range got.Converted {
				object := d.Object
				if d.After {
					object += " after"
				}
				objects = append(objects, object)
				text.WriteString(d.Manifest + strings.Join(d.Why, "\n") + "\n")
			}
			for _, l := range got.LeftOut {
				leftOut = append(leftOut, l.Object+": "+l.Metric+": "+l.Reason)
			}
			if strings.Join(objects, ", ") != strings.Join(c.converted, ", ") || len(leftOut) != len(c.leftOut) {
				t.Fatalf("converted %q, want %q; left out %q, want %q", objects, c.converted, leftOut, c.leftOut)
			}
			for i, want := range c.leftOut {
				if !strings.Contains(leftOut[i], want) {
					t.Errorf("left out %q, want %q", leftOut[i], want)
				}
			}
			for _, want := range c.written {
				if !strings.Contains(text.String(), want) {
					t.Errorf("%q is missing:\n%s", want, text.String())
				}
			}
			if strings.Contains(text.String(), "secret") {
				t.Errorf("a password is written:\n%s", text.String())
			}
		})
	}
}

// Of several rules the one of a series that exists counts; one whose series is not known does not.
func TestConvertBySeries(t *testing.T) {
	t.Parallel()
	const twice = `
externalRules:
- {seriesQuery: a_total, name: {matches: ^.*$, as: queue_depth}, metricsQuery: "sum(<<.Series>>{<<.LabelMatchers>>})", resources: {namespaced: false}}
- {seriesQuery: b_total, name: {matches: ^.*$, as: queue_depth}, metricsQuery: "sum(<<.Series>>{<<.LabelMatchers>>})", resources: {namespaced: false}}
`
	const several = "several rules could produce it, externalRules[0] from the series a_total, " +
		"externalRules[1] from the series b_total"
	got := convert(t, twice, hpaOf("chat", onQueue))
	if len(got.LeftOut) != 1 || !strings.Contains(got.LeftOut[0].Reason, several) {
		t.Errorf("left out %+v", got.LeftOut)
	}
	got = convert(t, twice, hpaOf("chat", onQueue), "b_total", "c_total")
	if len(got.LeftOut) > 0 || len(got.Converted) != 1 ||
		!strings.Contains(got.Converted[0].Manifest, "query: sum(b_total)") {
		t.Errorf("converted %+v, left out %+v", got.Converted, got.LeftOut)
	}
}

// A rule that prometheus-adapter could not apply is left out, and the others stay.
func TestConvertBrokenRules(t *testing.T) {
	t.Parallel()
	got := convert(t, `
resourceRules: {cpu: {}}
rules:
- {seriesQuery: "a{", metricsQuery: x}
- {seriesQuery: a, seriesFilters: [{is: x, isNot: y}], metricsQuery: x}
- {seriesQuery: a, name: {matches: "("}, metricsQuery: x}
- {seriesQuery: a, name: {matches: "(a)(b)"}, metricsQuery: x}
- {seriesQuery: a, resources: {template: "<<"}, metricsQuery: x}
- {seriesQuery: a}
- {seriesQuery: a, metricsQuery: "<<range .Series>>x<<end>>"}
- {seriesQuery: a, metricsQuery: a}
`, "")
	want := []string{
		"its seriesQuery is not a selector",
		"a filter in seriesFilters does not have exactly one valid regular expression",
		"its name.matches: ",
		"its name.as is missing",
		"its resources.template: ",
		"its metricsQuery is missing",
		"its metricsQuery: ",
		"Forewarm does not serve CPU and memory",
	}
	if len(got.LeftOut) != len(want) {
		t.Fatalf("left out %+v", got.LeftOut)
	}
	for i, l := range got.LeftOut {
		if !strings.Contains(l.Reason, want[i]) {
			t.Errorf("%s: %q, want %q", l.Object, l.Reason, want[i])
		}
	}
}

// A configuration is read from its own file, or from the ConfigMap with it; there is one.
func TestReadRules(t *testing.T) {
	t.Parallel()
	inMap := "kind: ConfigMap\ndata: {config.yaml: 'rules: [{seriesQuery: a, metricsQuery: a}]'}\n"
	for text, want := range map[string]string{
		"": "0 configurations", inMap: "", inMap + "---\n" + adapterRules: "2 configurations", "kind: Service": "0 configurations",
		"rules: [": "is not YAML", "rules: 5": "rules.yaml:1: rules: ", "kind: ConfigMap\ndata: {x: {y: z}}": "rules.yaml:1",
		"rules: [" + strings.Repeat("{seriesQuery: a},", 1001) + "]": "1001 rules, but convert reads at most 1000",
		"kind: ConfigMap\ndata: {config.yaml: 'rules: ['}":           "is not YAML",
	} {
		_, err := adopt.ReadRules("rules.yaml", []byte(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60q: %v, want %q", text, err, want)
		}
	}
}

// Nothing of a trigger is lost: what a Forecast and its trigger do not have is said, without what may be secret.
func TestNothingOfATriggerIsLost(t *testing.T) {
	t.Parallel()
	const trigger = `{type: prometheus, name: load, authenticationRef: {name: mimir-auth}, metadata: {serverAddress: "http://mimir", ` +
		`query: "sum(x{namespace=\"team\"}) or vector(0)", threshold: "10", activationThreshold: "5.5", customHeaders: "X-Scope-OrgID=team-a,` +
		`Authorization=Bearer hush", queryParameters: "dedup=true,api_key=hush", ignoreNullValues: "false", unsafeSsl: "true", odd: "1"}}`
	got := convert(t, "", scaledObjectOf(trigger, ""))
	if len(got.Converted) != 2 || len(got.LeftOut) != 0 {
		t.Fatalf("%+v", got)
	}
	why, after := strings.Join(got.Converted[0].Why, "\n"), got.Converted[1].Manifest
	for _, want := range []string{
		"customHeaders X-Scope-OrgID=team-a,Authorization=… selects the data", "queryParameters dedup=true,api_key=… selects",
		"authenticationRef mimir-auth has the credentials with which KEDA reads", "ignoreNullValues false says what an empty result means",
		"unsafeSsl true is a connection setting", "odd 1 is not converted: compare its effect with docs/keda.md",
		"remove `or vector(0)`",
	} {
		if !strings.Contains(why, want) {
			t.Errorf("%q is not said:\n%s", want, why)
		}
	}
	if strings.Contains(why+after, "hush") {
		t.Errorf("a secret is told:\n%s\n%s", why, after)
	}
	for _, want := range []string{`activation: "5.5"`, "name: load", `target: "10"`} {
		if !strings.Contains(after, want) {
			t.Errorf("%q is missing:\n%s", want, after)
		}
	}
	if text := strings.Join(got.Converted[1].Why, "\n"); !strings.Contains(text, "or you pay for the headroom twice") {
		t.Error(text)
	}
}

// Another trigger that reads a Prometheus is converted, and what is no demand is left out with what to do.
func TestOtherTriggers(t *testing.T) {
	t.Parallel()
	const predict = `{type: predictkube, metadata: {prometheusAddress: "http://prom", query: "sum(x)", threshold: "2.5", predictHorizon: 2h, ` +
		`historyTimeWindow: 7d, queryStep: 2m}}`
	got := convert(t, "", scaledObjectOf(predict, ""))
	if len(got.Converted) != 2 || !strings.Contains(got.Converted[0].Manifest, `target: 2500m`) ||
		!strings.Contains(strings.Join(got.Converted[0].Why, "\n"), "predictHorizon 2h is not needed") {
		t.Errorf("%+v", got)
	}
	got = convert(t, "", scaledObjectOf(onQuery("sum(a) / sum(b)", `threshold: "2"`), ""))
	if len(got.LeftOut) != 1 ||
		!strings.Contains(got.LeftOut[0].Reason, "is a ratio of two series, which is not a demand") {
		t.Errorf("%+v", got)
	}
	got = convert(t, "", scaledObjectOf(onQuery("sum(a) / 60", `threshold: "2"`), ""))
	if len(got.LeftOut) != 0 {
		t.Errorf("a constant divisor is left out: %+v", got.LeftOut)
	}
	got = convert(t, "", "apiVersion: keda.sh/v1alpha1\nkind: ScaledJob\nmetadata: {name: batch}\nspec: {}\n")
	if len(got.LeftOut) != 1 || !strings.Contains(got.LeftOut[0].Reason, "it starts jobs") {
		t.Errorf("%+v", got)
	}
}

// A rule with a constant name gives that metric alone, its series may be a literal pattern or one of --series, and the values of the
// adapter's chart are rules, too.
func TestConstantNamesAndChartValues(t *testing.T) {
	t.Parallel()
	const query = "metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>})', resources: {namespaced: false}"
	const lag = `{type: External, external: {metric: {name: lag_sum}, target: {type: AverageValue, averageValue: 30}}}`
	for name, c := range map[string]struct {
		rules  string
		series []string
		want   string
	}{
		"a literal pattern": {`externalRules: [{seriesQuery: '{__name__=~"lag_sum"}', name: {matches: lag_sum, as: lag_sum}, ` + query + `}]`, nil, "sum(lag_sum)"},
		"another rule with a constant name": {
			`externalRules: [{seriesQuery: '{__name__=~"^lag_sum$"}', ` + query + `}, {seriesQuery: '{__name__=~"^other_total$"}', ` +
				`name: {matches: ^other_total$, as: other_rate}, ` + query + `}, {seriesQuery: '{__name__=~"^any_.*"}', ` +
				`name: {matches: ^any_.*$, as: any}, ` + query + `}]`, nil, "sum(lag_sum)",
		},
		"another rule with literal parts": {
			`externalRules: [{seriesQuery: lag_sum, ` + query + `}, {seriesQuery: '{__name__=~"^.+_total$"}', ` +
				`name: {matches: "^(.+)_(requests|calls)_total$", as: "${1}_per_second"}, ` + query + `}]`, nil, "sum(lag_sum)",
		},
		"a series that is known": {
			`externalRules: [{seriesQuery: '{__name__=~"^kafka_.*"}', name: {matches: ^kafka_.*$, as: lag_sum}, ` + query + `}]`,
			[]string{"kafka_lag", "queue"},
			"sum(kafka_lag)",
		},
		"the chart's values": {
			`{prometheus: {url: http://prom}, rules: {default: false, resource: {}, external: [{seriesQuery: lag_sum, ` + query + `}]}}`, nil, "sum(lag_sum)",
		},
	} {
		got := convert(t, c.rules, hpaOf("w", lag), c.series...)
		if len(got.Converted) != 1 || len(got.LeftOut) != 0 ||
			!strings.Contains(got.Converted[0].Manifest, "query: "+c.want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	got := convert(t, "rules: {external: []}", hpaOf("w", lag))
	if len(got.LeftOut) != 2 || !strings.Contains(got.LeftOut[0].Reason, "the chart adds default rules") {
		t.Errorf("%+v", got.LeftOut)
	}
}
