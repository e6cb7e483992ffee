import { existsSync, readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { authenticateOperator } from '../../core/access/credentials/authenticator.ts'
import { timingSafeEqualText } from '../../core/access/credentials/timing-safe.ts'
import { ApiError } from '../../core/base/errors.ts'
import { builtFile } from '../../core/base/package-file.ts'
import { samplesOf } from '../../core/metrics/scrape.ts'
import type { Health } from '../../core/store/engine.ts'
import type { PageBody, PageRoute } from '../http/page-route.ts'
import { tagsOf } from '../openapi/document.ts'
import type { PathDescription } from '../openapi/path-description.ts'
import type { Operation } from '../operation.ts'
import { docsPages } from './docs-pages.ts'
import { ownFilesPolicy } from './page-policy.ts'
import { StaticFile } from './static-file.ts'
import { type StatusSources, statusPage } from './status-page.ts'

const types: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
}

const folder = 'console/'

/**
 * Returns the built pages of the console and the playground. Returns no pages if they are not built. Source
 * maps are not served.
 */
function consolePages(): readonly PageRoute[] {
  const place = builtFile(folder)
  if (!existsSync(place)) return []
  return readdirSync(place).flatMap(filePages)
}

const endingOf = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

/**
 * Returns the paths of a built file. `index.html` is `/console`, and `playground.html` is
 * `/console/playground`. Each page is also served with a slash at the end, because users type it.
 */
function pathsOf(name: string): readonly string[] {
  if (endingOf(name) !== 'html') return [`/console/${name}`]
  const path = name === 'index.html' ? '/console' : `/console/${name.replace(/\.html$/, '')}`
  return [path, `${path}/`]
}

/** Returns whether a file name contains a hash of its content, as the names of built parts do. */
const isHashed = (name: string): boolean => /-[A-Z0-9]{8}\.js$/.test(name)

function filePages(name: string): readonly PageRoute[] {
  const type = types[endingOf(name)]
  if (type === undefined) return []
  const file = new StaticFile(builtFile(folder + name), {
    type,
    contentSecurityPolicy: ownFilesPolicy,
    isImmutable: isHashed(name),
  })
  return pathsOf(name).map((path) => ({ path, calls: 1, content: (request) => file.content(request) }))
}

const name = 'client/weft-socket.js'

/** Returns the script with the class of sockets, which applications import. Returns no page if it is not built. */
function clientPages(): readonly PageRoute[] {
  const place = builtFile(name)
  if (!existsSync(place)) return []
  const file = new StaticFile(place, {
    type: 'text/javascript; charset=utf-8',
    contentSecurityPolicy: ownFilesPolicy,
    isImmutable: false,
    isPublic: true,
  })
  return [{ path: `/${name}`, calls: 1, content: (request) => file.content(request) }]
}

export interface PageListOptions extends StatusSources {
  /** URL at which clients reach the server. */
  readonly publicUrl: string
  readonly operations: readonly Operation[]
  /** Paths whose requests are not calls of operations. */
  readonly paths: readonly PathDescription[]
  /** Token that `/metrics` requires; null: public. */
  readonly metricsToken: string | null
  /** Returns sentences about parts that do not work, although the server is ready. */
  readonly degraded: () => readonly string[]
  /**
   * Returns the bytes of a backup of the current state; `nothing` if the engine stores nothing, `busy` if
   * other backups are running.
   */
  readonly backup: () => AsyncIterable<Uint8Array> | 'nothing' | 'busy'
}

/** Creates the pages for operators. */
export function pageRoutes(options: PageListOptions): readonly PageRoute[] {
  const { version, publicUrl, operations, paths, readiness, degraded } = options
  return [
    { path: '/', calls: 1, content: (request) => banner(request, version) },
    { path: '/healthz', calls: 0, content: () => json({ status: 'ok' }) },
    { path: '/readyz', calls: 0, content: () => ready(readiness(), degraded()) },
    {
      path: '/metrics',
      calls: metricsCalls,
      door: 'metrics',
      content: (request) => metricsPage(request, options),
    },
    {
      path: '/status',
      calls: metricsCalls,
      door: 'operator',
      content: (request) => statusPage(request, options),
    },
    {
      path: '/backup',
      calls: 1,
      door: 'operator',
      isAudited: true,
      content: (request) => backupPage(request, options),
    },
    { path: '/version', calls: 1, content: () => json({ name: 'weft', version, publicUrl }) },
    ...docsPages(tagsOf({ operations, paths })),
    ...consolePages(),
    ...clientPages(),
  ]
}

/**
 * Number of calls that one request of the metrics counts as. The number is high because a request takes
 * milliseconds of work, and because normal use is rare.
 */
const metricsCalls = 50

const json = (body: object): PageBody => ({ kind: 'json', body })

const links = {
  Console: '/console',
  Documentation: '/docs',
  'API reference': '/docs/reference',
  OpenAPI: '/openapi.json',
  Health: '/healthz',
  Readiness: '/readyz',
  Metrics: '/metrics',
  Version: '/version',
}

function banner({ headers }: IncomingMessage, version: string): PageBody {
  if (!headers.accept?.includes('text/html')) return json({ name: 'weft', version, links })
  const items = Object.entries(links).map(([name, path]) => `<li><a href="${path}">${name}</a></li>`)
  const text =
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>Weft</title>' +
    `<h1>Weft ${version}</h1><ul>${items.join('')}</ul></html>\n`
  return { kind: 'text', type: 'text/html; charset=utf-8', text }
}

function ready(health: Health, degraded: readonly string[]): PageBody {
  if (!health.ok)
    throw new ApiError('server/not-ready', `not ready: ${health.reason}`, { retryAfterSeconds: 1 })
  return json({ status: 'ready', ...(degraded.length > 0 && { degraded }) })
}

async function metricsPage(
  { headers }: IncomingMessage,
  { metrics, metricsToken, readiness }: PageListOptions,
): Promise<PageBody> {
  if (metricsToken !== null && !timingSafeEqualText(headers.authorization ?? '', `Bearer ${metricsToken}`))
    throw new ApiError('auth/metrics-token', 'metrics need the metrics token as bearer token')
  metrics.ready.set(readiness().ok ? 1 : 0)
  const { registry } = metrics
  if (headers.accept === 'application/json') return json(samplesOf(await registry.getMetricsAsJSON()))
  return { kind: 'text', type: registry.contentType, text: await registry.metrics() }
}

/** Seconds after which a caller may try again while other backups are running. */
const busySeconds = 10

async function backupPage(
  { headers, method }: IncomingMessage,
  { adminToken, metrics, backup }: PageListOptions,
): Promise<PageBody> {
  await authenticateOperator(headers, {
    adminToken,
    onRefusal: (reason) => metrics.authFailures.inc({ reason }),
  })
  // A HEAD response has no body, so no backup is started.
  const chunks = method === 'HEAD' ? [] : backup()
  if (chunks === 'nothing')
    throw new ApiError('backup/nothing-stored', 'this server stores nothing; use an engine other than memory')
  if (chunks === 'busy')
    throw new ApiError('backup/busy', 'other backups are running; try again', {
      retryAfterSeconds: busySeconds,
    })
  return { kind: 'stream', type: 'application/octet-stream', chunks }
}
