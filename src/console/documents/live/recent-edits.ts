import * as Y from 'yjs'

/** Added content counts as new for one to two times this duration. */
const stepMs = 3_000

/** Marks the recently added parts of a document: the parts after an earlier state vector. */
export class RecentEdits {
  readonly #doc: Y.Doc
  readonly #onChange: () => void
  #timer: ReturnType<typeof setInterval> | undefined
  /** State vectors of the two latest steps; null: nothing is new. */
  #recent: Map<number, number> | null = null
  #older: Map<number, number> | null = null

  /** @param onChange called when a part is no longer new */
  constructor(doc: Y.Doc, onChange: () => void) {
    this.#doc = doc
    this.#onChange = onChange
  }

  /** Existing content is not new. */
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

  /** The clock from which on the operations of a client are new. */
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
