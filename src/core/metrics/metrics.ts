import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/**
 * Default metrics of prom-client that are gauges although their names end in `_total`. They are left out,
 * because the checker of Prometheus rejects such names.
 */
const misnamedDefaults = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
]

/**
 * Bounds of the histogram buckets in seconds. They cover everything from the broadcast of a keystroke (well
 * below 1 ms) to a write to a stalled disk.
 */
const latencyBuckets = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

export type Metrics = ReturnType<typeof createMetrics>

/**
 * Creates the metrics of one server in a separate registry. Names start with `weft_`, and units are seconds
 * and bytes. No label contains an id, so callers cannot create an unlimited number of series.
 * @param droppedLines returns the number of lines of the log that were dropped
 */
export function createMetrics(droppedLines: () => number = () => 0) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const name of misnamedDefaults) registry.removeSingleMetric(name)
  countDroppedLines(registry, droppedLines)
  return { registry, ...gauges(registry), ...counters(registry), ...histograms(registry) }
}

function countDroppedLines(registry: Registry, droppedLines: () => number): void {
  const counter = new Counter({
    name: 'weft_log_lines_dropped_total',
    help: 'Lines of the log that standard output did not accept',
    registers: [],
    collect() {
      this.reset()
      this.inc(droppedLines())
    },
  })
  registry.registerMetric(counter)
}

function gauges(registry: Registry) {
  const registers = [registry]
  return {
    documentsOpen: new Gauge({
      name: 'weft_rooms_open',
      help: 'Editors with an open room',
      registers,
    }),
    ready: new Gauge({
      name: 'weft_ready',
      help: '1 if requests should be sent to this server; 0 if the store cannot be written, or the server is stopping',
      registers,
    }),
    documentsDamaged: new Gauge({
      name: 'weft_editors_damaged',
      help: 'Requested documents that clients cannot open because their stored data is damaged',
      registers,
    }),
    documentsExpensive: new Gauge({
      name: 'weft_documents_expensive',
      help: 'Documents that are too expensive to read on the event loop; the latest 10,000 since the server started',
      registers,
    }),
    workspacesFull: new Gauge({
      name: 'weft_workspaces_full',
      help: 'Workspaces in use that have reached their storage limit',
      registers,
    }),
    /** `transport` is `websocket` or `http`. */
    connections: new Gauge({
      name: 'weft_connections',
      help: 'Open realtime connections, by protocol and transport',
      labelNames: ['protocol', 'transport'],
      registers,
    }),
    /**
     * Counts only the messages for endpoints that this process has served. The process has no information
     * about other endpoints.
     */
    webhookPending: new Gauge({
      name: 'weft_webhook_pending_messages',
      help: 'Events waiting for delivery, including events between two attempts, when this process last read them',
      registers,
    }),
    webhookOldestPendingSeconds: new Gauge({
      name: 'weft_webhook_oldest_pending_seconds',
      help: 'Age of the oldest event waiting for delivery, when this process last read it',
      registers,
    }),
    feedReaders: new Gauge({
      name: 'weft_feed_readers',
      help: 'Calls and streams that wait for events of a change feed',
      registers,
    }),
    streamsOpen: new Gauge({
      name: 'weft_streams_open',
      help: 'Streams of content that a writer has open',
      registers,
    }),
    /** `purpose` is `change` or `read`. `state` is `waiting` or `running`. */
    threadUses: new Gauge({
      name: 'weft_thread_uses',
      help: 'Calls with large documents that wait for a thread, or run on one',
      labelNames: ['purpose', 'state'],
      registers,
    }),
    backupDurationSeconds: new Gauge({
      name: 'weft_backup_duration_seconds',
      help: 'Duration of the last backup that the server has started and that has ended; 0: none',
      registers,
    }),
    slowClients: new Gauge({
      name: 'weft_slow_clients',
      help: 'Connections with a full send buffer; they get no updates until the client has read it',
      registers,
    }),
  }
}

