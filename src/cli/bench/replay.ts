import { setTimeout as sleep } from 'node:timers/promises'
import * as Y from 'yjs'
import type { Running } from './contender.ts'
import type { AuthoredEdit, EditSession } from './edit-session.ts'
import { enter, enterRoom } from './entering.ts'
import { clientFrame, type LoadSocket, opcodes } from './load-socket.ts'
import { sum } from './measure.ts'

/**
 * Maximum number of edits of an author that have been sent but not received. The number is large enough to keep
 * all processes busy, and small enough for meaningful latencies.
 */
const windowSize = 1_024
/** Interval in ms between two checks of the received content. */
const lookMs = 1_000
/** Time in ms without an update after which the missing edits count as lost. */
const quietMs = 10_000
const document = 'session'

/** A client of a session. A session with one author has another client, which only reads. */
interface Participant {
  readonly socket: LoadSocket
  /** Its own edits, and their frames. */
  readonly edits: readonly AuthoredEdit[]
  readonly frames: readonly Buffer[]
  /** Number of its edits that it may send. */
  due: number
  readonly sentAt: number[]
  /** Number of its edits that the next client has received. */
  arrived: number
  /** For each author, the number of characters that this client has received. */
  readonly received: number[]
  /** The updates that it has sent or received, in this order. */
  readonly updates: Uint8Array[]
}

/** Measurements of a part of a session. */
export interface TypedPart {
  /** Times in ms until another client had an edit. */
  readonly latencies: readonly number[]
  readonly seconds: number
}

/**
 * Types a session on a server, as fast as the clients receive it. Each author is a client, and sends an edit when
 * it has received what the author had received.
 */
export class Replay {
  readonly #session: EditSession
  readonly #participants: readonly Participant[]
  #latencies: number[] = []
  #onProgress = (): void => undefined

  private constructor(session: EditSession, participants: readonly Participant[]) {
    this.#session = session
    this.#participants = participants
  }

  static async open(server: Running, session: EditSession): Promise<Replay> {
    const sockets = await enterRoom(server, document, Math.max(2, session.authors.length))
    const participants = sockets.map((socket, index) => {
      const edits = session.edits.filter(({ author }) => author === index)
      const messages = edits.map(({ update }) => server.dialect.update(document, update))
      const frames = messages.map((message) => clientFrame(opcodes.binary, message))
      const received = session.authors.map(() => 0)
      return { socket, edits, frames, due: 0, sentAt: [], arrived: 0, received, updates: [] }
    })
    const replay = new Replay(session, participants)
    for (const [index, socket] of sockets.entries())
      socket.onMessage = (payload) => {
        const message = server.dialect.read(payload)
        if (message !== null && message.kind !== 'awareness') replay.#take(index, Buffer.from(message.bytes))
      }
    await sleep(500)
    return replay
  }

