import * as Y from 'yjs'
import type { IdRange } from '../../update/range-index.ts'
import { CopyWriter, effectiveParts } from '../copies/copy-writer.ts'
import { isHashedKey, markName } from '../schemas/schema-spec.ts'
import { putItem } from '../values/write-edits.ts'
import { budgetFor } from '../xml/budget.ts'
import { overlappingKey } from '../xml/stored-marks.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import { deletedUnits, type ItemRange, rangeOfItem } from '../yjs/items.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { noReplacement, type ReplacedNodes, type RootReplacement } from '../yjs/root-replacement.ts'
import type { Attributes, MigrationPlan } from './rules.ts'

interface DeltaOperation {
  readonly insert?: unknown
  readonly attributes?: Readonly<Record<string, unknown>>
}

/**
 * Rewrites a root of XML by rules, in one transaction. Attributes and marks change in place. A node that gets another
 * name, or a wrapper, is replaced by a copy, because the name and the parent of a Yjs type cannot change. The cost is
 * linear in the number of items.
 */
export function migrateRoot(doc: Y.Doc, contentKey: string, plan: MigrationPlan): RootReplacement {
  const root = doc.share.get(contentKey)
  if (root === undefined) return noReplacement
  return doc.transact((transaction) => {
    const clock = Y.getState(doc.store, doc.clientID)
    const replaced = new RootMigration(transaction, plan).migrate(root)
    const insertions = Y.getState(doc.store, doc.clientID) - clock
    const deletions = deletedUnits(transaction)
    const result = { changed: insertions + deletions > 0, insertions, deletions }
    return replaced.copies.length === 0 ? result : { ...result, replaced }
  })
}

type Place = Parameters<typeof putItem>[1]

class RootMigration {
  readonly #transaction: Y.Transaction
  readonly #plan: MigrationPlan
  readonly #formatted: Y.XmlText[] = []
  readonly #writer: CopyWriter
  readonly #old: IdRange[] = []
  /** The element whose children are copied one by one. */
  #opened: Y.XmlElement | null = null

