package main

import (
	"debug/buildinfo"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// writeBOM writes the modules that are in a binary, by what the linker recorded, as a CycloneDX document.
func (b build) writeBOM(file, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("read the modules of the binary: %w", err)
	}
	bom := cdx.NewBOM()
	product := component(&debug.Module{Path: info.Main.Path, Version: b.version}, cdx.ComponentTypeApplication)
	bom.Metadata = &cdx.Metadata{Timestamp: b.created.Format(time.RFC3339), Component: &product}
	modules := []cdx.Component{component(&debug.Module{Path: "std", Version: info.GoVersion}, cdx.ComponentTypeLibrary)}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		modules = append(modules, component(m, cdx.ComponentTypeLibrary))
	}
	bom.Components = &modules
	out, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("write the SBOM: %w", err)
	}
	err = cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON).SetPretty(true).Encode(bom)
	if problem := out.Close(); err == nil {
		err = problem
	}
	if err != nil {
		return fmt.Errorf("write the SBOM %s: %w", file, err)
	}
	return nil
}

func component(m *debug.Module, kind cdx.ComponentType) cdx.Component {
	url := "pkg:golang/" + m.Path + "@" + m.Version
	return cdx.Component{BOMRef: url, Type: kind, Name: m.Path, Version: m.Version, PackageURL: url}
}
