package dashboards

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
	Templating    struct{ List []Variable }
	Panels        []Panel
}

// Variable is a variable of a dashboard.
type Variable struct {
	Name, Label, Type   string
	Query, Regex        string
	Datasource          Source
	Multi, IncludeAll   bool
	AllValue            string
	Refresh, Sort, Hide int
}

// Source names a data source, by a variable.
type Source struct{ Type, UID string }

// Panel is a panel or a row. The panels after a row belong to it.
type Panel struct {
	ID                       int
	Type, Title, Description string
	// Repeat is the variable for each value of which a row is shown.
	Repeat      string
	Datasource  Source
	Links       []struct{ Title, URL string }
	GridPos     struct{ X, Y, W, H float64 }
	Targets     []Query
	FieldConfig struct {
		Defaults struct {
			Unit       string
			Decimals   *int
			Min        *float64
			Custom     struct{ Stacking struct{ Mode string } }
			Thresholds struct{ Steps []Step }
		}
		Overrides []Override
	}
}

// Step of thresholds: the colour from a value on; nil is the lowest.
type Step struct {
	Color string
	Value *float64
}

// Override is what differs for one series.
type Override struct {
	Matcher    struct{ ID, Options string }
	Properties []struct {
		ID    string
		Value any
	}
}

// Query is a query of a panel.
type Query struct {
	Expr, LegendFormat, RefID string
	Instant                   bool
	Datasource                Source
}

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
