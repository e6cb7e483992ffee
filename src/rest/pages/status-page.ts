import type { IncomingMessage } from 'node:http'
import { authenticateOperator } from '../../core/access/credentials/authenticator.ts'
import type { Clock } from '../../core/base/clock.ts'
import * as s from '../../core/base/schema.ts'
import type { CallDurations } from '../../core/metrics/call-durations.ts'
import type { Metrics } from '../../core/metrics/metrics.ts'
import { samplesOf } from '../../core/metrics/scrape.ts'
import type { Health } from '../../core/store/engine.ts'
import type { PageBody } from '../http/page-route.ts'
import type { DocumentRates } from './document-rates.ts'

const idOrNull = s.orNull(s.string)

/** The body of `/status`. It describes the present work of one server process. */
export const liveStatusSchema = s.object({
  version: s.string,
  /** Name of the node; the name of the machine on a single node. */
  node: s.string,
  /** Time of the status, in epoch milliseconds. */
  at: s.number,
  uptimeSeconds: s.number,
  /** Reason why no requests should be sent to the server; null if it is ready. */
  notReady: s.orNull(s.string),
  /** CPU time that the process has used, in seconds. */
  cpuSeconds: s.number,
  /** All metrics, as `/metrics` returns them as JSON. */
  metrics: s.array(s.object({ name: s.string, labels: s.map(s.string), value: s.number })),
  documents: s.array(
    s.object({
      workspaceId: s.string,
      organizationId: s.string,
      documentId: s.string,
      editorId: s.string,
      connections: s.number,
      updatesPerSecond: s.orNull(s.number),
      sizeBytes: s.number,
    }),
  ),
  slowCalls: s.array(
    s.object({
      path: s.string,
      organizationId: idOrNull,
      documentId: idOrNull,
      httpCode: s.number,
      durationMs: s.number,
      at: s.number,
      requestId: s.string,
    }),
  ),
})

export type LiveStatus = s.TypeOf<typeof liveStatusSchema>

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
