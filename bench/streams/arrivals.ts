import * as Y from 'yjs'
import { streamMarkedIn } from './layout.ts'

/** A part that a writer has sent: the units that it has written with this part, and the time of `performance.now()`. */
export interface SentPart {
  readonly end: number
  readonly sentAt: number
}

/** The parts of one writer, of which an editor has received the first ones. */
interface Awaited {
  readonly parts: readonly SentPart[]
  readonly times: number[]
  /** Clock at which the units of the writer begin. */
  readonly start: number
  next: number
}

/** Measures when the keystrokes of others and the pieces of streams are in an editor. */
export class Arrivals {
  /** Times in ms from a keystroke of another user until it was in this editor. */
  readonly keystrokes: number[] = []
  /** Times in ms from the sending of a piece until it was in this editor. */
  readonly pieces: number[] = []
  /** Number of updates with content of streams. */
  streamUpdates = 0
  readonly #editor: Y.Doc
  readonly #typists = new Map<number, Awaited>()
  readonly #streams = new Map<number, Awaited>()
  readonly #others: Set<number>
  #expected: readonly (readonly SentPart[])[] = []

  /** @param typists what each user types, by client id */
  constructor(editor: Y.Doc, typists: ReadonlyMap<number, readonly SentPart[]>) {
    this.#editor = editor
    this.#others = new Set([editor.clientID, ...editor.store.clients.keys()])
    for (const [client, parts] of typists)
      if (client !== editor.clientID)
        this.#typists.set(client, { parts, times: this.keystrokes, start: 0, next: 0 })
    editor.on('afterTransaction', (transaction: Y.Transaction) => {
      if (!transaction.local) this.#received(transaction, performance.now())
    })
  }

  /** From now on, awaits the pieces of these streams. */
  expectStreams(pieces: readonly (readonly SentPart[])[]): void {
    this.#expected = pieces
  }

  #received({ beforeState, afterState }: Y.Transaction, now: number): void {
    let hasStream = false
    for (const [client, clock] of afterState) {
      if (beforeState.get(client) === clock) continue
      const typist = this.#typists.get(client)
      const awaited = typist ?? this.#streamOf(client)
      if (awaited === null) continue
      hasStream ||= typist === undefined
      const { parts, times, start } = awaited
      for (;;) {
        const part = parts[awaited.next]
        if (part === undefined || start + part.end > clock) break
        times.push(now - part.sentAt)
        awaited.next += 1
      }
    }
    if (hasStream) this.streamUpdates += 1
  }

  /** Returns the stream that writes with a client id. Its first update has its mark. */
  #streamOf(client: number): Awaited | null {
    const found = this.#streams.get(client)
    if (found !== undefined || this.#others.has(client)) return found ?? null
    const marked = streamMarkedIn(writtenBy(this.#editor, client))
    const parts = marked === null ? undefined : this.#expected[marked.stream]
    if (marked === null || parts === undefined) {
      this.#others.add(client)
      return null
    }
    const awaited: Awaited = { parts, times: this.pieces, start: marked.start, next: 0 }
    this.#streams.set(client, awaited)
    return awaited
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
