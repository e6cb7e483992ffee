import type { IncomingMessage } from 'node:http'
import { operatorCallerOf } from '../access/operator-credentials.ts'
import { timingSafe } from '../access/secrets.ts'
import type { Health } from '../engine/engine.ts'
import { ApiError } from '../errors.ts'
import type { Metrics } from '../metrics.ts'
import { consolePages } from './console.ts'
import { docsPages } from './docs.ts'
import { openApi, tagsOf } from './openapi.ts'
import type { Operation } from './operation.ts'
import type { Page, PageContent } from './page.ts'
import { type OpenApi, referencePages } from './reference.ts'

export interface PageParts {
  readonly version: string
  /** Where clients reach the server. */
  readonly publicUrl: string
  readonly operations: readonly Operation[]
  readonly metrics: Metrics
  /** What `/metrics` asks for; null when it is open. */
  readonly metricsToken: string | null
  /** Whether requests should be sent here. */
  readonly readiness: () => Health
  /** What the holder of this token may have; null: nobody. */
  readonly adminToken: string | null
  /** The bytes of a backup as of now, unless nothing is kept, or others are being made. */
  readonly backup: () => AsyncIterable<Uint8Array> | 'nothing' | 'busy'
}

/** The pages for operators. What describes the operations is made when it is first asked for. */
export function pages(parts: PageParts): readonly Page[] {
  const { version, publicUrl, operations, readiness } = parts
  const described = once(() => Buffer.from(JSON.stringify(openApi(operations, version))))
  const document = () => openApi(operations, version) as OpenApi
  return [
    { path: '/', calls: 1, content: (request) => banner(request, version) },
    { path: '/healthz', calls: 0, content: () => json({ status: 'ok' }) },
    { path: '/readyz', calls: 0, content: () => ready(readiness()) },
    {
      path: '/metrics',
      calls: metricsCalls,
      door: 'metrics',
      content: (request) => metricsPage(request, parts),
    },
    {
      path: '/backup',
      calls: 1,
      door: 'operator',
      isAudited: true,
      content: (request) => backupPage(request, parts),
    },
    { path: '/version', calls: 1, content: () => json({ name: 'weft', version, publicUrl }) },
    { path: '/openapi.json', calls: 1, content: () => jsonText(described()) },
    ...docsPages(),
    ...referencePages(tagsOf(operations), document),
    ...consolePages(),
  ]
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

/** Milliseconds of work, which nobody does often. */
const metricsCalls = 50

const jsonText = (text: Buffer): PageContent => ({
  kind: 'text',
  type: 'application/json; charset=utf-8',
  text,
})

const json = (body: object): PageContent => ({ kind: 'json', body })

const links = {
  Console: '/console',
  Documentation: '/docs',
  'REST service': '/docs/api',
  OpenAPI: '/openapi.json',
  Health: '/healthz',
  Readiness: '/readyz',
  Metrics: '/metrics',
  Version: '/version',
}

function banner({ headers }: IncomingMessage, version: string): PageContent {
  if (!headers.accept?.includes('text/html')) return json({ name: 'weft', version, links })
  const items = Object.entries(links).map(([name, path]) => `<li><a href="${path}">${name}</a></li>`)
  const text =
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>Weft</title>' +
    `<h1>Weft ${version}</h1><ul>${items.join('')}</ul></html>\n`
  return { kind: 'text', type: 'text/html; charset=utf-8', text }
}

function ready(health: Health): PageContent {
  if (!health.ok) throw new ApiError('UNAVAILABLE', `not ready: ${health.reason}`, { retryAfterSeconds: 1 })
  return json({ status: 'ready' })
}

async function metricsPage(
  { headers }: IncomingMessage,
  { metrics, metricsToken, readiness }: PageParts,
): Promise<PageContent> {
  if (metricsToken !== null && !timingSafe(headers.authorization ?? '', `Bearer ${metricsToken}`))
    throw new ApiError('UNAUTHENTICATED', 'metrics need the metrics token as bearer token')
  metrics.ready.set(readiness().ok ? 1 : 0)
  const { registry } = metrics
  return { kind: 'text', type: registry.contentType, text: await registry.metrics() }
}

/** Before a backup is asked for again while others are made. */
const busySeconds = 10

async function backupPage(
  { headers, method }: IncomingMessage,
  { adminToken, metrics, backup }: PageParts,
): Promise<PageContent> {
  await operatorCallerOf(headers, { adminToken, onRefusal: (reason) => metrics.authFailures.inc({ reason }) })
  // Nobody reads the bytes that would be sent.
  const chunks = method === 'HEAD' ? [] : backup()
  if (chunks === 'nothing')
    throw new ApiError('FAILED_PRECONDITION', 'this server keeps nothing: its engine is memory')
  if (chunks === 'busy')
    throw new ApiError('RESOURCE_EXHAUSTED', 'other backups are being made', {
      retryAfterSeconds: busySeconds,
    })
  return { kind: 'stream', type: 'application/octet-stream', chunks }
}
