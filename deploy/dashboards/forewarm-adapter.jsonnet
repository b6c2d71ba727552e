local f = import 'forewarm.libsonnet';
// Metrics of libraries have names that other programs use, too: those of Forewarm's own targets.
local own(expr) = '(%s and on (job, instance) forewarm_snapshot_age_seconds)' % expr;
local rate(metric) = 'rate(%s[$__rate_interval])' % metric;

f.dashboard(
  'Is the adapter well?',
  'forewarm-adapter',
  'Forewarm itself: its replicas, the refresh loop, the source, the API groups and the certificates.',
  [f.namespaceVariable, f.forecastVariable],
  [
    f.row('Now', [
      f.number(
        'Replicas',
        'Adapter replicas that are scraped. Without any, HPAs keep their replicas.',
        'none',
        'count(forewarm_snapshot_age_seconds)',
        [['red', null], ['green', 1]],
        alerts=['ForewarmDown']
      ),
      f.number(
        'Oldest snapshot',
        'Time since the refresh loop of the slowest replica published a snapshot.',
        's',
        'max(forewarm_snapshot_age_seconds)',
        [['green', null], ['orange', 60], ['red', 300]],
        alerts=['ForewarmStuck'],
        decimals=0
      ),
      f.number(
        'Stale Forecasts',
        'Forecasts whose newest sample is too old, so that nothing is served.',
        'none',
        'max(forewarm_forecasts{state="Stale"})',
        [['green', null], ['red', 1]],
        alerts=['ForewarmForecastNotServed']
      ),
      f.number(
        'Failed queries, last hour',
        'Queries to the source that failed in the last hour. `SourceHealthy` has the error.',
        'none',
        'sum(increase(forewarm_source_query_errors_total[1h]))',
        [['green', null], ['orange', 1]],
        decimals=0
      ),
      f.number(
        'API groups held',
        'API groups that lead to Forewarm. In a cluster only.',
        'none',
        'sum(max by (group) (forewarm_api_group_held))',
        alerts=['ForewarmAPIGroupLost']
      ),
      f.number(
        'Certificates end in',
        'Time until the first certificate ends. Forewarm renews it with a third of a week left.',
        's',
        'min(forewarm_certificate_expiry_timestamp_seconds) - time()',
        [['red', null], ['green', 86400]],
        alerts=['ForewarmCertificateEnds']
      ),
    ]),
    f.row('Refresh loop', [
      f.lines(
        'Age of the snapshot',
        'Time since the refresh loop published a snapshot, by replica. It grows while the loop is stuck.',
        's',
        [f.target('max by (instance) (forewarm_snapshot_age_seconds)', '{{instance}}')],
        min=0,
        alerts=['ForewarmStuck']
      ),
      f.lines(
        'Duration of a step',
        'Duration of the longest step of the refresh loop in the last one to two minutes. Above the step of a Forecast its values are late.',
        's',
        [f.target('max by (instance) (forewarm_refresh_step_seconds)', '{{instance}}')],
        min=0
      ),
      f.lines(
        'Steps and refits',
        'Steps of the refresh loop and refits of models, each second. Without steps the loop is stuck.',
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
        'If it grows for all Forecasts, the source is down. If for one, its query has no series any more.',
        's',
        [f.target(f.each('forewarm_data_age_seconds'), '{{namespace}}/{{forecast}}')],
        min=0,
        alerts=['ForewarmForecastNotServed']
      ),
      f.lines(
        'Waiting and falling back',
        'Forecasts whose first query is in progress, Forecasts that answer from a part of their history, and steps each second that ' +
        'the running maximum served.',
        'none',
        [
          f.target('max(forewarm_pending_forecasts)', 'pending'),
          f.target('max(forewarm_partial_forecasts)', 'with a part of the history'),
          f.target('max(sum by (instance) ' +
                   '(rate(forewarm_fallback_steps_total{%s}[$__rate_interval])))' % f.forecasts, 'fallback steps'),
        ],
        min=0
      ),
    ]),
    f.row('Workloads and autoscalers', [
      f.number(
        'Replicas not ready',
        'Replicas of the workloads of Forecasts that wait for a node, start or fail. In a cluster only.',
        'none',
        'sum(%s) or vector(0)' % f.each('forewarm_workload_replicas', 'state="unready"'),
        w=12,
        alerts=['ForewarmReplicasNotReady']
      ),
      f.number(
        'Autoscalers without their Forecast',
        'Autoscalers that name a Forecast that does not exist. They keep their replicas. In a cluster only.',
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
        'Queries to the source each second, and those that failed. The condition `SourceHealthy` has the error.',
        'reqps',
        [
          f.target('sum by (instance) (%s)' % rate('forewarm_source_queries_total'), '{{instance}}'),
          f.target('sum by (instance) (%s)' % rate('forewarm_source_query_errors_total'), '{{instance}} failed'),
        ],
        min=0
      ),
      f.lines(
        'Failed scrapes',
        'With the embedded engine only: scrapes of a target that failed, each second.',
        'ops',
        [f.target('sum by (job, instance) (%s)' % rate('forewarm_scrapes_failed_total'), '{{job}} {{instance}}')],
        min=0
      ),
      f.lines(
        'Free space',
        'With the embedded engine only: free space on its disk. Below 64 MiB no sample is stored.',
        'bytes',
        [f.target('min by (instance) (forewarm_storage_free_bytes)', '{{instance}}')],
        min=0
      ),
    ]),
    f.row('Sources by namespace', [
      f.lines(
        'Duration of a query',
        'With `--sources-file` only: how long a source took to answer, on average. A slow one delays its own namespaces.',
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
        'With `--sources-file` only: queries that a source did not answer, or of which it answered a part, each second.',
        'reqps',
        [f.target('sum by (source) (%s)' % rate('forewarm_sources_query_failures_total'), '{{source}}')],
        w=12,
        min=0
      ),
    ]),
    f.row('APIs', [
      f.lines(
        'Requests',
        'Requests to the metrics APIs each second, by status code.',
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
        'Calls of KEDA',
        'Calls to the external scaler each second, by method and code.',
        'reqps',
        [f.target('sum by (grpc_method, grpc_code) (%s)' % rate('forewarm_keda_grpc_server_handled_total'), '{{grpc_method}} {{grpc_code}}')],
        min=0
      ),
    ]),
    f.row('API groups and certificates', [
      f.lines(
        'API groups',
        '1 while the API group leads to Forewarm, 0 while it leads elsewhere.',
        'none',
        [f.target('max by (group) (forewarm_api_group_held)', '{{group}}')],
        w=12,
        min=0,
        alerts=['ForewarmAPIGroupLost']
      ),
      f.lines(
        'Certificates',
        'Time until each certificate ends.',
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
        '1 while adapter replicas differ in what decides values: their clocks, versions or flags. In a cluster only.',
        'none',
        [f.target('max by (reason) (forewarm_replicas_differ)', '{{reason}}')],
        w=12,
        min=0,
        alerts=['ForewarmReplicasDiffer']
      ),
      f.lines(
        'Clocks of the sources',
        'How far the clock of each source is ahead of that of each adapter replica.',
        's',
        [f.target('max by (instance, source) (forewarm_source_clock_ahead_seconds)', '{{instance}} {{source}}')],
        w=12,
        alerts=['ForewarmReplicasDiffer']
      ),
    ]),
    f.row('Process', [
      f.lines('CPU', 'Processor cores in use, by replica.', 'none', [
        f.target('max by (instance) %s' % own(rate('process_cpu_seconds_total')), '{{instance}}'),
      ], min=0),
      f.lines('Memory', 'Resident memory, by replica.', 'bytes', [
        f.target('max by (instance) %s' % own('process_resident_memory_bytes'), '{{instance}}'),
      ], min=0),
      f.lines('Goroutines', 'If they grow without end, report a bug.', 'none', [
        f.target('max by (instance) %s' % own('go_goroutines'), '{{instance}}'),
      ], min=0),
    ]),
  ]
)
