// Package client reads a cluster with the user's own rights: its objects, page by page, and Forewarm's inspection API. It
// changes nothing but the annotation by which a Forecast is paused.
package client

import (
	"context"
	"errors"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/forewarm/forewarm/pkg/printable"
)

// MaxMessage bounds what is repeated of other programs, in bytes.
const MaxMessage = 600

// APIMessage is the server's message of an error.
func APIMessage(err error) string {
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Message != "" {
		return printable.Clip(status.Status().Message, MaxMessage)
	}
	return printable.Clip(err.Error(), MaxMessage)
}

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
