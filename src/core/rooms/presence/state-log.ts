/** A state that a node publishes, with its name. The value is null if the state was removed. */
export type PresenceStateEntry<Value> = readonly [name: string, value: Value | null]

/**
 * The states of a node that have changed, as of sequence number `seq`. `prev` is the sequence number of the
 * previous delta. A receiver that does not have the previous delta has missed changes.
 */
export interface PresenceDelta<Value> {
  readonly prev: number
  readonly seq: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/**
 * One part of a snapshot: the snapshot contains all states of a node at the sequence number `seq`. `part` is
 * the index of this part, `parts` is the number of parts.
 */
export interface PresenceSnapshot<Value> {
  readonly seq: number
  readonly part: number
  readonly parts: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/**
 * Maximum number of characters of the entries in one message. A single entry may be longer. A bus accepts at
 * most 1 MB per message.
 */
export const presenceMessageLengthMax = 256 * 1024

/** Provides the current values of the states that a node publishes, by name. */
export interface StateSource<Value> {
  value(name: string): Value | null
  entries(): Iterable<PresenceStateEntry<Value>>
}

/**
 * Numbers the changes of the states that this node publishes, and creates deltas and snapshots from them.
 * Other nodes apply each delta, or a snapshot instead.
 */
export class LocalStateLog<Value> {
  readonly #source: StateSource<Value>
  readonly #changed = new Set<string>()
  readonly #next: () => number
  #seq: number

  /**
   * @param next returns the next sequence number; the numbers increase, and are higher than those of an
   * earlier log of the same document
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

  /** Returns the changes since the last call as deltas. The deltas must be sent in this order. */
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

  /** Returns all states, as the parts of one snapshot. Must be called after `deltas`. */
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
  /** Sequence number of the delta or snapshot that contained this value. */
  readonly seq: number
  readonly value: Value | null
}

interface PendingDeltas<Value> {
  readonly seq: number
  readonly parts: Map<number, readonly PresenceStateEntry<Value>[]>
}

/**
 * The states of another node for one document. Messages of the node may be lost, duplicated or reordered.
 * Each delta is applied immediately. The sequence numbers show whether changes were lost; a snapshot then
 * replaces all states.
 */
export class RemotePresenceState<Value> {
  readonly #entries = new Map<string, KnownEntry<Value>>()
  /** Sequence number up to which all changes have arrived; -1 before the first snapshot. */
  #knownSeq = -1
  #incomplete: PendingDeltas<Value> | null = null

  /** Sequence number up to which all changes have arrived; -1 before the first snapshot. */
  get knownSeq(): number {
    return this.#knownSeq
  }

  *entries(): Iterable<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#entries) if (value !== null) yield [name, value]
  }

  /**
   * Applies a delta, and returns the states that it has changed. If `knownSeq` is then lower than the
   * sequence number of the delta, earlier changes are missing.
   */
  applyDelta({ prev, seq, entries }: PresenceDelta<Value>): readonly PresenceStateEntry<Value>[] {
    if (seq <= this.#knownSeq) return []
    if (prev <= this.#knownSeq) this.#knownSeq = seq
    return entries.filter(([name, value]) => this.#set(name, value, seq))
  }

  /**
   * Adds a part of a snapshot. When all parts have arrived, applies the snapshot and returns the changed
   * states; until then, returns an empty array.
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
   * Sets or removes a state, unless a later message has already done so. Returns whether a state was set or
   * removed. A removed state is kept as a tombstone as long as an older message could still set it.
   */
  #set(name: string, value: Value | null, seq: number): boolean {
    const before = this.#entries.get(name)
    if (before !== undefined && before.seq >= seq) return false
    if (value === null && seq <= this.#knownSeq) this.#entries.delete(name)
    else this.#entries.set(name, { seq, value })
    return value !== null || (before !== undefined && before.value !== null)
  }
}
