import { isDeepStrictEqual } from 'node:util'
import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import type { SegmentReader } from './segments.ts'
import type { SelectedIds, SelectedRange } from './undo-selection.ts'
import { isIn } from './version-values.ts'

interface Retain {
  retain: number
  attributes?: Record<string, unknown>
}

/** A mark: an item that starts or ends a formatting. */
interface Mark {
  readonly value: unknown
  /** The user who has inserted the mark; undefined if the user is unknown. */
  readonly by: string | undefined
  /** The selected change that has inserted the mark, if there is one; and the one that has deleted it. */
  readonly inserted: SelectedRange | null
  readonly deleted: SelectedRange | null
  /** True if another change has inserted the mark after the earlier version. */
  readonly isForeign: boolean
  /** The mark that starts the range that this mark ends; null if this mark starts a range. */
  ends: Mark | null
}

/** An active mark, and the one that is active again after its range. */
interface ActiveMark {
  readonly mark: Mark
  readonly below: ActiveMark | null
}

/**
 * The active marks of a version at one place. A mark that returns to the value before the range of the same user ends
 * this range. The cause of the formatting after it is the mark before the range.
 */
class ActiveFormats {
  readonly #last = new Map<string, Mark>()
  readonly #active = new Map<string, ActiveMark | null>()

  /** Returns the last mark, which determines the value. */
  last = (name: string): Mark | undefined => this.#last.get(name)

  /** Returns the mark that is the cause of the value. */
  cause = (name: string): Mark | undefined => this.#active.get(name)?.mark

  valueOf = (name: string): unknown => this.#last.get(name)?.value ?? null

  add(name: string, mark: Mark): void {
    this.#last.set(name, mark)
    const present = this.#active.get(name) ?? null
    if (mark.ends === null && present !== null && isEndOf(present, mark)) mark.ends = present.mark
    if (mark.ends === null) this.#active.set(name, { mark, below: present })
    else if (present !== null && mark.ends === present.mark) this.#active.set(name, present.below)
  }
}

const isEndOf = ({ mark: start, below }: ActiveMark, { by, value }: Mark): boolean =>
  start.by !== undefined && start.by === by && isDeepStrictEqual(below?.mark.value ?? null, value)

/**
 * Computes the formatting that a text gets by an undo. The values are set for ranges of text: to delete and restore
 * single marks would also change the formatting of later text.
 */
export class UndoFormatting {
  readonly #reader: SegmentReader
  readonly #selected: SelectedIds
  /** The clocks of the copies of the undo whose content was inserted after the earlier version. */
  readonly #transient: ReadonlySet<number>
  readonly #client: number
  readonly #firstClock: number
  /** The active marks in the earlier version, in the later one, and in the later one without the selected changes. */
  readonly #before = new ActiveFormats()
  readonly #until = new ActiveFormats()
  readonly #without = new ActiveFormats()
  /** The formats whose marks do not show what others have set. */
  readonly #unclear = new Set<string>()
  /** The values of the current document. */
  readonly #now = new Map<string, unknown>()
  /** The names of the formats that do not have the same value in all versions. Only they can change. */
  readonly #different = new Set<string>()
  readonly #operations: Retain[] = []

  constructor(
    reader: SegmentReader,
    selected: SelectedIds,
    own: { readonly client: number; readonly firstClock: number; readonly transient: ReadonlySet<number> },
  ) {
    this.#reader = reader
    this.#selected = selected
    this.#client = own.client
    this.#firstClock = own.firstClock
    this.#transient = own.transient
  }

