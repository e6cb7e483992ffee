import { type MetricPoint, metricPoint, rate } from '../../capabilities/observability/metric-points.ts'
import { formatBytes } from '../../console/ui/format.ts'
import { escapeControls } from '../../core/base/text.ts'
import { Scrape } from '../../core/metrics/scrape.ts'
import type { LiveStatus } from '../../rest/pages/status-page.ts'

export interface StatusSample {
  readonly status: LiveStatus
  readonly scrape: Scrape
}

export const sampleOf = (status: LiveStatus): StatusSample => ({
  status,
  scrape: new Scrape(status.metrics, status.at),
})

/** Rates of the whole server, per second; null if they are not known yet. */
interface ServerRates {
  readonly restCalls: number | null
  readonly rejectedCalls: number | null
  readonly limitHits: number | null
  readonly webhookAttempts: number | null
  /** Used CPU time as a share of one core; 1 is one whole core. */
  readonly cpu: number | null
}

/** Returns the values of a sample. @param before previous sample of the same process; null if there is none */
export function measuredValues(
  now: StatusSample,
  before: StatusSample | null,
): { readonly point: MetricPoint; readonly rates: ServerRates } {
  const earlier = before !== null && before.status.cpuSeconds <= now.status.cpuSeconds ? before : null
  const perSecond = (name: string): number | null =>
    earlier === null ? null : rate(now.scrape, earlier.scrape, name)
  const seconds = earlier === null ? 0 : (now.status.at - earlier.status.at) / 1000
  const cpu =
    earlier === null || seconds <= 0 ? null : (now.status.cpuSeconds - earlier.status.cpuSeconds) / seconds
  return {
    point: metricPoint(now.scrape, earlier?.scrape ?? null),
    rates: {
      restCalls: perSecond('weft_http_request_duration_seconds_count'),
      rejectedCalls: earlier === null ? null : rejectedPerSecond(now.scrape, earlier.scrape),
      limitHits: perSecond('weft_limit_hits_total'),
      webhookAttempts: perSecond('weft_webhook_attempts_total'),
      cpu,
    },
  }
}

/** Returns the responses with a status of 400 or above per second. */
function rejectedPerSecond(now: Scrape, before: Scrape): number | null {
  const seconds = (now.at - before.at) / 1000
  if (seconds <= 0) return null
  const count = (scrape: Scrape): number =>
    [...scrape.by('weft_http_request_duration_seconds_count', 'status')]
      .filter(([status]) => Number(status) >= 400)
      .reduce((sum, [, value]) => sum + value, 0)
  return Math.max(0, count(now) - count(before)) / seconds
}

/** Returns the first `columns` characters of a line. */
export const cutLine = (line: string, columns: number): string => Array.from(line).slice(0, columns).join('')

/**
 * Returns the lines of the screen, at most `rows`, each at most `columns` characters. They contain no control
 * characters, although clients choose the ids of documents.
 * @param url URL of the server, for the title
 */
export function renderStatus(
  url: string,
  now: StatusSample,
  before: StatusSample | null,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): readonly string[] {
  const head = [...headOf(url, now, before), '']
  const left = Math.max(0, rows - head.length - 5)
  const slow = slowRows(now.status)
  const slowShown = Math.min(slow.length, Math.max(1, Math.floor(left / 3)))
  const documents = documentRows(now.status)
  const documentsShown = Math.max(0, Math.min(documents.length, left - slowShown))
  return [
    ...head,
    ...table(['DOCUMENT', 'CONNECTIONS', 'UPDATES/S', 'SIZE'], documents.slice(0, documentsShown), columns),
    ...(documents.length === 0 ? ['no document is open'] : []),
    '',
    ...table(['SLOW CALL (LAST 5 MIN)', 'STATUS', 'AGE', 'MS'], slow.slice(0, slowShown), columns),
    ...(slow.length === 0 ? ['no call took 100 ms'] : []),
  ]
    .slice(0, rows)
    .map((line) => cutLine(line, columns))
}

