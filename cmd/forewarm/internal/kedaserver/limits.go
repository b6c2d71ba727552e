package kedaserver

import (
	"context"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/tap"
)

const (
	// KEDA has one connection for all triggers with the same address and certificates, and an external-push trigger holds
	// two streams on it: enough for 4,000 of them, and some requests. More are refused, on all connections together.
	streams = 8192 + 512
	// A request is a trigger's metadata, some hundred bytes.
	message = 64 << 10
	headers = 16 << 10
	// handshake is how long a new connection may take to begin.
	handshake = 5 * time.Second
	// A client that is gone without a word is noticed after silence + patience, and its streams end.
	silence, patience = 30 * time.Second, 10 * time.Second
	// oftenest is how often a client may ask whether the server is there.
	oftenest = 10 * time.Second
)

// options of a server that ends its streams with the context.
func (s *Server) options(ctx context.Context) []grpc.ServerOption {
	caught := recovery.WithRecoveryHandlerContext(s.caught)
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.requests.UnaryServerInterceptor(), recovery.UnaryServerInterceptor(caught)),
		grpc.ChainStreamInterceptor(
			s.requests.StreamServerInterceptor(), recovery.StreamServerInterceptor(caught), endWith(ctx)),
		grpc.MaxConcurrentStreams(streams),
		grpc.InTapHandle(fewStreams()),
		grpc.MaxRecvMsgSize(message),
		grpc.MaxHeaderListSize(headers),
		grpc.ConnectionTimeout(handshake),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: silence, Timeout: patience}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: oftenest, PermitWithoutStream: true}),
	}
	if s.certificates != nil {
		options = append(options, grpc.Creds(s.certificates.credentials()))
	}
	return options
}

// fewStreams counts the streams of all connections, each until it ends. A stream may be silent for as long as its connection
// lives, and costs memory.
func fewStreams() tap.ServerInHandle {
	var open atomic.Int64
	return func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		if open.Add(1) > streams {
			open.Add(-1)
			return nil, status.Error(codes.ResourceExhausted, "too many streams are open, forewarm takes 8704")
		}
		context.AfterFunc(ctx, func() { open.Add(-1) })
		return ctx, nil
	}
}

// caught is the answer to a request whose handler panicked: it fails, and the process goes on.
func (s *Server) caught(ctx context.Context, fault any) error {
	s.log.ErrorContext(ctx, "a request of KEDA panicked", slog.Any("fault", fault),
		slog.String("stack", string(debug.Stack())))
	return status.Error(codes.Internal, "forewarm failed at this request, its log says how")
}

// endWith ends streams with the server's context, and without an error: KEDA then opens them again after two seconds, and
// not after the minute that it allows a scaler that fails.
func endWith(server context.Context) grpc.StreamServerInterceptor {
	return func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
		ctx, cancel := context.WithCancel(stream.Context())
		defer cancel()
		defer context.AfterFunc(server, cancel)()
		ending := middleware.WrapServerStream(stream)
		ending.WrappedContext = ctx
		err := handle(srv, ending)
		if server.Err() != nil && stream.Context().Err() == nil {
			return nil
		}
		return err
	}
}
