package cmdline

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
)

// pageSize is how many objects are read at once.
const pageSize = 500

// ListAll lists the objects of a kind, page by page.
func ListAll(ctx context.Context, of dynamic.ResourceInterface) ([]unstructured.Unstructured, error) {
	out := []unstructured.Unstructured{}
	options := metav1.ListOptions{Limit: pageSize}
	for {
		page, err := of.List(ctx, options)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Items...)
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return out, nil
		}
	}
}
