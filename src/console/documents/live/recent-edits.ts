import * as Y from 'yjs'

/** Interval in ms between two steps. Added content counts as new for one to two intervals. */
const stepMs = 3_000

/**
 * Determines which parts of a document are new. A part is new if it was added after an earlier state vector.
 */
export class RecentEdits {
  readonly #doc: Y.Doc
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  /** State vectors of the latest step and of the step before; null before `begin`. */
  #recent: Map<number, number> | null = null
  #older: Map<number, number> | null = null

  /** @param onChange called when parts are no longer new */
  constructor(doc: Y.Doc, onChange: () => void) {
    this.#doc = doc
    this.#onChange = onChange
  }

  /** Starts to observe the document. Content that already exists is not new. */
  begin(): void {
    this.#recent = this.#older = this.#vector()
    this.#timer ??= setInterval(() => this.step(), stepMs)
  }

  step(): void {
    const hadNews = !isSame(this.#older, this.#recent)
    this.#older = this.#recent
    this.#recent = this.#vector()
    if (hadNews) this.#onChange()
  }

  /** Returns the first clock of a client whose operation is new. */
  readonly from = (client: number): number =>
    this.#older === null ? Number.POSITIVE_INFINITY : (this.#older.get(client) ?? 0)

  end(): void {
    clearInterval(this.#timer)
  }

  #vector(): Map<number, number> {
    return Y.decodeStateVector(Y.encodeStateVector(this.#doc))
  }
}

function isSame(a: ReadonlyMap<number, number> | null, b: ReadonlyMap<number, number> | null): boolean {
  if (a === null || b === null) return a === b
  return a.size === b.size && [...a].every(([client, clock]) => b.get(client) === clock)
}