function headOf(url: string, now: StatusSample, before: StatusSample | null): readonly string[] {
  const { version, node, uptimeSeconds, notReady, at } = now.status
  const { point, rates } = measuredValues(now, before)
  const protocols = point.protocols.map(([name, count]) => `${name} ${formatCount(count)}`).join(', ')
  const state = notReady === null ? 'ready' : `NOT READY: ${escapeControls(notReady)}`
  return [
    `weft ${escapeControls(version)}  ${state}  ${escapeControls(url)}  node ${escapeControls(node)}  up ${formatDuration(uptimeSeconds)}  ${new Date(at).toISOString().slice(11, 19)} UTC`,
    `connections ${formatCount(point.connections)}${protocols === '' ? '' : ` (${escapeControls(protocols)})`}  open documents ${formatCount(point.documents)}  memory ${formatSize(point.memory)}  CPU ${formatShare(rates.cpu)}${diskOf(point)}`,
    `updates ${formatRate(point.updatesPerSecond)}  requests ${formatRate(rates.restCalls)}, rejected ${formatRate(rates.rejectedCalls)}  webhook attempts ${formatRate(rates.webhookAttempts)}, waiting ${formatCount(point.webhookQueue)}  limits hit ${formatRate(rates.limitHits)}`,
    `commit p50 ${formatMs(point.commitP50)}, p99 ${formatMs(point.commitP99)}  event loop p50 ${formatMs(point.loopP50)}, p99 ${formatMs(point.loopP99)}`,
  ]
}

const diskOf = ({ diskFree, diskSize }: MetricPoint): string =>
  diskFree === null || diskSize === null
    ? ''
    : `  disk free ${formatSize(diskFree)} of ${formatSize(diskSize)}`

const documentRows = ({ documents }: LiveStatus): readonly (readonly string[])[] =>
  documents.map(({ organizationId, documentId, editorId, connections, updatesPerSecond, sizeBytes }) => [
    [organizationId, documentId, editorId].map(escapeControls).join('/'),
    formatCount(connections),
    updatesPerSecond === null ? '–' : updatesPerSecond.toFixed(1),
    formatBytes(sizeBytes),
  ])

const slowRows = ({ slowCalls, at: now }: LiveStatus): readonly (readonly string[])[] =>
  slowCalls.map(({ path, organizationId, documentId, httpCode, durationMs, at }) => {
    const document = [organizationId, documentId].filter((id) => id !== null).map(escapeControls)
    return [
      [escapeControls(path), document.join('/')].join('  '),
      String(httpCode),
      formatDuration((now - at) / 1000),
      formatCount(Math.round(durationMs)),
    ]
  })

/** Returns the lines of a table. The first column takes the rest of the width; the others are aligned right. */
function table(
  titles: readonly string[],
  rows: readonly (readonly string[])[],
  columns: number,
): readonly string[] {
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...rows.map((row) => row[index]?.length ?? 0)),
  )
  const others = widths.slice(1).reduce((sum, width) => sum + width + 2, 0)
  const first = Math.max(10, columns - others)
  return [titles, ...rows].map(([name = '', ...cells]) => {
    const letters = Array.from(name)
    const shown = letters.length > first ? `${letters.slice(0, first - 1).join('')}…` : name
    const padding = ' '.repeat(Math.max(0, first - Array.from(shown).length))
    return shown + padding + cells.map((cell, index) => `  ${cell.padStart(widths[index + 1] ?? 0)}`).join('')
  })
}

const unknown = '–'
const formatCount = (count: number | null): string => (count === null ? unknown : count.toLocaleString('en'))
const formatRate = (perSecond: number | null): string =>
  perSecond === null
    ? `${unknown}/s`
    : `${perSecond.toLocaleString('en', { maximumFractionDigits: perSecond < 10 ? 1 : 0 })}/s`
const formatMs = (seconds: number | null): string =>
  seconds === null ? unknown : `${(seconds * 1000).toFixed(1)} ms`
const formatShare = (share: number | null): string =>
  share === null ? unknown : `${Math.round(share * 100)} %`
const formatSize = (size: number | null): string => (size === null ? unknown : formatBytes(size))

/** Formats a duration with its two largest units, for example `3 h 12 min`. */
function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  const [days, hours, minutes] = [
    Math.floor(whole / 86_400),
    Math.floor(whole / 3_600),
    Math.floor(whole / 60),
  ]
  if (days > 0) return `${days} d ${hours % 24} h`
  if (hours > 0) return `${hours} h ${minutes % 60} min`
  if (minutes > 0) return `${minutes} min ${whole % 60} s`
  return `${whole} s`
}
