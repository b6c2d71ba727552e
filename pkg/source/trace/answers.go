package trace

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/forewarm/forewarm/pkg/printable"
)

// answerColumn is the name of the only column of an answer.
const answerColumn = "value"

// object has the members of a JSON object.
type object map[string]json.RawMessage

func (o object) has(names ...string) bool {
	for _, name := range names {
		if o[name] == nil {
			return false
		}
	}
	return true
}

// openJSON detects what a JSON text contains.
func openJSON(buffered *bufio.Reader, from *unpacked) (*table, error) {
	limit := from.limit
	from.expectJSON()
	decoder := json.NewDecoder(buffered)
	var first json.RawMessage
	if err := decoder.Decode(&first); err != nil {
		return nil, from.explain(fmt.Errorf("trace: the JSON cannot be read: %w", err))
	}
	rest := io.MultiReader(decoder.Buffered(), buffered)
	if first[0] == '[' {
		if err := onlyOne(rest, "jq -s add"); err != nil {
			return nil, err
		}
		return openList(first, from)
	}
	var whole object
	if err := json.Unmarshal(first, &whole); err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	switch {
	case whole.has("metric", "values", "timestamps"):
		return openExport(first, decoder, from)
	case whole.has("MetricDataResults"):
		const join = "jq -s '{MetricDataResults: [.[0].MetricDataResults[0] + {Timestamps: map(.MetricDataResults[0].Timestamps) | add, " +
			"Values: map(.MetricDataResults[0].Values) | add}]}'"
		if err := onlyOne(rest, join); err != nil {
			return nil, err
		}
		return openMetricData(whole, from)
	case whole.has("Datapoints"):
		if err := onlyOne(rest, "jq -s '{Datapoints: map(.Datapoints) | add}'"); err != nil {
			return nil, err
		}
		return openDatapoints(whole, from)
	case whole.isAnswer():
		const join = "jq -s '.[0].data.result[0].values = (map(.data.result[0].values) | add) | .[0]'"
		if err := onlyOne(rest, join); err != nil {
			return nil, err
		}
		return openAnswer(first, from)
	}
	from.expectLines(limit)
	lines := bufio.NewScanner(rest)
	lines.Buffer(nil, maxObject)
	return openObjects(first, lines, from)
}

// isAnswer reports whether an object is an answer of Prometheus. It checks all members, because a row of a log may have some of them.
func (o object) isAnswer() bool {
	var data object
	status := unquoted(o["status"])
	return json.Unmarshal(o["data"], &data) == nil && data.has("result") || status == "success" || status == "error"
}

// onlyOne rejects anything that follows the JSON value of a file, for example further pages of an answer. join is the command that joins
// them.
func onlyOne(rest io.Reader, join string) error {
	var next [1]byte
	for {
		switch _, err := io.ReadFull(rest, next[:]); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("trace: %w", err)
		case bytes.IndexByte([]byte(" \t\r\n\x00"), next[0]) < 0:
			return fmt.Errorf("trace: more data follows the first JSON value of the file. If the file has "+
				"several responses, such as pages, join them: "+"%s %s > load.json", join, FileName)
		}
	}
}

// openList reads the result that promtool prints, or a list of objects.
func openList(list json.RawMessage, from *unpacked) (*table, error) {
	var all []object
	if err := json.Unmarshal(list, &all); err != nil {
		return nil, fmt.Errorf("trace: the JSON is not a list of objects: %w", err)
	}
	if len(all) == 0 || all[0].has("values") || bytes.HasPrefix(all[0]["value"], []byte("[")) {
		return openSeries(all, from)
	}
	var lines []string
	for _, one := range all[1:] {
		text, err := json.Marshal(one)
		if err != nil {
			return nil, fmt.Errorf("trace: %w", err)
		}
		lines = append(lines, string(text))
	}
	first, err := json.Marshal(all[0])
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	scanner := bufio.NewScanner(strings.NewReader(strings.Join(lines, "\n")))
	scanner.Buffer(nil, maxAnswer)
	return openObjects(first, scanner, from)
}

// openAnswer reads the answer of a Prometheus to a range query.
func openAnswer(whole json.RawMessage, from *unpacked) (*table, error) {
	type data struct {
		Result []object `json:"result"`
	}
	var answer struct {
		Error     string   `json:"error"`
		IsPartial bool     `json:"isPartial"`
		Warnings  []string `json:"warnings"`
		Data      data     `json:"data"`
	}
	switch err := json.Unmarshal(whole, &answer); {
	case err != nil:
		return nil, fmt.Errorf("trace: the JSON is not a Prometheus response: %w: %s", err, wantAnswer)
	case answer.Error != "":
		return nil, fmt.Errorf("trace: the file has an error response of Prometheus: %.200q", answer.Error)
	case answer.IsPartial:
		return nil, errors.New("trace: the response is partial (isPartial), so part of the demand is missing; " +
			"run the query again when all storage nodes are up")
	}
	for _, w := range answer.Warnings {
		if !strings.HasPrefix(w, "PromQL ") { // Such warnings are about the query.
			return nil, fmt.Errorf("trace: the response may be incomplete (%.200s): check the stores behind the "+
				"server, and run the query again", printable.Line(w))
		}
	}
	return openSeries(answer.Data.Result, from)
}

