local f = import 'forewarm.libsonnet';
// Other programs export library metrics with the same names. This selects the metrics of Forewarm's own targets.
local own(expr) = '(%s and on (job, instance) forewarm_snapshot_age_seconds)' % expr;
local rate(metric) = 'rate(%s[$__rate_interval])' % metric;

f.dashboard(
  'Is the adapter well?',
  'forewarm-adapter',
  'The health of Forewarm itself: its replicas, the refresh loop, the source, the API groups and the certificates.',
  [f.namespaceVariable, f.forecastVariable],
  [
    f.row('Now', [
      f.number(
        'Replicas',
        'Adapter replicas that Prometheus scrapes. If all of them are down, HPAs keep their current replicas.',
        'none',
        'count(forewarm_snapshot_age_seconds)',
        [['red', null], ['green', 1]],
        alerts=['ForewarmDown']
      ),
      f.number(
        'Oldest snapshot',
        'Age of the oldest snapshot that any adapter replica serves.',
        's',
        'max(forewarm_snapshot_age_seconds)',
        [['green', null], ['orange', 60], ['red', 300]],
        alerts=['ForewarmStuck'],
        decimals=0
      ),
      f.number(
        'Stale Forecasts',
        'Forecasts whose newest sample is too old. Forewarm serves no value for them.',
        'none',
        'max(forewarm_forecasts{state="Stale"})',
        [['green', null], ['red', 1]],
        alerts=['ForewarmForecastNotServed']
      ),
      f.number(
        'Failed queries, last hour',
        'Queries to the source that failed in the last hour. The condition `SourceHealthy` shows the error.',
        'none',
        'sum(increase(forewarm_source_query_errors_total[1h]))',
        [['green', null], ['orange', 1]],
        decimals=0
      ),
      f.number(
        'API groups held',
        'API groups that Forewarm serves. Only reported in a cluster.',
        'none',
        'sum(max by (group) (forewarm_api_group_held))',
        alerts=['ForewarmAPIGroupLost']
      ),
      f.number(
        'Certificates expire in',
        'Time until the next certificate expires. Forewarm renews its serving certificate when a third of a week is left.',
        's',
        'min(forewarm_certificate_expiry_timestamp_seconds) - time()',
        [['red', null], ['green', 86400]],
        alerts=['ForewarmCertificateEnds']
      ),
    ]),
    f.row('Refresh loop', [
      f.lines(
        'Age of the snapshot',
        'Time since the refresh loop last published a snapshot, by replica. It grows while the loop is stuck.',
        's',
        [f.target('max by (instance) (forewarm_snapshot_age_seconds)', '{{instance}}')],
        min=0,
        alerts=['ForewarmStuck']
      ),
      f.lines(
        'Duration of a step',
        'The longest step of the refresh loop in the last one to two minutes. If it takes longer than spec.step of a Forecast, the ' +
        'values of that Forecast are late.',
        's',
        [f.target('max by (instance) (forewarm_refresh_step_seconds)', '{{instance}}')],
        min=0
      ),
      f.lines(
        'Steps and refits',
        'Steps of the refresh loop and refits of models per second. If there are no steps, the loop is stuck.',
        'ops',
        [
          f.target('sum by (instance) (%s)' % rate('forewarm_refresh_steps_total'), '{{instance}} steps'),
          f.target('sum by (instance) (%s)' % rate('forewarm_model_refits_total'), '{{instance}} refits'),
        ],
        min=0
      ),
    ]),
    f.row('Forecasts', [
      f.lines(
        'Forecasts by state',
        'Number of Forecasts in each state.',
        'none',
        [f.target('max by (state) (forewarm_forecasts)', '{{state}}')],
        min=0,
        stack=true,
        alerts=['ForewarmForecastNotServed']
      ),
      f.lines(
        'Age of the newest sample',
        'If the age grows for all Forecasts, the source is down. If it grows for one Forecast, the query of that Forecast no longer ' +
        'returns a series.',
        's',
        [f.target(f.each('forewarm_data_age_seconds'), '{{namespace}}/{{forecast}}')],
        min=0,
        alerts=['ForewarmForecastNotServed']
      ),
      f.lines(
        'Pending and fallback',
        'Forecasts whose first query is in progress, Forecasts that have only part of their history so far, and steps per second ' +
        'in which Forewarm served the running maximum instead of a forecast.',
        'none',
        [
          f.target('max(forewarm_pending_forecasts)', 'pending'),
          f.target('max(forewarm_partial_forecasts)', 'with part of the history'),
          f.target('max(sum by (instance) ' +
                   '(rate(forewarm_fallback_steps_total{%s}[$__rate_interval])))' % f.forecasts, 'fallback steps'),
        ],
        min=0
      ),
    ]),
    f.row('Workloads and autoscalers', [
      f.number(
        'Replicas not ready',
        'Replicas of the workloads of Forecasts that are waiting for a node, starting or failing. Only reported in a cluster.',
        'none',
        'sum(%s) or vector(0)' % f.each('forewarm_workload_replicas', 'state="unready"'),
        w=12,
        alerts=['ForewarmReplicasNotReady', 'ForewarmAutoscalerDisabled']
      ),
      f.number(
        'Autoscalers without their Forecast',
        'Autoscalers that read a Forecast that does not exist. They keep their current replicas. Only reported in a cluster.',
        'none',
        'count(max by (namespace, autoscaler, forecast) (forewarm_autoscaler_forecast_missing{namespace=~"$namespace"})) or vector(0)',
        [['green', null], ['red', 1]],
        w=12,
        alerts=['ForewarmForecastMissing']
      ),
    ]),
    f.row('Source', [
      f.lines(
        'Queries',
        'Queries to the source per second, and failed queries per second. The condition `SourceHealthy` shows the error.',
        'reqps',
        [
          f.target('sum by (instance) (%s)' % rate('forewarm_source_queries_total'), '{{instance}}'),
          f.target('sum by (instance) (%s)' % rate('forewarm_source_query_errors_total'), '{{instance}} failed'),
        ],
        min=0
      ),
      f.lines(
        'Failed scrapes',
        'Failed scrapes per second, by target. Only reported with the embedded engine.',
        'ops',
        [f.target('sum by (job, instance) (%s)' % rate('forewarm_scrapes_failed_total'), '{{job}} {{instance}}')],
        min=0
      ),
      f.lines(
        'Free space',
        'Free space on the disk of the embedded engine. Below 64 MiB, the engine stores no samples. Only reported with the embedded engine.',
        'bytes',
        [f.target('min by (instance) (forewarm_storage_free_bytes)', '{{instance}}')],
        min=0
      ),
    ]),
    f.row('Sources by namespace', [
      f.lines(
        'Duration of a query',
        'Mean time that a source took to answer a query. A slow source delays only its own namespaces. Only reported with `--sources-file`.',
        's',
        [f.target('max by (source) (%s / %s)' % [
          rate('forewarm_sources_query_duration_seconds_sum'),
          rate('forewarm_sources_query_duration_seconds_count'),
        ], '{{source}}')],
        w=12,
        min=0
      ),
      f.lines(
        'Failed queries',
        'Queries per second that a source did not answer, or answered only in part. Only reported with `--sources-file`.',
        'reqps',
        [f.target('sum by (source) (%s)' % rate('forewarm_sources_query_failures_total'), '{{source}}')],
        w=12,
        min=0
      ),
    ]),
    f.row('APIs', [
      f.lines(
        'Requests',
        'Requests to the metrics APIs per second, by status code.',
        'reqps',
        [f.target('sum by (code) %s' % own(rate('apiserver_request_total')), '{{code}}')],
        min=0
      ),
      f.lines(
        'Slowest requests',
        '99 % of the requests were answered within this time.',
        's',
        [f.target(
          'histogram_quantile(0.99, sum by (le) %s)' % own(rate('apiserver_request_duration_seconds_bucket{verb!="WATCH"}')), '99 %'
        )],
        min=0
      ),
      f.lines(
        'Calls from KEDA',
        'Calls to the external scaler per second, by method and code.',
        'reqps',
        [f.target('sum by (grpc_method, grpc_code) (%s)' % rate('forewarm_keda_grpc_server_handled_total'), '{{grpc_method}} {{grpc_code}}')],
        min=0
      ),
    ]),
    f.row('API groups and certificates', [
      f.lines(
        'API groups',
        '1 while Forewarm serves the API group, 0 while another server does.',
        'none',
        [f.target('max by (group) (forewarm_api_group_held)', '{{group}}')],
        w=12,
        min=0,
        alerts=['ForewarmAPIGroupLost']
      ),
      f.lines(
        'Certificates',
        'Time until each certificate expires.',
        's',
        [f.target('min by (certificate) (forewarm_certificate_expiry_timestamp_seconds) - ' +
                  'time()', '{{certificate}}')],
        w=12,
        min=0,
        alerts=['ForewarmCertificateEnds']
      ),
    ]),
    f.row('Comparison of replicas', [
      f.lines(
        'Replicas that differ',
        '1 while adapter replicas differ in something that affects the values they serve: their clocks, versions or flags. ' +
        'Only reported in a cluster.',
        'none',
        [f.target('max by (reason) (forewarm_replicas_differ)', '{{reason}}')],
        w=12,
        min=0,
        alerts=['ForewarmReplicasDiffer']
      ),
      f.lines(
        'Clocks of the sources',
        'How far the clock of each source is ahead of the clock of each adapter replica.',
        's',
        [f.target('max by (instance, source) (forewarm_source_clock_ahead_seconds)', '{{instance}} {{source}}')],
        w=12,
        alerts=['ForewarmReplicasDiffer']
      ),
    ]),
    f.row('Process', [
      f.lines('CPU', 'CPU cores in use, by replica.', 'none', [
        f.target('max by (instance) %s' % own(rate('process_cpu_seconds_total')), '{{instance}}'),
      ], min=0),
      f.lines('Memory', 'Resident memory, by replica.', 'bytes', [
        f.target('max by (instance) %s' % own('process_resident_memory_bytes'), '{{instance}}'),
      ], min=0),
      f.lines('Goroutines', 'If the number keeps growing, report a bug.', 'none', [
        f.target('max by (instance) %s' % own('go_goroutines'), '{{instance}}'),
      ], min=0),
    ]),
  ]
)
