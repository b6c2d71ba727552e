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
	GridPos     GridPos
	Targets     []Query
	FieldConfig FieldConfig
}

// Link is a link of a panel.
type Link struct{ Title, URL string }

// GridPos is a place on a grid of 24 columns.
type GridPos struct{ X, Y, W, H float64 }

// Query is a query of a panel.
type Query struct {
	Expr, LegendFormat, RefID string
	Datasource                Source
}

// Source names a data source, by a variable.
type Source struct{ Type, UID string }

// FieldConfig is how values look.
type FieldConfig struct {
	Defaults  Defaults
	Overrides []Override
}

// Defaults are the looks of every series of a panel.
type Defaults struct {
	Unit       string
	Decimals   *int
	Min        *float64
	Custom     Custom
	Thresholds Thresholds
}

// Custom are the looks of lines.
type Custom struct{ Stacking Stacking }

// Stacking is "normal" where series are added up.
type Stacking struct{ Mode string }

// Thresholds are the steps between colours.
type Thresholds struct{ Steps []Step }

// Step is the colour from a value on; nil is the lowest.
type Step struct {
	Color string
	Value *float64
}

// Override is what differs for the series that match.
type Override struct {
	Matcher    Matcher
	Properties []Property
}

// Matcher selects series by their names.
type Matcher struct{ ID, Options string }

// Property is one part of the looks.
type Property struct {
	ID    string
	Value any
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
