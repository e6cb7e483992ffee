import { once } from 'node:events'
import { WebSocket } from 'ws'
import type { BenchServer } from './server.ts'
import { readTrace, updateMessage, updatesOf } from './trace.ts'

/** After this time, a missing keystroke counts as lost. */
const lateMs = 60_000

/** The pace of a typist. */
export interface Pace {
  /** Keystrokes per second; 100 are those of a few users. */
  readonly perSecond: number
  readonly seconds: number
}

export interface Typists {
  /**
   * Types for the time of the pace. Resolves with the milliseconds from each keystroke to its arrival at the
   * reader.
   */
  type(): Promise<number[]>
}

/** An empty state vector, and the start of its answer. */
const [question, answered] = [Buffer.of(0, 0, 1, 0), [0, 1]] as const

/** A client that has an answer is in the room. Earlier keystrokes would not arrive as updates. */
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
 * Opens one client that types in a document and one that reads it.
 * @param times number of measurements
 */
export async function typistsAt(
  server: Pick<BenchServer, 'syncUrl' | 'token'>,
  { perSecond, seconds }: Pace,
  times: number,
): Promise<Typists> {
  const frames = updatesOf(readTrace(perSecond * seconds * times).patches).map(updateMessage)
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
