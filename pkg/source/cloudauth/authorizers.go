package cloudauth

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	"github.com/aws/aws-sdk-go-v2/aws"
	signer "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	awsconfig "github.com/aws/aws-sdk-go-v2/config"
	awscredentials "github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/credentials/ec2rolecreds"
	"github.com/aws/aws-sdk-go-v2/credentials/endpointcreds"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/sts"
	"github.com/prometheus/prometheus/storage/remote/azuread"
)

// authorizer makes the authorizer that uses a secret and sends requests for tokens by a client. The libraries keep a token
// until it expires. They do not repeat failed requests, because the next query does.
func (c *Config) authorizer(secret string, client *http.Client) (authorizer, error) {
	switch {
	case c.SigV4 != nil:
		return c.SigV4.authorizer(secret, client)
	case c.AzureAD != nil:
		return c.AzureAD.authorizer(secret, client)
	}
	return google(secret, client)
}

// bearer sends a token.
func bearer(token func(context.Context) (string, error)) authorizer {
	return func(ctx context.Context, req *http.Request) error {
		value, err := token(ctx)
		if err == nil {
			req.Header.Set("Authorization", "Bearer "+value)
		}
		return err
	}
}

// google uses the key of a service account, or else the application default credentials. Other kinds of files may name
// files and addresses of their own, so they are not accepted as a key.
func google(key string, client *http.Client) (authorizer, error) {
	const scope = "https://www.googleapis.com/auth/monitoring.read"
	options := &credentials.DetectOptions{Scopes: []string{scope}, Client: client}
	var (
		found *auth.Credentials
		err   error
	)
	if key != "" {
		if err = checkTokenURI(key); err != nil {
			return nil, err
		}
		found, err = credentials.NewCredentialsFromJSON(credentials.ServiceAccount, []byte(key), options)
	} else {
		found, err = credentials.DetectDefault(options)
	}
	if err != nil {
		return nil, fmt.Errorf("google credentials: %w", err)
	}
	return bearer(func(ctx context.Context) (string, error) {
		token, err := found.Token(ctx)
		if err != nil {
			return "", fmt.Errorf("google token: %w", err)
		}
		return token.Value, nil
	}), nil
}

// checkTokenURI refuses a key that requests its tokens from another server than Google's. Anyone who writes a key for their namespace could
// otherwise make Forewarm send requests to addresses inside the cluster.
func checkTokenURI(key string) error {
	var of struct {
		TokenURI string `json:"token_uri"`
	}
	if json.Unmarshal([]byte(key), &of) != nil {
		return errors.New("the key of the service account is not JSON")
	}
	u, err := url.Parse(of.TokenURI)
	if err != nil {
		return errors.New("token_uri of the key is not a URL")
	}
	host := u.Hostname()
	switch ip := net.ParseIP(host); {
	case of.TokenURI == "", ip != nil && ip.IsLoopback():
		return nil
	case u.Scheme == "https" && (host == "accounts.google.com" || strings.HasSuffix(host, ".googleapis.com")):
		return nil
	}
	const text = "token_uri of the key is at %.64q, which is not Google: use the key as Google has written it"
	return fmt.Errorf(text, host)
}

// authorizer uses a client secret, or the identity of the pod or node.
func (a *AzureAD) authorizer(secret string, client *http.Client) (authorizer, error) {
	in, scope := a.cloud()
	options := azcore.ClientOptions{Cloud: in, Transport: client, Retry: policy.RetryOptions{MaxRetries: -1}}
	var (
		credential azcore.TokenCredential
		err        error
	)
	switch {
	case a.ManagedIdentity != nil:
		of := &azidentity.ManagedIdentityCredentialOptions{ClientOptions: options}
		if a.ManagedIdentity.ClientID != "" {
			of.ID = azidentity.ClientID(a.ManagedIdentity.ClientID)
		}
		credential, err = azidentity.NewManagedIdentityCredential(of)
	case a.WorkloadIdentity != nil:
		w, assertion := a.WorkloadIdentity, func(context.Context) (string, error) { return secret, nil }
		credential, err = azidentity.NewClientAssertionCredential(w.TenantID, w.ClientID, assertion,
			&azidentity.ClientAssertionCredentialOptions{ClientOptions: options})
	default:
		credential, err = azidentity.NewClientSecretCredential(a.OAuth.TenantID, a.OAuth.ClientID, secret,
			&azidentity.ClientSecretCredentialOptions{ClientOptions: options})
	}
	if err != nil {
		return nil, fmt.Errorf("azure credentials: %w", err)
	}
	return bearer(func(ctx context.Context) (string, error) {
		token, err := credential.GetToken(ctx, policy.TokenRequestOptions{Scopes: []string{scope}})
		if err != nil {
			return "", fmt.Errorf("azure token: %w", err)
		}
		return token.Token, nil
	}), nil
}

