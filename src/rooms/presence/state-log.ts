/** A named state of a node; the value is null if the state was removed. */
export type PresenceStateEntry<Value> = readonly [name: string, value: Value | null]

/**
 * Changed states of a node. `prev` is the sequence number of the previous delta. If the receiver does not
 * have that delta, it has missed changes.
 */
export interface PresenceDelta<Value> {
  readonly prev: number
  readonly seq: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/** A part of all states of a node at this sequence number. */
export interface PresenceSnapshot<Value> {
  readonly seq: number
  readonly part: number
  readonly parts: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/**
 * Maximum characters of the entries of one message, unless a single entry is longer. A bus accepts at most 1
 * MB per message.
 */
export const presenceMessageLengthMax = 256 * 1024

/** The current values of the states, by name. */
export interface StateSource<Value> {
  value(name: string): Value | null
  entries(): Iterable<PresenceStateEntry<Value>>
}

/**
 * The numbered changes of the states that this node publishes. Other nodes apply each delta, or apply a
 * snapshot instead.
 */
export class LocalStateLog<Value> {
  readonly #source: StateSource<Value>
  readonly #changed = new Set<string>()
  readonly #next: () => number
  #seq: number

  /**
   * @param next returns increasing numbers that are higher than all numbers of an earlier log of the document
   */
  constructor(source: StateSource<Value>, next: () => number) {
    this.#source = source
    this.#next = next
    this.#seq = next()
  }

  /** Sequence number of the last change. */
  get seq(): number {
    return this.#seq
  }

  change(name: string): void {
    this.#changed.add(name)
  }

  /** Returns the changes since the last call. They must be sent in this order. */
  deltas(): readonly PresenceDelta<Value>[] {
    const entries = [...this.#changed].map(
      (name): PresenceStateEntry<Value> => [name, this.#source.value(name)],
    )
    this.#changed.clear()
    return slices(entries).map((slice) => {
      const prev = this.#seq
      this.#seq = this.#next()
      return { prev, seq: this.#seq, entries: slice }
    })
  }

  /** Returns all states. Must be called after `deltas`. */
  snapshots(): readonly PresenceSnapshot<Value>[] {
    const all = slices<Value>([...this.#source.entries()])
    const parts = Math.max(1, all.length)
    return Array.from({ length: parts }, (_, part) => ({
      seq: this.#seq,
      part,
      parts,
      entries: all[part] ?? [],
    }))
  }
}

function slices<Value>(
  entries: readonly PresenceStateEntry<Value>[],
): readonly (readonly PresenceStateEntry<Value>[])[] {
  const found: PresenceStateEntry<Value>[][] = []
  let length = Number.POSITIVE_INFINITY
  for (const entry of entries) {
    const more = JSON.stringify(entry).length
    if (length + more > presenceMessageLengthMax) {
      found.push([])
      length = 0
    }
    found.at(-1)?.push(entry)
    length += more
  }
  return found
}

interface KnownEntry<Value> {
  /** Sequence number of the message that contained this value. */
  readonly seq: number
  readonly value: Value | null
}

interface PendingDeltas<Value> {
  readonly seq: number
  readonly parts: Map<number, readonly PresenceStateEntry<Value>[]>
}

/**
 * The states of another node on a document. Messages may be lost, duplicated or reordered. Changes are
 * applied immediately. Sequence numbers show whether changes were lost; a snapshot then replaces all states.
 */
export class RemotePresenceState<Value> {
  readonly #entries = new Map<string, KnownEntry<Value>>()
  /** Sequence number up to which all changes are known. */
  #knownSeq = -1
  #incomplete: PendingDeltas<Value> | null = null

  /** All changes up to this sequence number are known. */
  get knownSeq(): number {
    return this.#knownSeq
  }

  *entries(): Iterable<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#entries) if (value !== null) yield [name, value]
  }

  /**
   * Applies a delta, and returns the changed states. `knownSeq` then shows whether earlier changes are
   * missing.
   */
  applyDelta({ prev, seq, entries }: PresenceDelta<Value>): readonly PresenceStateEntry<Value>[] {
    if (seq <= this.#knownSeq) return []
    if (prev <= this.#knownSeq) this.#knownSeq = seq
    return entries.filter(([name, value]) => this.#set(name, value, seq))
  }

  /**
   * Applies a part of a snapshot. With the last missing part, returns the changed states; before, returns
   * none.
   */
  applySnapshot({
    seq,
    part,
    parts,
    entries,
  }: PresenceSnapshot<Value>): readonly PresenceStateEntry<Value>[] {
    if (seq <= this.#knownSeq) return []
    if (this.#incomplete === null || this.#incomplete.seq < seq) this.#incomplete = { seq, parts: new Map() }
    if (this.#incomplete.seq !== seq) return []
    this.#incomplete.parts.set(part, entries)
    if (this.#incomplete.parts.size < parts) return []
    const all = new Map([...this.#incomplete.parts.values()].flat())
    this.#incomplete = null
    return this.#replace(seq, all)
  }

  #replace(seq: number, all: ReadonlyMap<string, Value | null>): readonly PresenceStateEntry<Value>[] {
    this.#knownSeq = seq
    const changed: PresenceStateEntry<Value>[] = []
    for (const [name, known] of this.#entries) {
      if (known.seq > seq || all.has(name)) continue
      this.#entries.delete(name)
      if (known.value !== null) changed.push([name, null])
    }
    for (const [name, value] of all) {
      const before = this.#entries.get(name)
      const isSame = JSON.stringify(before?.value ?? null) === JSON.stringify(value)
      if (this.#set(name, value, seq) && !isSame) changed.push([name, value])
    }
    return changed
  }

  /**
   * Sets or removes a state. A removed state is kept as a tombstone as long as an older message could still
   * set it.
   */
  #set(name: string, value: Value | null, seq: number): boolean {
    const before = this.#entries.get(name)
    if (before !== undefined && before.seq >= seq) return false
    if (value === null && seq <= this.#knownSeq) this.#entries.delete(name)
    else this.#entries.set(name, { seq, value })
    return value !== null || (before !== undefined && before.value !== null)
  }
}
