import { startScript } from '../support/server.ts'

/** What has come to a receiver. */
export interface Arrivals {
  readonly count: number
  /** From the first to the last. */
  readonly ms: number
  /** Of the last. */
  readonly body: string
}

/** A receiver in a process of its own. */
export interface RemoteReceiver {
  readonly url: string
  /** What has come since the last `clear`. */
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
