// Shared parts of the dashboards. They follow the conventions of kubernetes-mixin (data source, variables, legends, units).
local source = { type: 'prometheus', uid: '${datasource}' };
local runbooks = 'https://github.com/forewarm/forewarm/blob/main/docs/runbooks.md';

local query(name, label, query, more={}) = {
  name: name,
  label: label,
  type: 'query',
  datasource: source,
  query: query,
  refresh: 2,
  sort: 1,
} + more;

// The value of All is a regular expression, because a list of a thousand names is too long for a request.
local several = { multi: true, includeAll: true, allValue: '.+' };

// place puts panels side by side, 24 columns wide, below y.
local place(panels, y) = std.foldl(
  function(at, p)
    local wraps = at.x + p.w > 24;
    local x = if wraps then 0 else at.x;
    local top = if wraps then at.bottom else at.top;
    {
      x: x + p.w,
      top: top,
      bottom: std.max(at.bottom, top + p.h),
      panels: at.panels + [p.panel { gridPos: { x: x, y: top, w: p.w, h: p.h } }],
    },
  panels,
  { x: 0, top: y, bottom: y, panels: [] }
);

{
  // Every adapter replica exports the metrics of every Forecast, so a query takes the maximum over the replicas.
  forecasts:: 'namespace=~"$namespace", forecast=~"$forecast"',
  each(metric, labels='', by='namespace, forecast')::
    'max by (%s) (%s{%s})' % [by, metric, std.join(', ', [self.forecasts] + if labels == '' then [] else [labels])],

  target(expr, legend, instant=false):: { expr: expr, legendFormat: legend, instant: instant, range: !instant },

  panel(type, title, description, unit, targets, w, alerts, defaults):: {
    w: w,
    h: if type == 'stat' then 4 else 8,
    panel: {
      type: type,
      title: title,
      description: std.join('\n\n', [description] + ['[Runbook %s](%s#%s)' % [a, runbooks, std.asciiLower(a)] for a in alerts]),
      links: [{ title: 'Runbook ' + a, url: '%s#%s' % [runbooks, std.asciiLower(a)], targetBlank: true } for a in alerts],
      datasource: source,
      targets: std.mapWithIndex(function(i, t) t { refId: std.char(65 + i), datasource: source }, targets),
      fieldConfig: { defaults: { unit: unit, color: { mode: 'palette-classic' } } + defaults, overrides: [] },
    },
  },

  // Lines over time. A threshold is drawn as a dashed line.
  lines(title, description, unit, targets, w=8, alerts=[], min=null, thresholds=[], stack=false)::
    self.panel('timeseries', title, description, unit, targets, w, alerts, {
      [if min != null then 'min']: min,
      custom: {
        lineWidth: 1,
        showPoints: 'never',
        fillOpacity: if stack then 30 else 0,
        stacking: { mode: if stack then 'normal' else 'none' },
        thresholdsStyle: { mode: if thresholds == [] then 'off' else 'dashed' },
      },
      thresholds: { mode: 'absolute', steps: [{ color: 'transparent', value: null }] + thresholds },
    }) + {
      panel+: {
        options: {
          legend: { displayMode: 'list', placement: 'bottom', showLegend: true },
          tooltip: { mode: 'multi', sort: 'desc' },
        },
      },
    },

  // The current value as one number. Each step is [color, lowest value of that color].
  number(title, description, unit, expr, steps=[['text', null]], w=4, alerts=[], decimals=null)::
    self.panel('stat', title, description, unit, [self.target(expr, '', instant=true)], w, alerts, {
      [if decimals != null then 'decimals']: decimals,
      color: { mode: 'thresholds' },
      thresholds: { mode: 'absolute', steps: [{ color: s[0], value: s[1] } for s in steps] },
    }) + {
      panel+: { options: { colorMode: 'value', graphMode: 'none', reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false } } },
    },

  row(title, panels, repeat=null):: { title: title, panels: panels, repeat: repeat },

  namespaceVariable:: query(
    'namespace', 'Namespace', 'label_values(forewarm_forecast_state{state="Ready"}, namespace)', several
  ),
  forecastVariable:: query(
    'forecast', 'Forecast', 'label_values(forewarm_forecast_state{state="Ready", namespace=~"$namespace"}, ' +
                            'forecast)', several
  ),
  query:: query,

  dashboard(title, uid, description, variables, rows):: {
    title: 'Forewarm / ' + title,
    uid: uid,
    description: description,
    tags: ['forewarm'],
    schemaVersion: 41,
    editable: true,
    graphTooltip: 1,
    timezone: 'utc',
    refresh: '1m',
    time: { from: 'now-24h', to: 'now' },
    links: [{ title: 'Forewarm', type: 'dashboards', tags: ['forewarm'], asDropdown: true, includeVars: true, keepTime: true }],
    templating: {
      list: [{
        name: 'datasource',
        label: 'Data source',
        type: 'datasource',
        query: 'prometheus',
        refresh: 1,
      }] + variables,
    },
    panels: std.mapWithIndex(
      function(i, p) p { id: i + 1 },
      std.foldl(
        function(at, r)
          local head = {
            type: 'row',
            title: r.title,
            collapsed: false,
            panels: [],
            [if r.repeat != null then 'repeat']: r.repeat,
            gridPos: { x: 0, y: at.y, w: 24, h: 1 },
          };
          local placed = place(r.panels, at.y + 1);
          { y: placed.bottom, panels: at.panels + [head] + placed.panels },
        rows,
        { y: 0, panels: [] }
      ).panels
    ),
  },
}
