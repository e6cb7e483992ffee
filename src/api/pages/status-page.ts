import type { IncomingMessage } from 'node:http'
import * as v from 'valibot'
import { authenticateOperator } from '../../access/credentials/operator-credentials.ts'
import type { CallDurations } from '../../call-durations.ts'
import type { Clock } from '../../clock.ts'
import type { Health } from '../../engine/engine.ts'
import type { Metrics } from '../../metrics.ts'
import { samplesOf } from '../../scrape.ts'
import type { DocumentRates } from './document-rates.ts'
import type { PageBody } from './page-route.ts'

const idOrNull = v.nullable(v.string())

/** The body of `/status`. It describes the present work of one server process. */
export const liveStatusSchema = v.object({
  version: v.string(),
  /** Name of the node; the name of the machine on a single node. */
  node: v.string(),
  /** Time of the status, in epoch milliseconds. */
  at: v.number(),
  uptimeSeconds: v.number(),
  /** Reason why no requests should be sent to the server; null if it is ready. */
  notReady: v.nullable(v.string()),
  /** CPU time that the process has used, in seconds. */
  cpuSeconds: v.number(),
  /** All metrics, as `/metrics` returns them as JSON. */
  metrics: v.array(
    v.object({ name: v.string(), labels: v.record(v.string(), v.string()), value: v.number() }),
  ),
  documents: v.array(
    v.object({
      workspaceId: v.string(),
      organizationId: v.string(),
      documentId: v.string(),
      editorId: v.string(),
      connections: v.number(),
      updatesPerSecond: v.nullable(v.number()),
      sizeBytes: v.number(),
    }),
  ),
  slowCalls: v.array(
    v.object({
      path: v.string(),
      organizationId: idOrNull,
      documentId: idOrNull,
      httpCode: v.number(),
      durationMs: v.number(),
      at: v.number(),
      requestId: v.string(),
    }),
  ),
})

export type LiveStatus = v.InferOutput<typeof liveStatusSchema>

export interface StatusSources {
  readonly version: string
  readonly node: string
  readonly clock: Clock
  readonly metrics: Metrics
  readonly readiness: () => Health
  /** Token that the page requires; null: the page is disabled. */
  readonly adminToken: string | null
  readonly documents: DocumentRates
  readonly slowCalls: CallDurations
}

/** Returns the status of this process for the operator. @throws ApiError as `authenticateOperator` */
export async function statusPage(
  { headers }: IncomingMessage,
  { version, node, clock, metrics, readiness, adminToken, documents, slowCalls }: StatusSources,
): Promise<PageBody> {
  await authenticateOperator(headers, {
    adminToken,
    onRefusal: (reason) => metrics.authFailures.inc({ reason }),
  })
  const health = readiness()
  const { user, system } = process.cpuUsage()
  const body: LiveStatus = {
    version,
    node,
    at: clock.now(),
    uptimeSeconds: process.uptime(),
    notReady: health.ok ? null : health.reason,
    cpuSeconds: (user + system) / 1e6,
    metrics: [...samplesOf(await metrics.registry.getMetricsAsJSON())],
    documents: [...documents.list()],
    slowCalls: [...slowCalls.list()],
  }
  return { kind: 'json', body }
}
