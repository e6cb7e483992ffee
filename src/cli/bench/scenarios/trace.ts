import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from '../contender.ts'
import { during } from '../cpu.ts'
import { enter, enterAs } from '../entering.ts'
import { clientFrame, opcodes } from '../load-socket.ts'
import { median, quantile } from '../measure.ts'
import { p99, per, type Scale, type Scenario, waitMs } from '../scenario.ts'
import { readTrace, updatesOf } from '../trace.ts'

/**
 * Maximum number of keystrokes that have been sent but not received. The number is large enough to keep all
 * processes busy, and small enough for meaningful latencies.
 */
const windowSize = 1_024
const smokeKeystrokes = 3_000
const joiners = 20
/** Time in ms after which a new client without the complete content counts as failed. */
const joinMs = 90_000
/** Interval in ms between two checks of the received content. */
const lookMs = 1_000
const settleMs = 2_000
/** Time in ms without an update after which the missing keystrokes count as lost. */
const quietMs = 10_000
const document = 'trace'

interface Session {
  readonly updates: readonly Uint8Array[]
  readonly client: number
  /** Number of typed characters. Characters that were deleted later are included. */
  readonly length: number
  /** For each update, the number of characters that have been typed up to this update. */
  readonly clocks: Float64Array
  readonly endContent: string
}

let read: Session | undefined

/** Returns the recorded session as updates. The updates are created only once. */
function session(keystrokes: number, file: string | undefined): Session {
  if (read !== undefined) return read
  const trace = readTrace(keystrokes, file)
  const updates = updatesOf(trace.patches)
  const clocks = new Float64Array(updates.length)
  let [client, clock] = [0, 0]
  for (const [index, update] of updates.entries()) {
    for (const [id, to] of Y.parseUpdateMeta(update).to) [client, clock] = [id, to]
    clocks[index] = clock
  }
  read = { updates, client, length: clock, clocks, endContent: trace.endContent }
  return read
}

/**
 * Returns the number of characters that a client had typed up to an update; 0 if the update contains none of
 * them.
 */
const reached = (update: Uint8Array, client: number): number => Y.parseUpdateMeta(update).to.get(client) ?? 0

/**
 * Types the whole session, as fast as a reader receives it. Returns the latencies of the keystrokes in ms,
 * and the duration in seconds.
 */
async function typed(server: Running, { updates, client, clocks, length, endContent }: Session) {
  const { writer, reader } = await enterAs(server, document, ['writer', 'reader'])
  await sleep(500)
  const frames = updates.map((update) => clientFrame(opcodes.binary, server.dialect.update(document, update)))
  const sentAt = new Float64Array(updates.length)
  const latencies: number[] = []
  const parts: Buffer[] = []
  let [sent, seen, highest] = [0, 0, 0]
  const start = performance.now()
  let quiet: NodeJS.Timeout | undefined
  await new Promise<void>((resolve, reject) => {
    quiet = setTimeout(() => reject(new Error(`${sent - seen} keystrokes did not arrive`)), quietMs)
    const send = (): void => {
      while (sent < updates.length && sent - seen < windowSize) {
        sentAt[sent] = performance.now()
        writer.sendFrames(frames[sent++] as Buffer)
      }
    }
    reader.onMessage = (payload) => {
      const message = server.dialect.read(payload)
      if (message === null || message.kind === 'awareness') return
      quiet?.refresh()
      parts.push(Buffer.from(message.bytes))
      // A deletion has no clock, so it counts as received together with the previous character.
      highest = Math.max(highest, reached(message.bytes, client))
      const now = performance.now()
      for (; seen < sent && (clocks[seen] as number) <= highest; seen++)
        latencies.push(now - (sentAt[seen] as number))
      if (highest === length) return resolve()
      if (sent - seen <= windowSize / 2) send()
    }
    send()
  })
  const seconds = (performance.now() - start) / 1000
  clearTimeout(quiet)
  // Deletions at the end may follow the last character.
  await sleep(lookMs)
  if (!isContent(parts, endContent)) throw new Error('the reader has another text than the writer')
  return { latencies, seconds }
}

/** Returns whether the updates together are exactly a text. */
function isContent(updates: readonly Uint8Array[], text: string): boolean {
  const doc = new Y.Doc()
  Y.applyUpdate(doc, Y.mergeUpdates([...updates]))
  return doc.getText('content').toJSON() === text
}

/**
 * Connects a new client. Returns the time in ms until it has everything, or null if it never has everything.
 * Also returns functions that check the content and compute how many times the content was sent.
 */
async function joined(server: Running, { client, length, endContent }: Session, longestMs: number) {
  const start = performance.now()
  const parts: { readonly at: number; readonly bytes: Buffer }[] = []
  const socket = await enter(server, document)
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message === null || message.kind === 'awareness') return
    parts.push({ at: performance.now(), bytes: Buffer.from(message.bytes) })
  }
  socket.send(server.dialect.ask(document))
  // The received updates are read once in a while, not on arrival. Reading a whole document immediately would
  // delay the other clients.
  let looked = 0
  let ms: number | null = null
  while (ms === null && performance.now() - start < longestMs) {
    await sleep(lookMs)
    for (const { at, bytes } of parts.slice(looked)) if (reached(bytes, client) >= length) ms = at - start
    looked = parts.length
  }
  return {
    ms,
    socket,
    copies: () => socket.receivedBytes / Math.max(...parts.map(({ bytes }) => bytes.length)),
    isRight: () =>
      isContent(
        parts.map(({ bytes }) => bytes),
        endContent,
      ),
  }
}

/**
 * Scenario in which one client types a recorded writing session, and another one reads it. Then the server is
 * stopped and started, and many clients connect.
 */
export const recordedSession: Scenario<'rate' | 'p99' | 'join' | 'copies'> = {
  key: 'session',
  name: 'a session of 259,778 keystrokes, writer → reader; then 20 clients connect at once after a restart',
  shows:
    'The throughput of one document with real edits. The session is generated, unless the file of a recorded one is given.',
  needs: 'url',
  figures: {
    rate: { label: 'keystrokes/s', digits: 0, better: 'more' },
    p99,
    join: { label: 'join p50 ms', digits: 0, better: 'less' },
    copies: { label: 'state sent, times', digits: 2, better: 'less' },
  },
  async run(contender, data, scale: Scale) {
    const recorded = session(scale.size === 'full' ? 259_778 : smokeKeystrokes, scale.trace)
    const server = await contender.start(data)
    let typing: { latencies: readonly number[]; seconds: number } | undefined
    const usage = await during(server, async () => {
      typing = await typed(server, recorded)
    })
    const { latencies = [], seconds = 0 } = typing ?? {}
    const rate = per(recorded.updates.length, seconds)
    const figures = { rate, p99: quantile(latencies, 0.99), join: undefined, copies: undefined }
    await sleep(contender.keeps ? waitMs(scale, settleMs) : 0)
    await server.stop()
    if (!contender.keeps || !contender.isOurs) return { figures, usage }
    const again = await contender.start(data)
    await sleep(waitMs(scale, 1_000))
    const arrived = await Promise.all(
      Array.from({ length: joiners }, () => joined(again, recorded, waitMs(scale, joinMs))),
    )
    await sleep(waitMs(scale, 1_000))
    const isComplete = arrived.every(({ ms, isRight }) => ms !== null && isRight())
    const copies = median(arrived.map((each) => each.copies()))
    await again.kill()
    const join = isComplete ? median(arrived.map(({ ms }) => ms ?? 0)) : null
    return { figures: { ...figures, join, copies }, usage }
  },
}
