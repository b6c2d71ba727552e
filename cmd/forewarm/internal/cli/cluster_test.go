package cli_test

import (
	"embed"
	"fmt"
	"net/http"
	"path"
	"regexp"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

//go:embed testdata/clusters
var clusters embed.FS

// cluster answers as a kube-apiserver does for a few objects: by path, with or without its query, the object in YAML, or what it
// refuses. A time may be given by its age: ago(3h).
type cluster map[string]string

var ago = regexp.MustCompile(`\bago\((\w+)\)`)

// forbidden stands for an object that the user may not read.
const forbidden = "forbidden"

func (c cluster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, found := c[r.URL.RequestURI()]
	if !found {
		text, found = c[r.URL.Path]
	}
	switch {
	case !found:
		name := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
		refuse(w, &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusNotFound, Reason: metav1.StatusReasonNotFound,
			Message: fmt.Sprintf("%q not found", name), Details: &metav1.StatusDetails{Name: name},
		})
	case text == forbidden:
		refuse(w, &metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
			Message: "User \"me\" cannot read " + r.URL.Path,
		})
	default:
		text = ago.ReplaceAllStringFunc(text, func(age string) string {
			since, err := time.ParseDuration(ago.FindStringSubmatch(age)[1])
			if err != nil {
				panic(err)
			}
			return time.Now().Add(-since).UTC().Format(time.RFC3339)
		})
		data, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			panic(err)
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(data) //nolint:errcheck // A test's client that is gone needs no answer.
	}
}

// clusterOf is the healthy cluster of testdata, with the answers of others in the place of its own.
func clusterOf(names ...string) cluster {
	out := cluster{}
	for _, name := range append([]string{"healthy"}, names...) {
		text, err := clusters.ReadFile(path.Join("testdata/clusters", name+".yaml"))
		if err == nil {
			err = yaml.Unmarshal(text, &out)
		}
		if err != nil {
			panic(err)
		}
	}
	return out
}