  /** Returns operations of a delta that set the formatting; null if nothing changes. */
  operations(type: SharedRoot): readonly Retain[] | null {
    for (let item = type._start; item !== null; item = item.right) {
      if (item.content instanceof Y.ContentFormat) this.#mark(item, item.content)
      else if (!item.deleted && item.countable) this.#content(item)
    }
    while (this.#operations.length > 0 && this.#operations.at(-1)?.attributes === undefined)
      this.#operations.pop()
    return this.#operations.length > 0 ? this.#operations : null
  }

  #mark(item: Y.Item, { key, value }: Y.ContentFormat): void {
    const { client, clock } = item.id
    const inserted = this.#selected.inserted.at(client, clock).range
    const deleted = this.#selected.deleted.at(client, clock).range
    const { state } = this.#reader.history.stateAt(client, clock)
    const isForeign = (state === 'inserted' || state === 'transient') && inserted === null
    const mark: Mark = {
      value,
      inserted,
      deleted,
      by: this.#reader.inserterOf(item.id)?.by,
      isForeign,
      ends: null,
    }
    // A selected change with a value, and a change after it, leave marks that can be ends of ranges of either side.
    const isLast =
      inserted === null ? state !== 'later' && (!item.deleted || !isIn('to', state)) : value === null
    if (!isLast || (inserted !== null && state === 'transient')) this.#unclear.add(key)
    if (isIn('to', state)) this.#until.add(key, mark)
    if (isIn('from', state)) this.#before.add(key, mark)
    if (inserted === null && (isIn('to', state) || deleted !== null)) this.#without.add(key, mark)
    if (!item.deleted) this.#now.set(key, value)
    const present = this.#present(key)
    const others = [this.#before, this.#until, this.#without]
    if (others.every((version) => isDeepStrictEqual(version.valueOf(key), present)))
      this.#different.delete(key)
    else this.#different.add(key)
  }

  #present = (name: string): unknown => this.#now.get(name) ?? null

  #content(item: Y.Item): void {
    const { client, clock } = item.id
    if (client === this.#client && clock >= this.#firstClock) {
      const wanted = this.#transient.has(clock) ? this.#without : this.#before
      this.#retain(item.length, this.#attributes(wanted.valueOf))
      return
    }
    // A part that was inserted after the earlier version keeps the formatting that its author has seen.
    for (const { length, state } of this.#reader.history.partsOf(item))
      this.#retain(length, state === 'unchanged' ? this.#attributes(this.#undone) : undefined)
  }

  /**
   * Returns the value that an undo gives a format; undefined if the format stays. The result depends on the two
   * versions only, so that a repeated undo changes nothing.
   */
  #undone = (name: string): unknown => {
    const [value, until] = [this.#before.valueOf(name), this.#until.valueOf(name)]
    if (isDeepStrictEqual(value, until)) return this.#removed(name, until)
    const cause = this.#causeOf(name)
    if (cause === null) return undefined
    const others = [this.#without.valueOf(name), this.#without.cause(name)?.value ?? null]
    const isOwn = others.some((other) => isDeepStrictEqual(other, value))
    if (isOwn && isDeepStrictEqual(this.#present(name), until)) return value
    if (!isOwn || !isDeepStrictEqual(this.#present(name), value))
      this.#selected.report(cause, 'changed-since')
    return undefined
  }

  /** Returns the value that selected changes have removed, and that others have set after the earlier version. */
  #removed(name: string, until: unknown): unknown {
    const mark = this.#without.cause(name)
    const cause = mark?.deleted ?? this.#until.cause(name)?.inserted ?? null
    const present = this.#present(name)
    if (mark?.isForeign !== true || cause === null || isDeepStrictEqual(mark.value, present)) return undefined
    if (!this.#unclear.has(name) && isDeepStrictEqual(present, until)) return mark.value
    this.#selected.report(cause, 'changed-since')
    return undefined
  }

  /** Returns the selected change that has set the value of the later version; null if another change has. */
  #causeOf(name: string): SelectedRange | null {
    for (const mark of [this.#until.cause(name), this.#until.last(name)]) {
      if (mark?.isForeign === true) return null
      if (mark !== undefined && mark.inserted !== null) return mark.inserted
    }
    return this.#before.last(name)?.deleted ?? null
  }

  /** @param wanted returns the value that a format must have; undefined if it stays */
  #attributes(wanted: (name: string) => unknown): Record<string, unknown> | undefined {
    let attributes: Record<string, unknown> | undefined
    for (const name of this.#different) {
      const present = this.#present(name)
      const value = wanted(name)
      if (value === undefined || isDeepStrictEqual(value, present)) continue
      attributes ??= {}
      attributes[name] = value
    }
    return attributes
  }

  #retain(retain: number, attributes: Record<string, unknown> | undefined): void {
    const last = this.#operations.at(-1)
    if (last !== undefined && isDeepStrictEqual(last.attributes, attributes)) last.retain += retain
    else this.#operations.push({ retain, ...(attributes !== undefined && { attributes }) })
  }
}