// cloud returns the cloud, and the scope of a token for queries in it. That of Prometheus' remote_write is for other requests.
func (a *AzureAD) cloud() (in cloud.Configuration, scope string) {
	switch a.Cloud {
	case azuread.AzureGovernment:
		in, scope = cloud.AzureGovernment, "https://prometheus.monitor.azure.us/.default"
	case azuread.AzureChina:
		in, scope = cloud.AzureChina, "https://prometheus.monitor.azure.cn/.default"
	default:
		in, scope = cloud.AzurePublic, "https://prometheus.monitor.azure.com/.default"
	}
	return in, cmp.Or(a.Scope, scope)
}

// authorizer signs with the configured key, or with the credentials of the pod, perhaps those of a role that they may assume. With a key,
// it does not read the environment.
func (s *SigV4) authorizer(secretKey string, client *http.Client) (authorizer, error) {
	in := aws.Config{
		Region: s.Region, HTTPClient: client, Retryer: func() aws.Retryer { return aws.NopRetryer{} },
		Credentials: awscredentials.NewStaticCredentialsProvider(s.AccessKey, secretKey, ""),
	}
	if secretKey == "" {
		env, err := awsconfig.NewEnvConfig()
		if err != nil {
			return nil, fmt.Errorf("AWS variables: %w", err)
		}
		in.ConfigSources, in.Region = []any{env}, cmp.Or(in.Region, env.Region)
		in.Credentials = ofPod(in, &env)
		if in.Region == "" {
			return nil, errors.New("the region of the workspace is unknown: set region")
		}
	}
	if s.RoleARN != "" {
		assume := func(o *stscreds.AssumeRoleOptions) {
			o.RoleSessionName = "forewarm"
			if s.ExternalID != "" {
				o.ExternalID = &s.ExternalID
			}
		}
		in.Credentials = stscreds.NewAssumeRoleProvider(sts.NewFromConfig(in), s.RoleARN, assume)
	}
	cached := aws.NewCredentialsCache(in.Credentials, renewEarly)
	return func(ctx context.Context, req *http.Request) error {
		sum, err := bodySum(req)
		if err != nil {
			return err
		}
		found, err := cached.Retrieve(ctx)
		if err != nil {
			return fmt.Errorf("AWS credentials: %w", err)
		}
		defer maps.Copy(req.Header, withoutUnsent(req.Header))
		now := time.Now() //nolint:forbidigo // The store compares it with its own clock.
		return signer.NewSigner().SignHTTP(ctx, found, req, sum, "aps", in.Region, now)
	}, nil
}

// withoutUnsent removes the headers without a value, and returns them. They are never sent: the client of the API marks a POST as idempotent
// by one. AWS refuses a signature over a header that is missing (IncompleteSignatureException).
func withoutUnsent(header http.Header) http.Header {
	unsent := maps.Clone(header)
	maps.DeleteFunc(unsent, func(_ string, values []string) bool { return len(values) > 0 })
	maps.DeleteFunc(header, func(_ string, values []string) bool { return len(values) == 0 })
	return unsent
}

// ofPod finds the credentials of the pod as AWS' default chain does, without profiles, which could run programs: from variables, IRSA,
// EKS Pod Identity or the node. The chain itself would link three more clients, and it accepts no client that refuses redirects.
func ofPod(in aws.Config, env *awsconfig.EnvConfig) aws.CredentialsProvider { //nolint:ireturn // One of four.
	switch {
	case env.Credentials.HasKeys():
		return awscredentials.StaticCredentialsProvider{Value: env.Credentials}
	case env.WebIdentityTokenFilePath != "":
		file := stscreds.IdentityTokenFile(env.WebIdentityTokenFilePath)
		return stscreds.NewWebIdentityRoleProvider(sts.NewFromConfig(in), env.RoleARN, file)
	case env.ContainerCredentialsEndpoint != "":
		return endpointcreds.New(env.ContainerCredentialsEndpoint, func(o *endpointcreds.Options) {
			o.HTTPClient, o.Retryer = in.HTTPClient, aws.NopRetryer{}
			o.AuthorizationTokenProvider = endpointcreds.TokenProviderFunc(func() (string, error) {
				token, err := os.ReadFile(os.Getenv("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"))
				return string(bytes.TrimSpace(token)), err
			})
		})
	}
	return ec2rolecreds.New(func(o *ec2rolecreds.Options) { o.Client = imds.NewFromConfig(in) })
}

// renewEarly renews credentials before they expire, so that none expires on its way.
func renewEarly(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = time.Minute }

// bodySum returns the hash of a request's body, which stays readable. Queries have a few KiB.
func bodySum(req *http.Request) (string, error) {
	var content []byte
	if req.Body != nil {
		var err error
		content, err = io.ReadAll(req.Body)
		if err = errors.Join(err, req.Body.Close()); err != nil {
			return "", err
		}
		req.Body = io.NopCloser(bytes.NewReader(content))
	}
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:]), nil
}
