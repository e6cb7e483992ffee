import { useEffect, useState } from 'preact/hooks'
import { type MetricPoint, metricPoint } from '../../capabilities/observability/metric-points.ts'
import type { MetricsHistoryGetData } from '../../client/api/operation-types.ts'
import { Scrape } from '../../core/metrics/scrape.ts'
import type { ApiCallError, ApiClient } from '../api/client.ts'
import { useApi } from '../api/hooks.ts'
import { appendPoint, mergeHistory, pauseMs } from './point-history.ts'

/** Time in ms between a response and the next request. */
const betweenMs = 2000

/**
 * The points of the last day. The server has kept the older ones, and this tab has read the newer ones. They
 * are module state, so that a visit to another page does not lose them.
 */
let history: readonly MetricPoint[] = []
/** True if the server has no history for this key, because it has several API keys and no metrics token. */
let isPastHidden = false

interface MetricsState {
  readonly points: readonly MetricPoint[]
  /** Why there are no newer values; null if there are. */
  readonly error: ApiCallError | null
  /** Reason in `/readyz` for not sending requests to this server; null if it is ready. */
  readonly unready: string | null
  /**
   * True if the server does not show its history to this session: it has several API keys, and no metrics token.
   */
  readonly isPastHidden: boolean
}

/** Reads the metrics repeatedly while the page is visible, even after errors. */
export function useMetrics(): MetricsState {
  const api = useApi()
  const [watched, setWatched] = useState<MetricsState>({
    points: history,
    error: null,
    unready: null,
    isPastHidden,
  })
  useEffect(() => {
    // An error of the earlier credentials does not apply to the new ones.
    setWatched((before) => ({ ...before, error: null }))
    return watch(api, setWatched)
  }, [api])
  return watched
}

/** Starts to read the metrics. Returns the function that stops reading. */
function watch(api: ApiClient, onRead: (state: MetricsState) => void): () => void {
  let [isOver, isAsking] = [false, false]
  let timer = 0
  let last: Scrape | null = null
  const look = async (): Promise<void> => {
    clearTimeout(timer)
    if (isOver || isAsking || document.hidden) return
    isAsking = true
    const [point, unready] = await Promise.all([read(), readiness()])
    if (!isOver && 'at' in point && point.at - (history.at(-1)?.at ?? 0) > pauseMs) await readPast(api)
    isAsking = false
    if (isOver) return
    // If metrics may not be read, the page must not show the metrics of an earlier session.
    if ('at' in point) history = appendPoint(history, point)
    else if (point.status === 'UNAUTHENTICATED') history = []
    onRead({ points: history, error: 'at' in point ? null : point, unready, isPastHidden })
    timer = setTimeout(() => void look(), betweenMs)
  }
  const read = async (): Promise<MetricPoint | ApiCallError> => {
    try {
      const scrape = new Scrape(await api.metrics(), Date.now())
      const point = metricPoint(scrape, last)
      last = scrape
      return point
    } catch (error) {
      return error as ApiCallError
    }
  }
  const follow = () => void look()
  document.addEventListener('visibilitychange', follow)
  void look()
  return () => {
    isOver = true
    clearTimeout(timer)
    document.removeEventListener('visibilitychange', follow)
  }
}

/** Adds the history of the server to the points. Without it, the charts start with the first own point. */
async function readPast(api: ApiClient): Promise<void> {
  if (!api.hasApiKey) return
  const { metricsToken } = api.credentials
  try {
    const past = await api.call<MetricsHistoryGetData>('/v2/metrics/history/get', { metricsToken })
    history = mergeHistory(history, past, Date.now())
    isPastHidden = past.recent === undefined
  } catch {
    // The charts show the later points.
  }
}

async function readiness(): Promise<string | null> {
  try {
    const response = await fetch('/readyz')
    if (response.ok) return null
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } }
    return error?.message ?? 'not ready'
  } catch {
    return 'away'
  }
}
