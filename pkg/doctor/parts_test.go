package doctor //nolint:testpackage // The parts are not exported.

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
)

var origin = time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)

// bundleUntil is a certificate that is valid for the thirty days before a time.
func bundleUntil(tb testing.TB, end time.Time) []byte {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: end.AddDate(0, 0, -30), NotAfter: end}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func TestVerified(t *testing.T) {
	t.Parallel()
	valid, soon := bundleUntil(t, origin.AddDate(0, 0, 20)), bundleUntil(t, origin.AddDate(0, 0, 5))
	over, early := bundleUntil(t, origin.AddDate(0, 0, -1)), bundleUntil(t, origin.AddDate(0, 0, 40))
	signers, err := parseBundle(valid)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		bundle   []byte
		insecure bool
		signers  []*x509.Certificate
		level    Level
		word     string
	}{
		{"the authority's own", valid, false, signers, OK, "until 2026-03-21"},
		{"alongside an older one that expired", append(append([]byte{}, over...), valid...), false, signers, OK, "until 2026-03-21"},
		{"unknown authority", valid, false, nil, OK, "valid"},
		{"another's", soon, false, signers, Error, "lacks"},
		{"none", nil, false, signers, Error, "no caBundle"},
		{"not verified", nil, true, signers, Warning, "insecureSkipTLSVerify"},
		{"garbage", []byte("hello"), false, signers, Error, "caBundle is invalid"},
		{"garbage behind a certificate", append(append([]byte{}, valid...), "hello"...), false, signers, Error, "caBundle is invalid"},
		{"it ends soon", soon, false, nil, Warning, "expire on 2026-03-06"},
		{"it has ended", over, false, nil, Error, "expired"},
		{"it has not begun", early, false, nil, Error, "not valid yet"},
	} {
		a := &apiService{}
		a.Spec.CABundle, a.Spec.InsecureSkipTLSVerify = c.bundle, c.insecure
		if got := verified(a, c.signers, origin); got.Level != c.level || !strings.Contains(got.Message, c.word) {
			t.Errorf("%s: %s, %q, want %s with %q", c.name, got.Level, got.Message, c.level, c.word)
		}
	}
}

// What stands in a caBundle or in a Secret was written by anybody.
func FuzzParseBundle(f *testing.F) {
	f.Add(bundleUntil(f, origin))
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"))
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseBundle(text)
		if (err == nil) != (len(got) > 0) || len(got) > maxCertificates {
			t.Errorf("%d certificates, %v", len(got), err)
		}
		if err != nil && len(err.Error()) > 1000 {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	})
}

