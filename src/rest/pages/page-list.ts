import { existsSync, readdirSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { authenticateOperator, opensMetrics } from '../../core/access/credentials/authenticator.ts'
import { ApiError } from '../../core/base/errors.ts'
import { builtFile } from '../../core/base/package-file.ts'
import { readPackageVersion } from '../../core/base/package-version.ts'
import type { CallDurations } from '../../core/metrics/call-durations.ts'
import { samplesOf } from '../../core/metrics/scrape.ts'
import type { Health } from '../../core/store/engine.ts'
import type { PageBody, PageRoute } from '../http/page-route.ts'
import type { Services } from '../services.ts'
import { StaticFile, servedType } from './static-file.ts'
import { StatusReader } from './status-page.ts'

const errorsFolder = 'docs/errors/'

/**
 * Returns the pages of the documentation, the console and the playground, and the script with the class of sockets,
 * which applications import. Returns no pages of a folder that is not built. Source maps are not served.
 */
export const staticPages = (): readonly PageRoute[] => [
  ...['docs/', 'console/', 'client/'].flatMap(filesIn).flatMap(pagesOf),
  errorPages(),
]

/** Returns the paths of the files in a folder of the build. */
function filesIn(folder: string): readonly string[] {
  const place = builtFile(folder)
  if (!existsSync(place)) return []
  return readdirSync(place, { recursive: true, encoding: 'utf8' }).map((name) => folder + name)
}

function pagesOf(name: string): readonly PageRoute[] {
  if (servedType(name) === undefined || name.startsWith(errorsFolder)) return []
  const file = new StaticFile(name)
  return pathsOf(name).map((path) => ({ path, calls: 1, content: (request) => file.content(request) }))
}

/** Returns the paths of a built file. A page of the console is also served with a slash at the end, because users type it. */
function pathsOf(name: string): readonly string[] {
  if (name === 'docs/reference/openapi.json') return ['/openapi.json']
  if (name === 'docs/llms.txt') return ['/llms.txt']
  const path = `/${name.replace(/(\/(index|README))?\.html$/, '')}`
  return name.startsWith('console/') && name.endsWith('.html') ? [path, `${path}/`] : [path]
}

/** Returns the pages of the error codes. A client can ask for a code of another version, which has no page. */
function errorPages(): PageRoute {
  const files = new Map(filesIn(errorsFolder).map((name) => [name, new StaticFile(name)]))
  return {
    path: '/docs/errors/*code',
    route: '/docs/errors/*',
    calls: 1,
    content(request) {
      const [, code = ''] = /\/errors\/([^?]*)/.exec(request.url ?? '') ?? []
      const file = files.get(errorsFolder + (code.endsWith('.md') ? code : `${code}.html`))
      if (file !== undefined) return file.content(request)
      const problem = 'there is no error with this code; /docs/errors lists all codes'
      throw new ApiError('request/unknown-path', problem)
    },
  }
}

export interface PageSources {
  readonly slowCalls: CallDurations
  /** Returns the readiness of the server for load balancers. */
  readonly readiness: () => Health
  /**
   * Returns the bytes of a backup of the current state; null if the engine stores nothing. Reading them throws
   * ApiError RESOURCE_EXHAUSTED if other backups are running.
   */
  readonly backup: () => AsyncIterable<Uint8Array> | null
}

type PageServices = Pick<Services, 'clock' | 'config' | 'engine' | 'metrics' | 'publicUrl' | 'rooms'>

/** Creates the pages for operators, and those of the built files. */
export function pageRoutes(services: PageServices, sources: PageSources): readonly PageRoute[] {
  const version = readPackageVersion()
  const { config, publicUrl } = services
  const { readiness } = sources
  const status = new StatusReader(services, sources.slowCalls)
  const operate = (path: string, page: Pick<PageRoute, 'calls' | 'isAudited' | 'content'>): PageRoute => ({
    path,
    door: 'operator',
    ...page,
    async content(request) {
      await authenticateOperator(request.headers, {
        adminToken: config.adminToken,
        onRefusal: (reason) => services.metrics.authFailures.inc({ reason }),
      })
      return page.content(request)
    },
  })
  return [
    { path: '/', calls: 1, content: (request) => root(request, version) },
    { path: '/healthz', calls: 0, content: () => json({ status: 'ok' }) },
    { path: '/readyz', calls: 0, content: () => ready(readiness()) },
    {
      path: '/metrics',
      calls: metricsCalls,
      door: 'metrics',
      content: (request) => metricsPage(request, services, readiness),
    },
    operate('/status', {
      calls: metricsCalls,
      content: async () => json(await status.read(version, readiness())),
    }),
    operate('/backup', {
      calls: 1,
      isAudited: true,
      content: (request) => backupPage(request, sources),
    }),
    { path: '/version', calls: 1, content: () => json({ name: 'weft', version, publicUrl }) },
    ...staticPages(),
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
  'For language models': '/llms.txt',
  Health: '/healthz',
  Readiness: '/readyz',
  Metrics: '/metrics',
  Version: '/version',
}

function root({ headers }: IncomingMessage, version: string): PageBody {
  if (!headers.accept?.includes('text/html')) return json({ name: 'weft', version, links })
  return { kind: 'empty', status: 302, headers: { location: links.Console, vary: 'accept' } }
}

function ready(health: Health): PageBody {
  if (!health.ok)
    throw new ApiError('server/not-ready', `not ready: ${health.reason}`, { retryAfterSeconds: 1 })
  return json({ status: 'ready' })
}

async function metricsPage(
  { headers }: IncomingMessage,
  { config, metrics }: PageServices,
  readiness: () => Health,
): Promise<PageBody> {
  const [, given = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? []
  if (config.metricsToken !== null && !opensMetrics(config, given))
    throw new ApiError('auth/metrics-token', 'metrics need the metrics token as bearer token')
  metrics.ready.set(readiness().ok ? 1 : 0)
  const { registry } = metrics
  if (headers.accept === 'application/json') return json(samplesOf(await registry.getMetricsAsJSON()))
  return { kind: 'text', type: registry.contentType, text: await registry.metrics() }
}

function backupPage({ method }: IncomingMessage, { backup }: PageSources): PageBody {
  // A HEAD response has no body, so no backup is started.
  const chunks = method === 'HEAD' ? [] : backup()
  if (chunks === null)
    throw new ApiError('backup/nothing-stored', 'this server stores nothing; use an engine other than memory')
  return { kind: 'stream', type: 'application/octet-stream', chunks }
}
