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
	// maxStreams limits the streams of all connections together. KEDA has one connection for all triggers with the same address and
	// certificates. Each external-push trigger keeps two streams open on it. The limit is enough for 4,000 triggers and some requests.
	maxStreams = 8192 + 512
	// maxMessage limits the size of a request. A trigger's metadata has a few hundred bytes.
	maxMessage = 64 << 10
	maxHeaders = 16 << 10
	// drainTimeout is how long requests may take to finish after the server was told to stop.
	drainTimeout = 10 * time.Second
	// handshakeTimeout is how long the handshake of a new connection may take.
	handshakeTimeout = 5 * time.Second
	// The streams of a client that disappears end after keepaliveTime + keepaliveTimeout.
	keepaliveTime, keepaliveTimeout = 30 * time.Second, 10 * time.Second
	// minPingInterval is the minimum interval between two keepalive pings of a client.
	minPingInterval = 10 * time.Second
)

// options returns the options of a server whose streams end with the context.
func (s *Server) options(ctx context.Context) []grpc.ServerOption {
	caught := recovery.WithRecoveryHandlerContext(s.recovered)
	options := []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(s.requests.UnaryServerInterceptor(), recovery.UnaryServerInterceptor(caught)),
		grpc.ChainStreamInterceptor(s.requests.StreamServerInterceptor(), recovery.StreamServerInterceptor(caught),
			endStreamsWith(ctx)),
		grpc.MaxConcurrentStreams(maxStreams),
		grpc.InTapHandle(limitStreams()),
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxHeaderListSize(maxHeaders),
		grpc.ConnectionTimeout(handshakeTimeout),
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout}),
		grpc.KeepaliveEnforcementPolicy(
			keepalive.EnforcementPolicy{MinTime: minPingInterval, PermitWithoutStream: true},
		),
	}
	if s.certificates != nil {
		options = append(options, grpc.Creds(s.certificates.credentials()))
	}
	return options
}

// limitStreams limits the streams of all connections together. A stream may be idle as long as its connection exists, and costs memory.
func limitStreams() tap.ServerInHandle {
	var open atomic.Int64
	return func(ctx context.Context, _ *tap.Info) (context.Context, error) {
		if open.Add(1) > maxStreams {
			open.Add(-1)
			return nil, status.Error(codes.ResourceExhausted, "too many open streams: Forewarm accepts at most 8704")
		}
		context.AfterFunc(ctx, func() { open.Add(-1) })
		return ctx, nil
	}
}

// recovered answers a request whose handler panicked: the request fails, and the process continues.
func (s *Server) recovered(ctx context.Context, fault any) error {
	s.log.ErrorContext(ctx, "a request from KEDA caused a panic", slog.Any("fault", fault),
		slog.String("stack", string(debug.Stack())))
	return status.Error(codes.Internal, "Forewarm failed to handle this request: see its log")
}

// endStreamsWith ends streams with the server's context and without an error. KEDA then reopens them after two seconds; after an error it
// would wait a minute.
func endStreamsWith(server context.Context) grpc.StreamServerInterceptor {
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
