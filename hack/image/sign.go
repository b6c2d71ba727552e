package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The format in which cosign looks for signatures (its SIGNATURE_SPEC.md): an image next to the signed one, whose layer is the payload,
// annotated with the signature.
const (
	payloadType         = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureAnnotation = "dev.cosignproject.cosign/signature"
)

// signer signs digests.
type signer struct{ key *ecdsa.PrivateKey }

func readKey(file string) (*signer, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("--key %s is not PEM", file)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("--key %s: write an unencrypted key in PKCS #8: %w", file, err)
	}
	own, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("--key %s is a %T: write an ECDSA key", file, key)
	}
	return &signer{key: own}, nil
}

// payload returns the signed data in cosign's simple signing format.
func payload(digest v1.Hash, reference string) ([]byte, error) {
	return json.Marshal(map[string]any{
		"critical": map[string]any{
			"identity": map[string]any{"docker-reference": reference},
			"image":    map[string]any{"docker-manifest-digest": digest.String()},
			"type":     "cosign container image signature",
		},
		"optional": nil,
	})
}

// sign returns the payload for a digest, and its signature in base 64.
func (s *signer) sign(digest v1.Hash, reference string) (signed []byte, signature string, err error) {
	if signed, err = payload(digest, reference); err != nil {
		return nil, "", fmt.Errorf("sign the image: %w", err)
	}
	hash := sha256.Sum256(signed)
	text, err := ecdsa.SignASN1(rand.Reader, s.key, hash[:])
	if err != nil {
		return nil, "", fmt.Errorf("sign the image: %w", err)
	}
	return signed, base64.StdEncoding.EncodeToString(text), nil
}

// image is the signature as a registry holds it.
//
//nolint:ireturn // The library's type.
func (s *signer) image(digest v1.Hash, reference string) (v1.Image, error) {
	signed, signature, err := s.sign(digest, reference)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Append(image, mutate.Addendum{
		Layer: static.NewLayer(signed, payloadType), Annotations: map[string]string{signatureAnnotation: signature},
	})
}

// writeFiles writes the payload to a file, and the signature next to it.
func (s *signer) writeFiles(file string, digest v1.Hash, reference string) error {
	signed, signature, err := s.sign(digest, reference)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file+".payload", signed, 0o644); err != nil {
		return fmt.Errorf("write the signature: %w", err)
	}
	if err := os.WriteFile(file, []byte(signature), 0o644); err != nil {
		return fmt.Errorf("write the signature: %w", err)
	}
	return nil
}