function counters(registry: Registry) {
  const registers = [registry]
  return {
    traceSpansExported: new Counter({
      name: 'weft_trace_spans_exported_total',
      help: 'Spans of traces that the collector has accepted',
      registers,
    }),
    /** `reason` is `full` (the queue), `failed` (the collector has not accepted them) or `shutdown`. */
    traceSpansDropped: new Counter({
      name: 'weft_trace_spans_dropped_total',
      help: 'Spans of traces that were not exported, by reason',
      labelNames: ['reason'],
      registers,
    }),
    /** `result` is a `BackupResult`. */
    backups: new Counter({
      name: 'weft_backups_total',
      help: 'Backups that the server has started and that have ended, by result: succeeded, failed or damaged (complete, but an earlier backup is damaged)',
      labelNames: ['result'],
      registers,
    }),
    /** `result` is a `PruneResult`. */
    backupPrunes: new Counter({
      name: 'weft_backup_prunes_total',
      help: 'Deletions of old backups after complete backups of the server, by result: succeeded or failed',
      labelNames: ['result'],
      registers,
    }),
    backupWrittenBytes: new Counter({
      name: 'weft_backup_written_bytes_total',
      help: 'Bytes that complete backups of the server have written to the backup repository',
      registers,
    }),
    connectionsClosed: new Counter({
      name: 'weft_connections_closed_total',
      help: 'Closed realtime connections, by close code',
      labelNames: ['code'],
      registers,
    }),
    updates: updatesBySource(registers),
    forwarded: forwardedRequests(registers),
    memoryAccounts: memoryByHolder(registers),
    /**
     * `mode` is `inline`, `thread` or `thread_locked` (on a thread, while other updates of the document had
     * to wait).
     */
    replacements: new Counter({
      name: 'weft_replacements_total',
      help: 'Content replacements computed, by mode',
      labelNames: ['mode'],
      registers,
    }),
    /**
     * `outcome` is `done`, `late` (stopped at its deadline) or `failed` (the thread ended during the job).
     */
    threadJobs: new Counter({
      name: 'weft_thread_jobs_total',
      help: 'Work with large documents on threads, by outcome',
      labelNames: ['purpose', 'outcome'],
      registers,
    }),
    /** `limit` is one of `limitScopes`. */
    limits: new Counter({
      name: 'weft_limit_hits_total',
      help: 'Times a limit was hit, by the option that sets it',
      labelNames: ['limit'],
      registers,
    }),
    statesRefused: new Counter({
      name: 'weft_awareness_rejected_total',
      help: 'Awareness messages of clients that are hidden because their editor has too many clients',
      registers,
    }),
    /** `outcome` is `succeeded` or `failed`. */
    webhookAttempts: new Counter({
      name: 'weft_webhook_attempts_total',
      help: 'Requests to webhook receivers, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    /** `outcome` is `succeeded`, `exhausted` (all attempts failed), or a `DropOutcome`. */
    webhookMessages: new Counter({
      name: 'weft_webhook_messages_total',
      help: 'Webhook messages with a final outcome: succeeded, exhausted (all attempts failed), overflow (too many messages waited) or disabled (the endpoint is disabled)',
      labelNames: ['outcome'],
      registers,
    }),
    /** `outcome` is `done` or `withdrawn`. */
    streamsEnded: new Counter({
      name: 'weft_streams_total',
      help: 'Streams of content that have ended, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    streamedBytes: new Counter({
      name: 'weft_streamed_bytes_total',
      help: 'Bytes of content that streams have written, in UTF-8',
      registers,
    }),
    feedEvents: new Counter({
      name: 'weft_feed_events_total',
      help: 'Events added to the change feeds of API keys',
      registers,
    }),
    /** `result` is `answered` or a `CallFailure`. */
    callbackCalls: new Counter({
      name: 'weft_callback_calls_total',
      help: 'Calls of callbacks, by callback and result: answered, timeout, unreachable, status, invalid, busy or paused (by the circuit breaker)',
      labelNames: ['callback', 'result'],
      registers,
    }),
    callbackBreakers: breakersByCallback(registers),
    /** `outcome` is `first`, `replayed`, `unknown`, `response_not_kept` or `too_many`. */
    idempotentCalls: new Counter({
      name: 'weft_idempotent_calls_total',
      help: 'Calls with an idempotency key, by outcome',
      labelNames: ['outcome'],
      registers,
    }),
    authFailures: new Counter({
      name: 'weft_auth_failures_total',
      help: 'Rejected credentials and tokens, by reason',
      labelNames: ['reason'],
      registers,
    }),
  }
}

/**
 * Counts the accepted document updates by source. Because the counts change with every keystroke, they are
 * plain numbers, and the counter copies them only when the metrics are read.
 */
function updatesBySource(registers: Registry[]) {
  const counts = { socket: 0, rest: 0 }
  const counter = new Counter({
    name: 'weft_updates_total',
    help: 'Document updates accepted, by source',
    labelNames: ['source'],
    registers: [],
    collect() {
      this.reset()
      for (const [source, count] of Object.entries(counts)) if (count > 0) this.inc({ source }, count)
    },
  })
  for (const registry of registers) registry.registerMetric(counter)
  return counts
}

/**
 * Requests and bytes that a node forwards to the owners of documents: a call, a stream of content, a request of a session over HTTP, a
 * websocket, the documents of a multiplexed connection, or the frames that several websockets share.
 */
export type ForwardKind = 'call' | 'stream' | 'session' | 'websocket' | 'tunnel' | 'frames'

/** Counts what this node forwards to other nodes, as plain numbers, because the bytes change with every keystroke. */
function forwardedRequests(registers: Registry[]) {
  const requests: Record<ForwardKind, number> = {
    call: 0,
    stream: 0,
    session: 0,
    websocket: 0,
    tunnel: 0,
    frames: 0,
  }
  const bytes = { request: 0, response: 0 }
  const counter = (
    name: string,
    help: string,
    label: string,
    counts: Readonly<Record<string, number>>,
  ): void => {
    const counted = new Counter({
      name,
      help,
      labelNames: [label],
      registers: [],
      collect() {
        this.reset()
        for (const [value, count] of Object.entries(counts))
          if (count > 0) this.inc({ [label]: value }, count)
      },
    })
    for (const registry of registers) registry.registerMetric(counted)
  }
  counter(
    'weft_forwarded_requests_total',
    'Requests for documents of other nodes that this node has forwarded, by kind: call, stream (of content), session (over HTTP), websocket, tunnel (of a Hocuspocus connection) or frames (frames that several websockets share)',
    'kind',
    requests,
  )
  counter(
    'weft_forwarded_bytes_total',
    'Bytes that this node has forwarded, by direction: request (to other nodes) or response (to clients)',
    'direction',
    bytes,
  )
  return { requests, bytes }
}

/** The circuit breakers of a callback. */
interface MeasuredBreakers {
  readonly callback: string
  /** Number of receivers whose calls are paused. */
  readonly open: () => number
}

/** Creates the metric of paused callbacks. Returns an empty list: the metric includes its members. */
function breakersByCallback(registers: Registry[]): MeasuredBreakers[] {
  const all: MeasuredBreakers[] = []
  const gauge = new Gauge({
    name: 'weft_callback_breakers_open',
    help: 'Callbacks that are not called at the moment because their latest calls failed',
    labelNames: ['callback'],
    registers: [],
    collect() {
      for (const { callback, open } of all) this.set({ callback }, open())
    },
  })
  for (const registry of registers) registry.registerMetric(gauge)
  return all
}

/** Current and maximum memory for one purpose. */
export interface MeasuredMemory {
  readonly name: string
  /** Bytes that are in memory now. */
  readonly bytes: number
  readonly bytesMax: number
}

/**
 * Creates the metrics of all memory that is kept for clients. Returns an empty list: the metrics include
 * every account that is added to this list.
 */
function memoryByHolder(registers: Registry[]): MeasuredMemory[] {
  const holders: MeasuredMemory[] = []
  const gauge = (name: string, help: string, bytesOf: (holder: MeasuredMemory) => number): Gauge =>
    new Gauge({
      name,
      help,
      labelNames: ['holder'],
      registers,
      collect() {
        for (const holder of holders) this.set({ holder: holder.name }, bytesOf(holder))
      },
    })
  gauge('weft_memory_held_bytes', 'Memory reserved for clients, by holder', ({ bytes }) => bytes)
  gauge(
    'weft_memory_held_max_bytes',
    'Limit of the memory reserved for clients, by holder',
    ({ bytesMax }) => bytesMax,
  )
  return holders
}

function histograms(registry: Registry) {
  const registers = [registry]
  const buckets = latencyBuckets
  return {
    commitLatencySeconds: new Histogram({
      name: 'weft_commit_latency_seconds',
      help: 'Time from the receipt of an update until it is durable',
      buckets,
      registers,
    }),
    crdtUpdateDurationSeconds: new Histogram({
      name: 'weft_crdt_update_duration_seconds',
      help: 'Duration of content replacements, including difference and commit, by content type',
      labelNames: ['type'],
      buckets,
      registers,
    }),
    threadWaitSeconds: new Histogram({
      name: 'weft_thread_wait_duration_seconds',
      help: 'Time for which a call with a large document waited for a thread',
      labelNames: ['purpose'],
      buckets,
      registers,
    }),
    webhookAttemptSeconds: new Histogram({
      name: 'weft_webhook_attempt_duration_seconds',
      help: 'Duration of requests to webhook receivers',
      buckets,
      registers,
    }),
    callbackSeconds: new Histogram({
      name: 'weft_callback_duration_seconds',
      help: 'Duration of calls of callbacks, including waits and retries',
      labelNames: ['callback'],
      buckets,
      registers,
    }),
    /** `tool` is a name in the list of tools. `result` is a `ToolCallResult`. */
    mcpToolSeconds: new Histogram({
      name: 'weft_mcp_tool_call_duration_seconds',
      help: 'Duration of tool calls of the MCP server, by tool and result: ok, error, rejected (the tool is not permitted, or the agent has too many calls) or canceled',
      labelNames: ['tool', 'result'],
      buckets,
      registers,
    }),
    /** `route` is a registered path or `unknown`, never a text that the caller sent. */
    httpRequestDurationSeconds: new Histogram({
      name: 'weft_http_request_duration_seconds',
      help: 'Duration of HTTP requests, by route and HTTP code. Long polls (/sync-http events) and /v2/feed last as long as their clients wait',
      labelNames: ['route', 'status'],
      buckets,
      registers,
    }),
  }
}
