/** Attributes without a prototype, because Yjs looks up attribute names of the document in them. */
export type DeltaAttributes = Record<string, unknown>

export interface TextInsert<Insert = string> {
  readonly insert: Insert
  readonly attributes: DeltaAttributes
}

/** An operation for `Y.Text.applyDelta`. */
export type TextOperation<Insert = string> =
  | TextInsert<Insert>
  | { retain: number; readonly attributes: DeltaAttributes }
  | { delete: number }

/**
 * The operations of one change of a text, in the order of the text. Parts that stay without a change are joined, and
 * so are deletions. Attributes are copied, because Yjs modifies them.
 */
export class TextChange<Insert = string> {
  readonly operations: TextOperation<Insert>[] = []
  /**
   * `insertions` is the number of inserted UTF-16 units and embeds; `deletions` is the number of deleted
   * units and embeds.
   */
  insertions = 0
  deletions = 0
  /** Number of kept ranges whose attributes change. */
  markings = 0

  /** @param change attributes to set; the value null removes an attribute */
  retain(length: number, change: Readonly<Record<string, unknown>> | null = null): this {
    if (length <= 0) return this
    const attributes = copyOf(change)
    const last = this.operations.at(-1)
    if (!isEmpty(attributes)) this.markings += 1
    else if (last !== undefined && 'retain' in last && isEmpty(last.attributes)) {
      last.retain += length
      return this
    }
    this.operations.push({ retain: length, attributes })
    return this
  }

  insert(insert: Insert, attributes: Readonly<Record<string, unknown>> | null = null): this {
    this.operations.push({ insert, attributes: copyOf(attributes) })
    this.insertions += typeof insert === 'string' ? insert.length : 1
    return this
  }

  delete(length: number): this {
    if (length <= 0) return this
    const last = this.operations.at(-1)
    if (last !== undefined && 'delete' in last) last.delete += length
    else this.operations.push({ delete: length })
    this.deletions += length
    return this
  }

  /** Drops a last part that stays without a change. */
  trim(): this {
    const last = this.operations.at(-1)
    if (last !== undefined && 'retain' in last && isEmpty(last.attributes)) this.operations.pop()
    return this
  }
}

const copyOf = (attributes: Readonly<Record<string, unknown>> | null): DeltaAttributes =>
  Object.assign(Object.create(null), attributes)

const isEmpty = (attributes: DeltaAttributes): boolean => Object.keys(attributes).length === 0
