package doctor

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forewarm/forewarm/pkg/api/inspect/v1alpha1"
	"github.com/forewarm/forewarm/pkg/kube/aggregation"
)

// expiresSoon is how long before its end a certificate is warned of. Forewarm renews its own four months before.
const expiresSoon = 14 * 24 * time.Hour

// checkCertificates: does the kube-apiserver verify Forewarm, and by certificates that are valid and Forewarm's own?
func checkCertificates(ctx context.Context, d *Doctor, s *state) []Finding {
	const name = "Certificates"
	ownFiles := s.args["tls-cert-file"] != ""
	signers, out := d.authority(ctx, s, ownFiles || s.missing)
	for i := range s.apiServices {
		a := &s.apiServices[i]
		if a.leadsTo() != d.service(s) {
			continue
		}
		f := verified(a, signers, s.now(d))
		if ownFiles && len(a.Spec.CABundle) == 0 && s.args["tls-ca-file"] == "" && !a.Spec.InsecureSkipTLSVerify {
			f = Finding{
				Level:   OK,
				Message: "is verified with the certificate authorities of the kube-apiserver's machine",
			}
		}
		f.Check, f.Object = name, "APIService "+a.Name
		if f.Level == Error && f.Remedy == "" {
			f.Remedy = "Forewarm's leader normally writes the caBundle within seconds: check that a replica is the " +
				"leader and has the permission (see the checks Deployment, Leader and Rights)"
			if ownFiles {
				f.Remedy = "set --tls-ca-file to the authority of the certificate in --tls-cert-file " +
					"(docs/security.md#certificates)"
			}
		}
		out = append(out, f)
	}
	return out
}

// authority reads the certificates of Forewarm's authority; nil where there are none to compare with. The key is not looked at.
func (d *Doctor) authority(ctx context.Context, s *state, external bool) ([]*x509.Certificate, []Finding) {
	if external {
		return nil, nil
	}
	named := cmp.Or(s.args["tls-ca-secret"], ownSecret)
	object := "Secret " + d.Namespace + "/" + named
	f := Finding{Check: "Certificates", Level: Error, Object: object}
	secret, err := d.clients.CoreV1().Secrets(d.Namespace).Get(ctx, named, metav1.GetOptions{})
	switch {
	case isAbsent(err):
		f.Message, f.Remedy = "does not exist, so Forewarm has no certificate that the kube-apiserver can verify", reinstall
		return nil, []Finding{f}
	case err != nil:
		f = unread("Certificates", "the "+object+", so the caBundle cannot be compared with it", err)
		f.Object = object
		return nil, []Finding{f}
	}
	text, keyed := secret.Data[aggregation.CertificatesKey], len(secret.Data[aggregation.KeysKey]) > 0
	clear(secret.Data)
	const restore = "restore it, or remove its data so that Forewarm writes it again"
	certificates, err := parseBundle(text)
	switch {
	case len(text) == 0 && !keyed:
		f.Message, f.Remedy = "is empty", "check the pods of Forewarm: when Forewarm runs, it fills this Secret"
	case err != nil:
		f.Message, f.Remedy = fmt.Sprintf("was changed by someone else: %s: %v", aggregation.CertificatesKey,
			err), restore
	case !keyed:
		f.Message, f.Remedy = "was changed by someone else: "+aggregation.KeysKey+" is missing", restore
	default:
		f = lifetime(certificates, s.now(d))
		if f.Level == Error && f.Remedy == "" {
			f.Remedy = "remove its data and restart Forewarm, which then writes new certificates"
		}
		f.Check, f.Object = "Certificates", object
		return certificates, []Finding{f}
	}
	return nil, []Finding{f}
}

