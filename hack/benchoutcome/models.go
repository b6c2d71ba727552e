package main

import (
	"slices"

	"github.com/forewarm/forewarm/pkg/core/windowpeak"
)

// modelNames are the models that the regression may read.
func modelNames() []string {
	return []string{windowpeak.ARIMA, windowpeak.HoltWinters, windowpeak.Auto}
}

// inOrder are the named models, in the order of modelNames.
func inOrder(names []string) []string {
	return slices.DeleteFunc(modelNames(), func(name string) bool { return !slices.Contains(names, name) })
}
