package informer_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/forewarm/forewarm/hack/apiservertest"
	"github.com/forewarm/forewarm/pkg/kube/informer"
)

// maps are those of a namespace; what was read when each page was asked for is noted.
type maps struct {
	typed.ConfigMapInterface

	read  *int
	pages []int
}

func (m *maps) List(ctx context.Context, options metav1.ListOptions) (*corev1.ConfigMapList, error) {
	m.pages = append(m.pages, *m.read)
	return m.ConfigMapInterface.List(ctx, options)
}

// old is a client of an API server that does not stream lists, as before 1.34.
type old struct{}

func (old) IsWatchListSemanticsUnSupported() bool { return true }

// entry is what is kept of a ConfigMap: with all of it, to look at the rest.
type entry struct {
	name, team string
	object     *corev1.ConfigMap
}

// An object is read as it comes, also where a list comes in pages: never are all of them in memory.
func TestCluster(t *testing.T) {
	c := apiservertest.Start(t)
	client, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		t.Fatal(err)
	}
	own := client.CoreV1().ConfigMaps("default")
	const many, page, nobodys = 1_100, 50, "nobodys"
	create := func(name string) {
		t.Helper()
		object := &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"team": name[:1]}},
		}
		if name == nobodys {
			object.Labels = nil
		}
		if _, err := own.Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range many - 1 {
		create(fmt.Sprintf("a%d", i))
	}
	create("b")
	create(nobodys)
	for _, server := range []struct {
		name   string
		client any
		pages  int
	}{{"one that streams", client, 0}, {"an old one", old{}, 23}} {
		read, changes := 0, 0
		source := &maps{ConfigMapInterface: own, read: &read}
		parse := func(object *corev1.ConfigMap) *entry {
			read++
			if len(object.ManagedFields) == 0 && object.Name != nobodys { // It was created without a field.
				t.Errorf("%s: the managed fields of %s cannot be read", server.name, object.Name)
			}
			if object.Labels["team"] == "" {
				return nil
			}
			return &entry{object.Name, object.Labels["team"], object}
		}
		watch := informer.New(informer.From(source, server.client, ""), parse, informer.Config[entry]{
			Name: "ConfigMaps", Index: func(e *entry) []string { return []string{e.team} },
			Changed: func(_, _ *entry) { changes++ },
		})
		stop := apiservertest.Background(t, watch.Run)
		if !watch.WaitForSync(t.Context(), 20*time.Second) || watch.Check() != nil {
			t.Fatalf("%s: %v", server.name, watch.Check())
		}
		if got := len(watch.List()); got != many {
			t.Errorf("%s: %d are kept, want %d", server.name, got, many)
		}
		found := watch.Indexed("b")
		if len(found) != 1 || found[0].name != "b" || len(found[0].object.ManagedFields) > 0 {
			t.Errorf("%s: the index has %v, or managed fields are kept", server.name, found)
		}
		name := "c" + server.name[:1]
		create(name)
		apiservertest.Eventually(t, 10*time.Second, func() string {
			return apiservertest.Differs("of the team that came", len(watch.Indexed("c")), 1)
		})
		if err := own.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		apiservertest.Eventually(t, 10*time.Second, func() string {
			return apiservertest.Differs("that are left", len(watch.List()), many)
		})
		stop()
		if changes != many+2 {
			t.Errorf("%s: %d changes were told, want %d", server.name, changes, many+2)
		}
		if len(source.pages) != server.pages {
			t.Errorf("%s: pages were asked for after %v, want %d pages", server.name, source.pages, server.pages)
		}
		for i, before := range source.pages {
			if before != i*page {
				t.Errorf("%s: page %d was asked for when %d objects were read, want %d", server.name, i, before, i*page)
			}
		}
	}
}
