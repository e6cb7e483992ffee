import { once } from 'node:events'
import { WebSocket } from 'ws'
import { updatesOf } from '../../src/cli/bench/edit-session.ts'
import { recordedTrace, updateMessage } from './recorded-trace.ts'
import type { BenchServer } from './server.ts'

/** Time in ms after which a keystroke that has not arrived counts as lost. */
const lateMs = 60_000

/** How fast and how long a typist types. */
export interface Pace {
  /** Number of keystrokes per second. A few users together type about 100. */
  readonly perSecond: number
  readonly seconds: number
}

export interface Typists {
  /**
   * Types for `seconds`. Resolves with the time in ms from each keystroke until it has arrived at the reader.
   */
  type(): Promise<number[]>
}

/** Message with an empty state vector, and the first bytes of the message that answers it. */
const [question, answered] = [Buffer.of(0, 0, 1, 0), [0, 1]] as const

/**
 * Resolves when the server has answered a client, which is then in the room. Keystrokes before this moment
 * would not arrive as updates.
 */
async function isServed(socket: WebSocket): Promise<void> {
  await new Promise<void>((resolve) => {
    const received = (message: Buffer): void => {
      if (message[0] !== answered[0] || message[1] !== answered[1]) return
      socket.off('message', received)
      resolve()
    }
    socket.on('message', received)
    socket.send(question)
  })
}

/**
 * Opens two clients of a document. One client types and the other reads.
 * @param times number of measurements
 */
export async function typistsAt(
  server: Pick<BenchServer, 'syncUrl' | 'token'>,
  { perSecond, seconds }: Pace,
  times: number,
): Promise<Typists> {
  const frames = updatesOf(recordedTrace(perSecond * seconds * times).patches).map(updateMessage)
  const url = `${server.syncUrl}bench/typed/main?token=${await server.token()}`
  const sockets = [0, 1].map(() => new WebSocket(url, { perMessageDeflate: false }))
  await Promise.all(sockets.map((socket) => once(socket, 'open')))
  await Promise.all(sockets.map(isServed))
  const [writer, reader] = sockets as [WebSocket, WebSocket]
  let next = 0
  return {
    async type() {
      const latencies: number[] = []
      const sentAt: number[] = []
      const count = perSecond * seconds
      const received = (message: Buffer): void => {
        if (message[0] === 0 && message[1] === 2)
          latencies.push(performance.now() - (sentAt[latencies.length] as number))
      }
      reader.on('message', received)
      const start = performance.now()
      while (sentAt.length < count || latencies.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - start) / 1000) * perSecond))
        while (sentAt.length < due) {
          sentAt.push(performance.now())
          writer.send(frames[next++] as Uint8Array)
        }
        if (performance.now() - start > seconds * 1000 + lateMs)
          throw new Error(`${sentAt.length - latencies.length} keystrokes have not come`)
        await new Promise((resolve) => setTimeout(resolve, 1))
      }
      reader.off('message', received)
      return latencies
    },
  }
}