  constructor(transaction: Y.Transaction, plan: MigrationPlan) {
    this.#transaction = transaction
    this.#plan = plan
    const partsOf = effectiveParts()
    this.#writer = new CopyWriter(transaction.doc, (item) => {
      this.#old.push(rangeOfItem(item))
      return item.parent === this.#opened && item.parentSub === null ? [] : partsOf(item)
    })
  }

  migrate(root: SharedRoot): ReplacedNodes {
    this.#children(root, null)
    // Clients would remove formatting without effect.
    const effort = budgetFor(0)
    for (const text of this.#formatted) cleanupFormatting(text, effort)
    return { client: this.#transaction.doc.clientID, copies: this.#writer.ids, old: this.#old }
  }

  /**
   * Rewrites the children of a node. The nesting of shared types is limited, so the recursion is.
   * @param parent the new name of the node; null: the root
   */
  #children(type: SharedRoot, parent: string | null): void {
    for (let item = type._start, next: Y.Item | null; item !== null; item = next) {
      next = item.right
      const child = childOf(item)
      if (child instanceof Y.XmlText) this.#formatting(child)
      if (!(child instanceof Y.XmlElement)) continue
      const { nodeName: name } = child
      const isDropped = this.#isDropped(child)
      if (!isDropped && this.#nameOf(child) === name && this.#wrapperOf(name, parent) === null) {
        this.#attributes(child)
        this.#children(child, name)
        continue
      }
      // Before the node, so that what others insert after the node stays after the copy.
      if (!isDropped) this.#copy({ type, key: null, left: item.left, right: item }, item, child, parent)
      item.delete(this.#transaction)
    }
  }

  #isDropped({ nodeName }: Y.XmlElement): boolean {
    return this.#plan.dropped.has(`node ${nodeName}`)
  }

  #nameOf({ nodeName }: Y.XmlElement): string {
    return this.#plan.renamed.get(`node ${nodeName}`) ?? nodeName
  }

  /** @param name the new name of the node */
  #wrapperOf(name: string, parent: string | null): string | null {
    const wrapper = this.#plan.wrappers.get(`node ${name}`) ?? null
    return wrapper === parent ? null : wrapper
  }

  #attributes(element: Y.XmlElement): void {
    const before = attributesOf(element)
    const after = this.#plan.attributesOf(element.nodeName, before)
    for (const [name, value] of after)
      if (!before.has(name) || before.get(name) !== value) setAttribute(element, name, value)
    // Last, because a deleted value cannot be copied.
    for (const name of before.keys()) if (!after.has(name)) element.removeAttribute(name)
  }

  #formatting(text: Y.XmlText): void {
    if (!this.#plan.changesMarks) return
    const operations = deltaOf(text).map(({ insert, attributes }) => ({
      retain: typeof insert === 'string' ? insert.length : 1,
      attributes: this.#changedMarks(attributes),
    }))
    text.applyDelta(operations)
    this.#formatted.push(text)
  }

  /** Returns the marks of a range that change, by their stored keys; null: the mark is removed. */
  #changedMarks(attributes: DeltaOperation['attributes'] = {}): Record<string, unknown> {
    const changed = new Map<string, unknown>()
    for (const [key, value] of Object.entries(attributes)) {
      const named = `mark ${markName(key)}`
      const to = this.#plan.renamed.get(named)
      if (to === undefined && !this.#plan.dropped.has(named)) continue
      changed.set(key, null)
      if (to === undefined) continue
      const target = isHashedKey(key) ? overlappingKey(to, value) : to
      if (!Object.hasOwn(attributes, target) && !changed.has(target)) changed.set(target, value)
    }
    return Object.fromEntries(changed)
  }

  /** Inserts a copy of an element after the migration, in its wrapper. @param parent as for `#children` */
  #copy(place: Place, item: Y.Item, element: Y.XmlElement, parent: string | null): Y.Item {
    const name = this.#nameOf(element)
    const wrapper = this.#wrapperOf(name, parent)
    if (wrapper !== null) {
      const type = new Y.XmlElement(wrapper)
      const wrapped = putItem(this.#transaction, place, new Y.ContentType(type))
      this.#attributes(type)
      this.#copy({ type, key: null, left: null, right: null }, item, element, wrapper)
      return wrapped
    }
    this.#opened = element
    this.#old.push(rangeOfItem(item))
    const copied = this.#writer.put(this.#transaction, place, item, wholeOf(item))
    const type = childOf(copied) as Y.XmlElement
    // The copy is encoded after the transaction, with this name.
    type.nodeName = name
    this.#attributes(type)
    let left: Y.Item | null = null
    for (let next = element._start; next !== null; next = next.right) {
      const child = childOf(next)
      if (next.deleted || (child instanceof Y.XmlElement && this.#isDropped(child))) continue
      const at: Place = { type, key: null, left, right: null }
      if (child instanceof Y.XmlElement) left = this.#copy(at, next, child, name)
      else {
        left = this.#writer.put(this.#transaction, at, next, wholeOf(next))
        const text = childOf(left)
        if (text instanceof Y.XmlText) this.#formatting(text)
      }
    }
    return copied
  }
}

/** Returns the shared type that an item contains; null if it contains none, or is deleted. */
const childOf = ({ deleted, content }: Y.Item): SharedRoot | null =>
  !deleted && content instanceof Y.ContentType ? content.type : null

const wholeOf = ({ length }: Y.Item): ItemRange => ({ offset: 0, length })

const attributesOf = (element: Y.XmlElement): Attributes => new Map(Object.entries(element.getAttributes()))

/** Yjs accepts values of any type, although its type definitions only allow strings. */
const setAttribute = (element: Y.XmlElement, name: string, value: unknown): void =>
  element.setAttribute(name, (value instanceof Y.AbstractType ? value.clone() : value) as string)

const deltaOf = (text: Y.XmlText): readonly DeltaOperation[] => text.toDelta() as DeltaOperation[]
