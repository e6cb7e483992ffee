/** Something that a node says under a name; null: it says nothing under it any more. */
export type PresenceStateEntry<Value> = readonly [name: string, value: Value | null]

/** What a node says anew. `prev`: the number of what it said before; whoever has not heard that has missed something. */
export interface PresenceDelta<Value> {
  readonly prev: number
  readonly seq: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/** A part of all that a node says: as it is after the delta of this number. */
export interface PresenceSnapshot<Value> {
  readonly seq: number
  readonly part: number
  readonly parts: number
  readonly entries: readonly PresenceStateEntry<Value>[]
}

/** Characters of the entries of one message, unless one alone has more: a bus takes messages of 1 MB at most. */
export const presenceMessageLengthMax = 256 * 1024

/** The current values of a log, by their names. */
export interface StateSource<Value> {
  value(name: string): Value | null
  entries(): Iterable<PresenceStateEntry<Value>>
}

/** The numbered changes of the states that this node publishes of a document. Other nodes read each change, or everything. */
export class LocalStateLog<Value> {
  readonly #source: StateSource<Value>
  readonly #changed = new Set<string>()
  readonly #next: () => number
  #seq: number

  /** @param next numbers that only grow, also those of an earlier log of the same document */
  constructor(source: StateSource<Value>, next: () => number) {
    this.#source = source
    this.#next = next
    this.#seq = next()
  }

  /** Number of the last change. */
  get seq(): number {
    return this.#seq
  }

  change(name: string): void {
    this.#changed.add(name)
  }

  /** The changes since the last call. They must be sent in this order. */
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

  /** All states. Call after `deltas`. */
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
  /** Number of the message that said so. */
  readonly seq: number
  readonly value: Value | null
}

interface PendingDeltas<Value> {
  readonly seq: number
  readonly parts: Map<number, readonly PresenceStateEntry<Value>[]>
}

/**
 * What another node says of a document, as far as it was heard: messages may be lost, doubled and overtaken. What comes
 * is believed at once; what has not come is found missing by its number, and asked for as a whole.
 */
export class RemotePresenceState<Value> {
  readonly #entries = new Map<string, KnownEntry<Value>>()
  /** Nothing before is missing. */
  #knownSeq = -1
  #incomplete: PendingDeltas<Value> | null = null

  /** All that was said up to this number is known. */
  get knownSeq(): number {
    return this.#knownSeq
  }

  *entries(): Iterable<readonly [name: string, value: Value]> {
    for (const [name, { value }] of this.#entries) if (value !== null) yield [name, value]
  }

  /** Returns what is new; `have` tells whether something before it is missing. */
  applyDelta({ prev, seq, entries }: PresenceDelta<Value>): readonly PresenceStateEntry<Value>[] {
    if (seq <= this.#knownSeq) return []
    if (prev <= this.#knownSeq) this.#knownSeq = seq
    return entries.filter(([name, value]) => this.#set(name, value, seq))
  }

  /** Returns what is new when this was the last part; else nothing. */
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

  /** What was taken back is remembered as long as something older may come that says otherwise. */
  #set(name: string, value: Value | null, seq: number): boolean {
    const before = this.#entries.get(name)
    if (before !== undefined && before.seq >= seq) return false
    if (value === null && seq <= this.#knownSeq) this.#entries.delete(name)
    else this.#entries.set(name, { seq, value })
    return value !== null || (before !== undefined && before.value !== null)
  }
}