const wantAnswer = "expected the response of /api/v1/query_range with one series, such as the result of sum(…)"

// openSeries reads the values of the only series in a result. It reads them one at a time, so that a malicious file ends at the row limit.
func openSeries(result []object, from *unpacked) (*table, error) {
	if len(result) != 1 {
		return nil, fmt.Errorf("trace: the response has %d series; %s", len(result), wantAnswer)
	}
	decoder := json.NewDecoder(bytes.NewReader(result[0]["values"]))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('[') {
		return nil, fmt.Errorf("trace: the series has no list of values; %s", wantAnswer)
	}
	line := 0
	return newAnswer(from, answerColumn, func() (int, []string, error) {
		line++
		if !decoder.More() {
			return line, nil, io.EOF
		}
		var pair [2]json.RawMessage
		if err := decoder.Decode(&pair); err != nil || pair[1] == nil {
			return line, nil, fmt.Errorf("sample %d is not a pair of a time and a value", line)
		}
		return line, []string{string(pair[0]), unquoted(pair[1])}, nil
	}), nil
}

// newAnswer returns a table of times and values.
func newAnswer(from *unpacked, column string, read func() (int, []string, error)) *table {
	return &table{names: []string{"time", column}, separator: ',', row: "sample", from: from, read: read}
}

// unquoted returns the text of a JSON value.
func unquoted(value json.RawMessage) string {
	var text string
	if json.Unmarshal(value, &text) == nil {
		return text
	}
	return string(value)
}

// pairs has times and values.
type pairs struct{ times, values []json.RawMessage }

// table returns the pairs in order of time, if their times can be compared.
func (p *pairs) table(from *unpacked, column string) (*table, error) {
	if len(p.times) != len(p.values) {
		return nil, fmt.Errorf("trace: the series has %d times and %d values", len(p.times), len(p.values))
	}
	rows := make([][]string, len(p.times))
	var c clock
	at := make([]int64, len(rows))
	order := make([]int, len(rows))
	for i := range rows {
		rows[i] = []string{unquoted(p.times[i]), unquoted(p.values[i])}
		at[i], _ = c.parse(rows[i][0]) //nolint:errcheck // Where the row is read it is said.
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(min(1, max(-1, at[a]-at[b]))) })
	line := 0
	return newAnswer(from, column, func() (int, []string, error) {
		if line == len(rows) {
			return line, nil, io.EOF
		}
		line++
		return line, rows[order[line-1]], nil
	}), nil
}

// openExport reads an answer of /api/v1/export of VictoriaMetrics: one line for each block of a series.
func openExport(first json.RawMessage, decoder *json.Decoder, from *unpacked) (*table, error) {
	type block struct {
		Metric     json.RawMessage
		Values     []json.RawMessage
		Timestamps []json.RawMessage
	}
	var all pairs
	var metric json.RawMessage
	for next := first; ; {
		var b block
		if err := json.Unmarshal(next, &b); err != nil {
			return nil, fmt.Errorf("trace: the JSON is not an export of VictoriaMetrics: %w", err)
		}
		if metric == nil {
			metric = b.Metric
		}
		if !bytes.Equal(metric, b.Metric) {
			return nil, fmt.Errorf("trace: the export has several series, such as %.100s and %.100s: export a "+
				"single series "+"with a match[] that has all its labels, or query sum(…)", metric, b.Metric)
		}
		all.times, all.values = append(all.times, b.Timestamps...), append(all.values, b.Values...)
		if !decoder.More() {
			return all.table(from, answerColumn)
		}
		if err := decoder.Decode(&next); err != nil {
			return nil, from.explain(fmt.Errorf("trace: the export cannot be read: %w", err))
		}
	}
}

// openMetricData reads the output of CloudWatch's get-metric-data.
func openMetricData(whole object, from *unpacked) (*table, error) {
	var results []struct {
		Label, StatusCode  string
		Timestamps, Values []json.RawMessage
	}
	if err := json.Unmarshal(whole["MetricDataResults"], &results); err != nil {
		return nil, fmt.Errorf("trace: MetricDataResults: %w", err)
	}
	switch {
	case whole.has("NextToken"):
		return nil, errors.New("trace: CloudWatch's response is partial (NextToken): get the rest, too")
	case len(results) == 0:
		return nil, errors.New("trace: CloudWatch's response has no metric: check the query and its time range")
	case len(results) != 1:
		return nil, fmt.Errorf("trace: CloudWatch's response has %d metrics; expected one: "+
			"extract the first with jq '{MetricDataResults: [.MetricDataResults[0]]}' %s > load.json", len(results), FileName)
	case results[0].StatusCode == "PartialData":
		return nil, errors.New("trace: CloudWatch's response is partial (PartialData): get the rest, too")
	}
	p := pairs{results[0].Timestamps, results[0].Values}
	return p.table(from, columnName(results[0].Label))
}

