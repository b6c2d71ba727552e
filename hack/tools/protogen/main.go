// Protogen writes the Go code of a .proto file: messages by protoc-gen-go, services by protoc-gen-go-grpc, both pinned
// in this module. It replaces protoc with a compiler written in Go, so that generating needs only Go.
//
// Usage, in this module's folder: go run ./protogen FOLDER FILE OUT   reads FOLDER/FILE, writes into OUT/FILE's folder.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: protogen FOLDER FILE OUT")
		os.Exit(2)
	}
	if err := generate(context.Background(), os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// generate compiles folder/file, and writes the output of the plugins into the folder out.
func generate(ctx context.Context, folder, file, out string) error {
	request, err := compile(ctx, folder, file)
	if err != nil {
		return err
	}
	for _, plugin := range []string{"protoc-gen-go", "protoc-gen-go-grpc"} {
		response, err := run(ctx, plugin, request)
		if err != nil {
			return fmt.Errorf("%s: %w", plugin, err)
		}
		for _, made := range response.GetFile() {
			if err := write(filepath.Join(out, made.GetName()), made.GetContent()); err != nil {
				return err
			}
		}
	}
	return nil
}

// compile returns the request for the plugins. It includes the comments, which the plugins copy to the Go code.
func compile(ctx context.Context, folder, file string) ([]byte, error) {
	compiler := protocompile.Compiler{
		Resolver:       &protocompile.SourceResolver{ImportPaths: []string{folder}},
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(ctx, file)
	if err != nil {
		return nil, err
	}
	parameter := "paths=source_relative"
	return proto.Marshal(&pluginpb.CodeGeneratorRequest{
		FileToGenerate: []string{file},
		Parameter:      &parameter,
		ProtoFile:      []*descriptorpb.FileDescriptorProto{protoutil.ProtoFromFileDescriptor(files[0])},
	})
}

// run sends the request to a plugin on its standard input, like protoc does.
func run(ctx context.Context, plugin string, request []byte) (*pluginpb.CodeGeneratorResponse, error) {
	command := exec.CommandContext(ctx, "go", "tool", plugin)
	command.Stdin, command.Stderr = bytes.NewReader(request), os.Stderr
	output, err := command.Output()
	if err != nil {
		return nil, err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(output, &response); err != nil {
		return nil, err
	}
	if response.Error != nil {
		return nil, fmt.Errorf("the plugin fails: %s", response.GetError())
	}
	return &response, nil
}

func write(path, content string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(content), 0o644)
}
