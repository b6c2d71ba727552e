// Package kedaserver puts the face that KEDA calls on a gRPC server: mutual TLS whose files are read again when they
// change, limits on what a client may cost, gRPC's own health service, and a stop that ends the streams.
package kedaserver
