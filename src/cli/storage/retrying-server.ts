import type { OnlineResult, OnlineServer } from '../../capabilities/transfer/documents/rest-client.ts'
import { checkedOptions } from '../location/location.ts'

/** Longest time in seconds for which one retry waits because the server names it in `Retry-After`. */
const retryAfterMaxSeconds = 60
const attemptMs = 120_000
const messageEveryMs = 10_000
/** Retries end by time, so their number is only a second bound. */
const retriesMax = 1_000

interface RetryOptions {
  /** Time in seconds for which a call is repeated. */
  readonly waitSeconds: number
  /** No call is repeated after this signal. */
  readonly stop: AbortSignal
  readonly onMessage: (message: string) => void
}

/**
 * Returns the server with calls that are repeated while the server rejects them with 429 or 503 or cannot be reached.
 * Until the server has responded once, an error of the connection is final, because the URL can be wrong. A call whose
 * time is over is final, and later calls of the operation are sent once until one succeeds.
 * @throws ConfigError if the URL or the credentials are not valid
 */
export async function withRetries(server: OnlineServer, options: RetryOptions): Promise<OnlineServer> {
  const [{ settingsOf }, { sendByPath }] = await Promise.all([
    import('../../client/rest/client-options.ts'),
    import('../../client/rest/send-by-path.ts'),
  ])
  const { url, apiKey, authToken } = server
  const { waitSeconds, stop, onMessage } = options
  /** Operations whose last call was rejected until its time was over. */
  const exhausted = new Set<string>()
  let hasResponded = false
  let messageAt = Number.NEGATIVE_INFINITY
  const report = (reason: string): void => {
    if (performance.now() - messageAt < messageEveryMs) return
    messageAt = performance.now()
    onMessage(`${url} is busy: ${reason}; the call is repeated for at most ${waitSeconds} s`)
  }
  const fetchAndReport = async (address: string, init: RequestInit): Promise<Response> => {
    try {
      const response = await fetch(address, init)
      hasResponded = true
      const after = response.headers.get('retry-after')
      if ([429, 503].includes(response.status))
        report(`HTTP ${response.status}${after === null ? '' : `, Retry-After ${after}`}`)
      return response
    } catch (error) {
      if (hasResponded) report('no response')
      throw error
    }
  }
  const settings = checkedOptions(() =>
    settingsOf({ url, apiKey, authToken, timeoutMs: timeoutMs(waitSeconds), fetch: fetchAndReport }),
  )
  return {
    ...server,
    async send(path, data): Promise<OnlineResult> {
      const endsAt = performance.now() + waitSeconds * 1000
      const repeated = {
        ...settings,
        retryAfterMaxSeconds: Math.min(retryAfterMaxSeconds, waitSeconds),
        // Read before each retry.
        get retries() {
          const mayRepeat = hasResponded && !exhausted.has(path) && !stop.aborted
          return mayRepeat && performance.now() < endsAt ? retriesMax : 0
        },
      }
      const result = await sendByPath(repeated, path, data)
      if (result.ok) exhausted.delete(path)
      else if (['RESOURCE_EXHAUSTED', 'UNAVAILABLE'].includes(result.error.status)) exhausted.add(path)
      return result
    },
  }
}

/** Returns the time for one call: its retries, and the attempt that is running when their time is over. */
const timeoutMs = (waitSeconds: number): number => waitSeconds * 1000 + attemptMs