// openDatapoints reads the output of CloudWatch's get-metric-statistics, if it has one statistic.
func openDatapoints(whole object, from *unpacked) (*table, error) {
	var points []object
	if err := json.Unmarshal(whole["Datapoints"], &points); err != nil {
		return nil, fmt.Errorf("trace: Datapoints: %w", err)
	}
	var p pairs
	statistic := ""
	for i, point := range points {
		for _, name := range []string{"Sum", "Average", "Maximum", "Minimum", "SampleCount"} {
			if !point.has(name) || name == statistic {
				continue
			}
			if statistic != "" {
				return nil, fmt.Errorf("trace: CloudWatch's response has both %s and %s; use only one value for "+
					"--statistics", statistic, name)
			}
			statistic = name
		}
		if statistic == "" || !point.has("Timestamp", statistic) {
			return nil, fmt.Errorf("trace: datapoint %d of CloudWatch's response does not have a Timestamp and a "+
				"statistic "+"such as Sum", i+1)
		}
		p.times, p.values = append(p.times, point["Timestamp"]), append(p.values, point[statistic])
	}
	return p.table(from, columnName(statistic))
}

// columnName returns a name for a column, which may have none.
func columnName(name string) string {
	if name == "" {
		return answerColumn
	}
	return name
}

// maxObject limits the length of a JSON object on a line.
const maxObject = 1 << 20

// openObjects reads JSON objects, one on each line. The first one is given. Their members are the columns.
func openObjects(first json.RawMessage, rest *bufio.Scanner, from *unpacked) (*table, error) {
	lines := [][]byte{first}
	for len(lines) < seenRows && rest.Scan() {
		if text := bytes.TrimSpace(rest.Bytes()); len(text) > 0 {
			lines = append(lines, bytes.Clone(text))
		}
	}
	names, err := namesOf(lines)
	if err != nil {
		return nil, fmt.Errorf("trace: %w", err)
	}
	if len(names) < 2 {
		return nil, fmt.Errorf("trace: the JSON begins with %.60q; expected a response of Prometheus, "+
			"VictoriaMetrics or CloudWatch, or one JSON object per line, each with a time and a value",
			first)
	}
	line := 0
	return &table{names: names, separator: ',', row: "object", from: from, read: func() (int, []string, error) {
		line++
		var next []byte
		for len(next) == 0 {
			switch {
			case line <= len(lines):
				next = lines[line-1]
			case rest.Scan():
				next = bytes.TrimSpace(rest.Bytes())
			default:
				return line, nil, endOf(rest)
			}
		}
		_, row, err := members(next, names)
		if err != nil {
			return line, nil, fmt.Errorf("object %d: %w", line, err)
		}
		return line, row, nil
	}}, nil
}

// namesOf returns the names of the members of objects, in the order in which they appear. Only an error in the first object matters,
// because the other objects are read again.
func namesOf(lines [][]byte) (names []string, err error) {
	for i, text := range lines {
		found, _, failed := members(text, nil)
		if failed != nil && i == 0 {
			return nil, failed
		}
		for _, name := range found {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names, nil
}

func endOf(lines *bufio.Scanner) error {
	if err := lines.Err(); err != nil {
		return err
	}
	return io.EOF
}

// members returns the names and the texts of those members of an object that are numbers or texts, in the order of the object. If wanted is
// not empty, it returns only those members, in the order of wanted.
func members(text []byte, wanted []string) (names, texts []string, err error) {
	if !json.Valid(text) { // Someone may have shortened a list, so that it ends in a comma.
		text = bytes.ReplaceAll(text, []byte(",]"), []byte("]"))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return nil, nil, fmt.Errorf("%.40q is not a JSON object; if an object spans several lines, write each "+
			"object on one line: "+"jq -c . %s > load.jsonl", text, FileName)
	}
	texts = make([]string, len(wanted))
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, nil, err
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, nil, err
		}
		text := unquoted(value)
		if _, err := strconv.ParseFloat(text, 64); err != nil && value[0] != '"' && value[0] != 'n' { // Null is a gap.
			continue
		}
		key, _ := name.(string) //nolint:errcheck,revive // The name of a member is a text.
		if wanted == nil {
			names = append(names, key)
		} else if at := slices.Index(wanted, key); at >= 0 {
			texts[at] = text
		}
	}
	if _, err := decoder.Token(); err != nil {
		return nil, nil, fmt.Errorf("%.40q is cut off: remove the line", text)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("more data follows the object on its line: write each object on its own "+
			"line: jq -c . %s > load.jsonl", FileName)
	}
	return names, texts, nil
}
