package dashboardtest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// Folder has the dashboards, from the root of the repository.
const Folder = "deploy/charts/forewarm/files/dashboards"

// Dashboard is what is read of a dashboard's JSON.
type Dashboard struct {
	Title, UID    string
	Description   string
	Tags          []string
	SchemaVersion int
	Templating    Templating
	Panels        []Panel
}

// Templating has the variables.
type Templating struct{ List []Variable }

// Variable is a variable of a dashboard.
type Variable struct {
	Name, Label, Type string
	Query, Regex      string
	Multi, IncludeAll bool
	AllValue          string
	Sort              int
}

// Panel is a panel or a row. The panels after a row belong to it.
type Panel struct {
	ID                       int
	Type, Title, Description string
	// Repeat is the variable for each value of which a row is shown.
	Repeat      string
	Links       []Link
	Targets     []Query
	FieldConfig FieldConfig
}

// Link is a link of a panel.
type Link struct{ Title, URL string }

// Query is a query of a panel.
type Query struct {
	Expr, LegendFormat, RefID string
	Datasource                Source
}

// Source names a data source, by a variable.
type Source struct{ Type, UID string }

// FieldConfig is how values look.
type FieldConfig struct{ Defaults Defaults }

// Defaults are the looks of every series of a panel.
type Defaults struct{ Unit string }

// Load reads every dashboard under the root of the repository.
func Load(root string) ([]*Dashboard, error) {
	files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(Folder), "*.json"))
	if err != nil {
		return nil, err
	}
	var out []*Dashboard
	for _, file := range files {
		text, err := os.ReadFile(file) //nolint:gosec // A file of the repository.
		if err != nil {
			return nil, err
		}
		d := &Dashboard{}
		if err := json.Unmarshal(text, d); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		out = append(out, d)
	}
	return out, nil
}
