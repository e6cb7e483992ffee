import * as Y from 'yjs'
import { streamMarkedIn } from './layout.ts'
import type { Observed } from './observing.ts'

/**
 * A part that a writer has sent: the units that it has written with this part, and the time on the clock of the
 * machine.
 */
export interface SentPart {
  readonly end: number
  readonly sentAt: number
}

/** The parts of one writer, of which the observer has received the first ones. */
interface Awaited {
  readonly parts: readonly SentPart[]
  readonly times: number[]
  /** Clock at which the units of the writer begin. */
  readonly start: number
  next: number
}

/** Computes when the keystrokes of users and the pieces of streams were in the editor of the observer. */
export class Arrivals {
  /** Times in ms from a keystroke until it was in the editor of the observer. */
  readonly keystrokes: number[] = []
  /** Times in ms from the sending of a piece until it was in the editor of the observer. */
  readonly pieces: number[] = []
  /** Number of transactions with content of streams. */
  streamUpdates = 0
  readonly #editor: Y.Doc
  readonly #typists = new Map<number, Awaited>()
  readonly #streams = new Map<number, Awaited | null>()
  readonly #expected: readonly (readonly SentPart[])[]

  /**
   * @param editor an editor that has everything that the observer has received
   * @param typists the typed parts of each user, by client id
   * @param streams the pieces of each stream
   */
  constructor(
    editor: Y.Doc,
    typists: ReadonlyMap<number, readonly SentPart[]>,
    streams: readonly (readonly SentPart[])[],
  ) {
    this.#editor = editor
    this.#expected = streams
    for (const [client, parts] of typists)
      this.#typists.set(client, { parts, times: this.keystrokes, start: 0, next: 0 })
  }

  /** Adds the transactions of the observer. */
  add(observed: readonly Observed[]): void {
    for (const each of observed) this.#received(each)
  }

  #received({ at, changed }: Observed): void {
    let hasStream = false
    for (const [client, clock] of changed) {
      const typist = this.#typists.get(client)
      const awaited = typist ?? this.#streamOf(client)
      if (awaited === null) continue
      hasStream ||= typist === undefined
      const { parts, times, start } = awaited
      for (;;) {
        const part = parts[awaited.next]
        if (part === undefined || start + part.end > clock) break
        times.push(at - part.sentAt)
        awaited.next += 1
      }
    }
    if (hasStream) this.streamUpdates += 1
  }

  /** Returns the stream that writes with a client id; null if there is none. The content of a stream has its mark. */
  #streamOf(client: number): Awaited | null {
    const known = this.#streams.get(client)
    if (known !== undefined) return known
    const marked = streamMarkedIn(writtenBy(this.#editor, client))
    const parts = marked === null ? undefined : this.#expected[marked.stream]
    const found =
      marked === null || parts === undefined
        ? null
        : { parts, times: this.pieces, start: marked.start, next: 0 }
    this.#streams.set(client, found)
    return found
  }
}

/** Returns what a client has written, with one unit for each clock. */
function writtenBy({ store }: Y.Doc, client: number): string {
  const structs = store.clients.get(client) ?? []
  return structs
    .map((struct) =>
      struct instanceof Y.Item && struct.content instanceof Y.ContentString
        ? struct.content.str
        : '\0'.repeat(struct.length),
    )
    .join('')
}
