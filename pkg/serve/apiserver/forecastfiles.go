package apiserver

import (
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/forewarm/forewarm/pkg/api/v1alpha1"
	"github.com/forewarm/forewarm/pkg/core/snapshot"
)

// ForecastFiles are the Forecasts that a standalone server has from files.
type ForecastFiles interface {
	// Objects returns the Forecasts that can be read, by namespace and name.
	Objects() []v1alpha1.Forecast
	// SetPaused pauses or resumes a Forecast until the process ends. It reports whether the Forecast exists.
	SetPaused(key snapshot.Key, paused bool) bool
}

// forecastsResource is the resource of Forecasts.
func forecastsResource() schema.GroupResource {
	return v1alpha1.GroupVersion().WithResource("forecasts").GroupResource()
}

// forecastsGroup is the API group of the Forecasts, for discovery.
func forecastsGroup() metav1.APIGroup {
	version := metav1.GroupVersionForDiscovery{
		GroupVersion: v1alpha1.GroupVersion().String(), Version: v1alpha1.GroupVersion().Version,
	}
	return metav1.APIGroup{
		TypeMeta: metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}, Name: v1alpha1.GroupVersion().Group,
		Versions: []metav1.GroupVersionForDiscovery{version}, PreferredVersion: version,
	}
}

// maxPatch is larger than any patch that is accepted, in bytes.
const maxPatch = 1 << 10

// withForecasts serves the Forecasts from files under the same paths as a cluster, so that doctor, pause and resume need no cluster. Only
// the annotation that pauses a Forecast can be written.
func withForecasts(files ForecastFiles, next http.Handler) http.Handler {
	if files == nil {
		return next
	}
	group := "/apis/" + v1alpha1.GroupVersion().Group
	version := "/apis/" + v1alpha1.GroupVersion().String()
	f := forecastFiles{files}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+group, func(w http.ResponseWriter, _ *http.Request) { writeObject(w, forecastsGroup()) })
	mux.HandleFunc("GET "+version, func(w http.ResponseWriter, _ *http.Request) {
		writeObject(w, metav1.APIResourceList{
			TypeMeta: metav1.TypeMeta{
				Kind:       "APIResourceList",
				APIVersion: "v1",
			},
			GroupVersion: v1alpha1.GroupVersion().String(),
			APIResources: []metav1.APIResource{
				{
					Name:         "forecasts",
					SingularName: "forecast",
					Kind:         "Forecast",
					Namespaced:   true,
					ShortNames:   []string{"fc"},
					Verbs:        metav1.Verbs{"get", "list", "patch"},
				},
			},
		})
	})
	mux.HandleFunc("GET "+version+"/forecasts", f.list)
	mux.HandleFunc("GET "+version+"/namespaces/{namespace}/forecasts", f.list)
	mux.HandleFunc("GET "+version+"/namespaces/{namespace}/forecasts/{name}", f.get)
	mux.HandleFunc("PATCH "+version+"/namespaces/{namespace}/forecasts/{name}", f.patch)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" && strings.HasPrefix(r.URL.Path, group) {
			mux.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

type forecastFiles struct{ ForecastFiles }

// list answers with the Forecasts of a namespace, or of all.
func (f forecastFiles) list(w http.ResponseWriter, r *http.Request) {
	namespace := r.PathValue("namespace")
	out := v1alpha1.ForecastList{
		TypeMeta: metav1.TypeMeta{Kind: "ForecastList", APIVersion: v1alpha1.GroupVersion().String()},
		Items:    []v1alpha1.Forecast{},
	}
	for _, object := range f.Objects() {
		if namespace == "" || object.Namespace == namespace {
			out.Items = append(out.Items, object)
		}
	}
	writeObject(w, out)
}

// get answers with one Forecast.
func (f forecastFiles) get(w http.ResponseWriter, r *http.Request) {
	for _, object := range f.Objects() {
		if object.Namespace == r.PathValue("namespace") && object.Name == r.PathValue("name") {
			writeObject(w, object)
			return
		}
	}
	writeStatus(w, apierrors.NewNotFound(forecastsResource(), printableName(r)))
}

// patch pauses or resumes one Forecast.
func (f forecastFiles) patch(w http.ResponseWriter, r *http.Request) {
	paused, err := readPausePatch(w, r)
	if err != nil {
		writeStatus(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	key := snapshot.Key{Namespace: r.PathValue("namespace"), Name: r.PathValue("name")}
	if r.URL.Query().Get("dryRun") == "" && !f.SetPaused(key, paused) {
		writeStatus(w, apierrors.NewNotFound(forecastsResource(), printableName(r)))
		return
	}
	f.get(w, r)
}

// printableName returns the name in a path, shortened for a message.
func printableName(r *http.Request) string {
	quoted := strconv.Quote(r.PathValue("name"))
	return fmt.Sprintf("%.64s", quoted[1:len(quoted)-1])
}

// pausePatch is the only patch that is accepted. An annotation that is null in annotationsPatch is removed.
type (
	pausePatch struct {
		Metadata annotationsPatch `json:"metadata"`
	}
	annotationsPatch struct {
		Annotations map[string]*string `json:"annotations"`
	}
)

// readPausePatch reads whether a patch pauses or resumes. Anything else is an error.
func readPausePatch(w http.ResponseWriter, r *http.Request) (paused bool, err error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != string(types.MergePatchType) {
		return false, fmt.Errorf("the Content-Type %.64q is not supported: send a merge patch (%s)",
			r.Header.Get("Content-Type"), types.MergePatchType)
	}
	var patch pausePatch
	decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxPatch))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(&patch)
	value, named := patch.Metadata.Annotations[v1alpha1.PauseAnnotation]
	if err != nil || !named || len(patch.Metadata.Annotations) != 1 {
		return false, errors.New(
			"only metadata.annotations[" + v1alpha1.PauseAnnotation + "] can be changed here: for other " +
				"changes, edit the file of the Forecast",
		)
	}
	if value == nil {
		return false, nil
	}
	if paused, err = strconv.ParseBool(*value); err != nil {
		return false, fmt.Errorf(`the annotation %s is %.64q: write "true", or null to remove it`,
			v1alpha1.PauseAnnotation, *value)
	}
	return paused, nil
}

// writeObject answers with an object as JSON.
func writeObject(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(object) //nolint:errcheck,errchkjson // The client is gone.
}