  /**
   * Types the edits before this one, and waits until all clients have them.
   * @throws Error if characters did not arrive
   */
  async type(until = this.#session.edits.length): Promise<TypedPart> {
    for (const participant of this.#participants) participant.due = 0
    for (const { author } of this.#session.edits.slice(0, until)) this.#at(author).due += 1
    this.#latencies = []
    const start = performance.now()
    let quiet: NodeJS.Timeout | undefined
    await new Promise<void>((resolve, reject) => {
      const missing = () => sum(this.#participants.map(({ sentAt, arrived }) => sentAt.length - arrived))
      quiet = setTimeout(() => reject(new Error(`${missing()} edits did not arrive`)), quietMs)
      this.#onProgress = () => {
        quiet?.refresh()
        if (this.#isComplete()) resolve()
      }
      for (const participant of this.#participants) this.#send(participant)
    })
    clearTimeout(quiet)
    return { latencies: this.#latencies, seconds: (performance.now() - start) / 1000 }
  }

  /** @throws Error if a client has another text than the authors */
  async expectEqual(): Promise<void> {
    // Deletions at the end may follow the last character.
    await sleep(lookMs)
    const { authors, endContent } = this.#session
    for (const [index, { updates }] of this.#participants.entries()) {
      const hasOthers = authors.some((_, author) => author !== index)
      if (hasOthers && !isContent(updates, endContent))
        throw new Error('a client has another text than the authors')
    }
  }

  #at(index: number): Participant {
    return this.#participants.at(index % this.#participants.length) as Participant
  }

  #send(participant: Participant): void {
    const { edits, frames, due, sentAt, received, updates, socket } = participant
    while (sentAt.length < due && sentAt.length - participant.arrived < windowSize) {
      const { author, needs, update } = edits[sentAt.length] as AuthoredEdit
      if (needs.some((count, other) => other !== author && count > (received[other] as number))) return
      socket.sendFrames(frames[sentAt.length] as Buffer)
      sentAt.push(performance.now())
      updates.push(update)
    }
  }

  #take(index: number, update: Buffer): void {
    const [participant, previous] = [this.#at(index), this.#at(index - 1)]
    const { received, updates } = participant
    updates.push(update)
    for (const [author, count] of charactersIn(update, this.#session).entries())
      received[author] = Math.max(received[author] as number, count)
    const now = performance.now()
    // A deletion has no clock, so it counts as received together with the previous character.
    const seen = received[this.#participants.indexOf(previous)] ?? 0
    while (
      previous.arrived < previous.sentAt.length &&
      (previous.edits[previous.arrived]?.clock ?? 0) <= seen
    )
      this.#latencies.push(now - (previous.sentAt[previous.arrived++] as number))
    if (previous.sentAt.length - previous.arrived <= windowSize / 2) this.#send(previous)
    this.#send(participant)
    this.#onProgress()
  }

  #isComplete(): boolean {
    return this.#participants.every(({ edits, due, sentAt }, author) => {
      const clock = edits[due - 1]?.clock ?? 0
      const readers = this.#participants.filter((_, index) => index !== author)
      return sentAt.length === due && readers.every(({ received }) => (received[author] ?? 0) >= clock)
    })
  }
}

/** For each author, returns the number of characters up to the last one in an update; 0 if it has none of them. */
function charactersIn(update: Uint8Array, { authors }: EditSession): readonly number[] {
  const { to } = Y.parseUpdateMeta(update)
  return authors.map((author) => to.get(author) ?? 0)
}

/** Returns whether the updates together are exactly a text. */
function isContent(updates: readonly Uint8Array[], text: string): boolean {
  const doc = new Y.Doc()
  // Not merged first: `mergeUpdates` takes quadratic time for many small updates.
  doc.transact(() => {
    for (const update of updates) Y.applyUpdate(doc, update)
  })
  return doc.getText('content').toJSON() === text
}

/**
 * Connects a new client. Returns the time in ms until it has the whole session, or null if it never has it. Also
 * returns functions that check the content and compute how many times the content was sent.
 */
export async function joinSession(server: Running, session: EditSession, longestMs: number) {
  const start = performance.now()
  const parts: { readonly at: number; readonly bytes: Buffer }[] = []
  const socket = await enter(server, document)
  socket.onMessage = (payload) => {
    const message = server.dialect.read(payload)
    if (message === null || message.kind === 'awareness') return
    parts.push({ at: performance.now(), bytes: Buffer.from(message.bytes) })
  }
  socket.send(server.dialect.ask(document))
  const ends = session.authors.map(
    (_, author) => session.edits.findLast((edit) => edit.author === author)?.clock ?? 0,
  )
  // The received updates are read once in a while, not on arrival. Reading a whole document immediately would
  // delay the other clients.
  const received = ends.map(() => 0)
  let looked = 0
  let ms: number | null = null
  while (ms === null && performance.now() - start < longestMs) {
    await sleep(lookMs)
    for (const { at, bytes } of parts.slice(looked)) {
      for (const [author, count] of charactersIn(bytes, session).entries())
        received[author] = Math.max(received[author] as number, count)
      if (ms === null && received.every((count, author) => count >= (ends[author] as number))) ms = at - start
    }
    looked = parts.length
  }
  return {
    ms,
    copies: () => socket.receivedBytes / Math.max(...parts.map(({ bytes }) => bytes.length)),
    isRight: () =>
      isContent(
        parts.map(({ bytes }) => bytes),
        session.endContent,
      ),
  }
}
