// Command image builds Forewarm's image without a container engine, as an OCI layout: a static binary for each platform, the
// certificate authorities of the web, and a user that is not root. The same commit gives the same digest.
//
//	go build ──> binary, one for each platform (build.go)
//	         ──> layers ──> image ──> index ──> OCI layout (image.go)
//	         ──> the modules in the binary ──> SBOM beside it (sbom.go)
//	         ──> the digest, signed by a key where one is given, as cosign does (sign.go)
//
// With the word release it makes all that a version is published as (release.go): the same commit gives the same bytes.
package main