// verified is whether an APIService can verify a server of Forewarm's, by its caBundle.
func verified(a *apiService, signers []*x509.Certificate, now time.Time) Finding {
	switch {
	case a.Spec.InsecureSkipTLSVerify:
		return Finding{
			Level: Warning,
			Message: "the kube-apiserver does not verify Forewarm (insecureSkipTLSVerify), so any server that " +
				"answers in place of Forewarm can control replica counts",
			Remedy: "after an upgrade, wait five minutes until the leader fixes it; otherwise " + reinstall,
		}
	case len(a.Spec.CABundle) == 0:
		return Finding{Level: Error, Message: "has no caBundle, so the kube-apiserver cannot verify Forewarm"}
	}
	bundle, err := parseBundle(a.Spec.CABundle)
	if err != nil {
		return Finding{Level: Error, Message: "its caBundle is invalid: " + err.Error()}
	}
	for _, signer := range signers {
		if !holds(bundle, signer) {
			return Finding{
				Level: Error,
				Message: "its caBundle lacks one of the certificates of Forewarm's authority; if that one signed the " +
					"certificate of the server, the kube-apiserver cannot verify Forewarm",
			}
		}
	}
	return lifetime(bundle, now)
}

func holds(bundle []*x509.Certificate, one *x509.Certificate) bool {
	for _, c := range bundle {
		if c.Equal(one) {
			return true
		}
	}
	return false
}

// lifetime is whether one of several certificates is valid, and for how long.
func lifetime(certificates []*x509.Certificate, now time.Time) Finding {
	var last time.Time
	begun := false
	for _, c := range certificates {
		begun = begun || !now.Before(c.NotBefore)
		if c.NotAfter.After(last) {
			last = c.NotAfter
		}
	}
	until := last.UTC().Format(time.DateOnly)
	switch {
	case !begun:
		return Finding{
			Level:   Error,
			Message: "its certificates are not valid yet",
			Remedy:  "compare the clocks of the nodes with yours",
		}
	case !now.Before(last):
		return Finding{Level: Error, Message: "its certificates have expired, the last one on " + until}
	case now.Add(expiresSoon).After(last):
		return Finding{
			Level:   Warning,
			Message: "its certificates expire on " + until,
			Remedy: "Forewarm renews its own certificates four months in advance, so if these are its own, check " +
				"that a replica is the leader and has the permission to write them (see the checks Leader and " +
				"Rights); renew other certificates yourself",
		}
	}
	return Finding{Level: OK, Message: "its certificates are valid until " + until}
}

// maxCertificates bounds how many certificates are read from a bundle.
const maxCertificates = 64

// parseBundle reads certificates in PEM. None is an error.
func parseBundle(text []byte) ([]*x509.Certificate, error) {
	var out []*x509.Certificate
	for rest := text; len(bytes.TrimSpace(rest)) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return nil, errGarbage
		}
		one, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("block %d: %w", len(out)+1, err)
		}
		if out = append(out, one); len(out) > maxCertificates {
			return nil, fmt.Errorf("it has more than %d certificates", maxCertificates)
		}
	}
	if len(out) == 0 {
		return nil, errGarbage
	}
	return out, nil
}

// maxSkew is the difference of two clocks from which on samples are ascribed to the wrong step.
const maxSkew = 10 * time.Second

// checkClocks compares the clocks of the kube-apiserver and of Forewarm with this machine's.
func checkClocks(ctx context.Context, d *Doctor, s *state) []Finding {
	out := []Finding{clock("the kube-apiserver", s.apiClock.ahead(), s.apiClock.other.IsZero())}
	began := d.Now()
	// The answer passes through the kube-apiserver with Forewarm's own date.
	at, err := d.date(ctx, "/apis/"+v1alpha1.GroupVersion().String())
	if err != nil || at.IsZero() {
		return out // Whether the group answers is a check of its own.
	}
	return append(out, clock("Forewarm", measured{at, began, d.Now()}.ahead(), false))
}

// clock is the finding about another clock that is ahead of this machine's by a time.
func clock(whose string, ahead time.Duration, unknown bool) Finding {
	f := Finding{Check: "Clocks", Level: OK, Object: whose, Message: "its clock agrees with the clock of this machine"}
	if unknown {
		f.Level, f.Message = Unknown, "its clock is unknown, because its answers have no date"
	}
	if ahead.Abs() > maxSkew {
		side := "ahead of"
		if ahead < 0 {
			side = "behind"
		}
		f.Level = Warning
		f.Message = fmt.Sprintf("its clock is %s %s the clock of this machine", ahead.Abs().Round(time.Second), side)
		f.Remedy = "synchronize the clocks (NTP); until then, samples get the wrong time, and certificates can " +
			"appear invalid"
	}
	return f
}
