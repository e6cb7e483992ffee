import * as Y from 'yjs'

/** Time in ms. Added content counts as new for one to two times this time. */
const stepMs = 3_000

/** Determines which parts of a document were added recently: the parts after an earlier state vector. */
export class RecentEdits {
  readonly #doc: Y.Doc
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  /** State vectors of the two latest steps; null if nothing is new. */
  #recent: Map<number, number> | null = null
  #older: Map<number, number> | null = null

  /** @param onChange called when a part is no longer new */
  constructor(doc: Y.Doc, onChange: () => void) {
    this.#doc = doc
    this.#onChange = onChange
  }

  /** Starts to observe the document. Content that exists already is not new. */
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

  /** Returns the clock of a client from which its operations are new. */
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
