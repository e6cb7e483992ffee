import { startScript } from '../support/server.ts'

/** The requests that a receiver has received. */
export interface Arrivals {
  readonly count: number
  /** Time between the first and the last request in ms. */
  readonly ms: number
  /** Body of the last request. */
  readonly body: string
}

/** A receiver of webhooks that runs in a separate process. */
export interface RemoteReceiver {
  readonly url: string
  /** Returns the requests that have arrived since the last call of `clear`. */
  arrivals(): Promise<Arrivals>
  clear(): Promise<void>
  kill(): Promise<void>
}

export async function startReceiver(): Promise<RemoteReceiver> {
  const { port, kill } = await startScript('receiver.ts')
  const url = `http://127.0.0.1:${port}/`
  return {
    url,
    arrivals: async () => (await (await fetch(url)).json()) as Arrivals,
    clear: async () => void (await fetch(url, { method: 'DELETE' })),
    kill,
  }
}