// A document of any shape is an error or schemas, and comparing them ends.
func FuzzSchemas(f *testing.F) {
	f.Add([]byte(`{"components":{"schemas":{"a":{"properties":{"spec":{"properties":{"step":{}}}},
		"x-kubernetes-group-version-kind":[{"kind":"Forecast"}]}}}}`))
	f.Add([]byte(`{"components":{"schemas":{"a":{"items":{"items":{}},"properties":3}}}}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, text []byte) {
		schemas, err := parseSchemas(text)
		if err != nil {
			return
		}
		for _, s := range schemas {
			for kind, of := range kinds() {
				if len(lacking(s, of, "")) > 1000 {
					t.Errorf("%s lacks more fields than it has", kind)
				}
			}
		}
	})
}

func TestClocks(t *testing.T) {
	t.Parallel()
	at := func(seconds float64) time.Time { return origin.Add(time.Duration(seconds * float64(time.Second))) }
	for _, c := range []struct {
		name                 string
		other, before, after float64
		want                 time.Duration
	}{
		{"the same", 0, 0, .5, 0},
		{"within the second that HTTP cuts off", 10, 10.9, 11.1, 0},
		{"within the time that asking took", 3, 0, 8, 0},
		{"ahead", 60, 0, 1, 59 * time.Second},
		{"behind", 0, 61, 62, -60 * time.Second},
	} {
		if got := (measured{at(c.other), at(c.before), at(c.after)}).ahead(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := (measured{}).ahead(); got != 0 {
		t.Errorf("an unknown clock is %s ahead", got)
	}
}

func TestParseArgs(t *testing.T) {
	t.Parallel()
	got := parseArgs([]string{"serve", "--a=1=2", "--b", "x", "--c", "--d", "-v"})
	if diff := cmp.Diff(map[string]string{"a": "1=2", "b": "x", "c": "true", "d": "true"}, got); diff != "" {
		t.Error(diff)
	}
}

// The conditions that Forewarm writes are repeated with their reason, and what to do.
func TestStateOf(t *testing.T) {
	t.Parallel()
	is := func(kind string, status metav1.ConditionStatus, reason string) metav1.Condition {
		return metav1.Condition{Type: kind, Status: status, Reason: reason, Message: "numbers"}
	}
	ready := is("Ready", "True", "Ready")
	for _, c := range []struct {
		name       string
		conditions []metav1.Condition
		check      string
		level      Level
		words      []string
	}{
		{"ready", []metav1.Condition{ready, is("SourceHealthy", "True", "Answering")}, "", OK, nil},
		{"no status", nil, "Forecasts", Error, []string{"has not written a status"}},
		{
			"the source does not answer, and so it is stale",
			[]metav1.Condition{is("Ready", "False", "Stale"), is("SourceHealthy", "False", "Unavailable")},
			"Source", Error,
			[]string{"Unavailable: numbers", "--prometheus-url"},
		},
		{
			"no series",
			[]metav1.Condition{is("Ready", "False", "Pending"), is("SourceHealthy", "False", "NoSeries")},
			"Source", Error,
			[]string{"NoSeries", "--prometheus URL"},
		},
		{"falling back", []metav1.Condition{is("Ready", "False", "FallingBack")}, "Forecasts", Warning, []string{"FallingBack"}},
		{"stale", []metav1.Condition{is("Ready", "False", "Stale")}, "Forecasts", Error, []string{"Stale"}},
		{"warming", []metav1.Condition{is("Ready", "True", "Warming")}, "History", Warning, []string{"retention"}},
		{"clean", []metav1.Condition{ready, is("DataClean", "True", "x")}, "", OK, nil},
		{"suspect", []metav1.Condition{ready, is("DataClean", "False", "SuspectSample")}, "Forecasts", Warning, []string{"DataClean"}},
		{"saturated", []metav1.Condition{ready, is("Saturated", "True", "Censored")}, "Forecasts", Warning, []string{"Censored"}},
		{"uncalibrated", []metav1.Condition{ready, is("Uncalibrated", "True", "TargetUnknown")}, "Forecasts", Warning, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := &v1alpha1.Forecast{Status: v1alpha1.ForecastStatus{Conditions: c.conditions}}
			expectOne(t, new(state).stateOf(f), c.check, c.level, c.words...)
		})
	}
}

func TestAReportHasTheWorstFirst(t *testing.T) {
	t.Parallel()
	r := Report{
		Findings: []Finding{
			{Check: "a", Level: OK},
			{Check: "b", Level: Error},
			{Check: "c", Level: Warning},
			{Check: "d", Level: Error},
		},
	}
	r.sort()
	var order strings.Builder
	for _, f := range r.Findings {
		order.WriteString(f.Check)
	}
	if order.String() != "bdca" || r.Count(Error) != 2 {
		t.Errorf("%s, %d errors", &order, r.Count(Error))
	}
}

// A trigger that names no Forecast is reported whatever KEDA's status says; what could not be listed is not reported as missing.
func TestMissingInTriggers(t *testing.T) {
	t.Parallel()
	object := func(namespace, triggers string) *unstructured.Unstructured {
		o := &unstructured.Unstructured{}
		text := "apiVersion: keda.sh/v1alpha1\nkind: ScaledObject\nmetadata: {name: llama, namespace: " + namespace + "}\n" +
			"spec: {scaleTargetRef: {name: llama}, fallback: {failureThreshold: 3, replicas: 2}, triggers: [" + triggers + "]}\n" +
			`status: {conditions: [{type: Ready, status: "True"}, {type: Fallback, status: "True"}]}`
		if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
			t.Fatal(err)
		}
		return o
	}
	there := v1alpha1.Forecast{ObjectMeta: metav1.ObjectMeta{Name: "load", Namespace: "team"}}
	const right, wrong = `{type: external, metadata: {forecast: load}}`, `{type: external-push, metadata: {forecast: laod, target: "40"}}`
	for _, c := range []struct {
		name, namespace, triggers, listedIn string
		unlisted                            bool
		want                                []string
	}{
		{"it exists", "team", right, "", false, nil},
		{"it is misspelled", "team", wrong, "", false, []string{"laod"}},
		{"one of two is misspelled", "team", right + ", " + wrong, "", false, []string{"laod"}},
		{"another namespace has it", "other", right, "", false, []string{"load"}},
		{"there is no Forecast in its namespace", "empty", wrong, "", false, []string{"laod"}},
		{"another scaler", "team", `{type: cron, metadata: {timezone: UTC}}`, "", false, nil},
		{"Forecasts may not be listed", "team", wrong, "", true, nil},
		{"Forecasts of one namespace were listed, this one", "team", wrong, "team", false, []string{"laod"}},
		{"Forecasts of one namespace were listed, another one", "other", right, "team", false, nil},
	} {
		s := &state{listed: !c.unlisted, listedIn: c.listedIn, forecasts: []v1alpha1.Forecast{there}}
		found := s.missingInTriggers(object(c.namespace, c.triggers))
		var got []string
		for _, f := range found {
			_, after, _ := strings.Cut(f.Message, "reads the Forecast ")
			name, _, _ := strings.Cut(after, ",")
			got = append(got, name)
			if f.Level != Error || f.Object != "ScaledObject "+c.namespace+"/llama" || f.Remedy == "" {
				t.Errorf("%s: %+v", c.name, f)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// A budget of few days is short for bad hours.
func TestAShortPeriodOfBadHoursIsAWarning(t *testing.T) {
	t.Parallel()
	f := &v1alpha1.Forecast{Status: v1alpha1.ForecastStatus{Conditions: []metav1.Condition{
		{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready"},
	}}}
	f.Spec.Objective = &v1alpha1.Objective{BadHours: "1%", Over: "2d"}
	expectOne(
		t,
		new(state).stateOf(f),
		"Forecasts",
		Warning,
		"spec.objective: the budget's period (over) is 2 days, which is too short for badHours",
		"at least 7d",
	)
	f.Spec.Objective.Over = ""
	expectOne(t, new(state).stateOf(f), "", OK)
}
