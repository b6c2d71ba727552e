// Package externalscaler is the wire contract between KEDA and an external scaler, as Go code: generated from
// externalscaler.proto by hack/generate.sh. What it means is told there, and in package keda, which serves it.
package externalscaler
