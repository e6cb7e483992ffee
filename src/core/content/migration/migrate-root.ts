import * as Y from 'yjs'
import { isHashedKey, markName } from '../schemas/schema-spec.ts'
import { budgetFor } from '../xml/budget.ts'
import { overlappingKey } from '../xml/stored-marks.ts'
import { cleanupFormatting } from '../yjs/cleanup-formatting.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { noReplacement, type RootReplacement } from '../yjs/root-replacement.ts'
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
    new RootMigration(transaction, plan).migrate(root)
    const insertions = Y.getState(doc.store, doc.clientID) - clock
    const ranges = [...transaction.deleteSet.clients.values()].flat()
    const deletions = ranges.reduce((sum, { len }) => sum + len, 0)
    return { changed: insertions + deletions > 0, insertions, deletions }
  })
}

class RootMigration {
  readonly #transaction: Y.Transaction
  readonly #plan: MigrationPlan
  readonly #formatted: Y.XmlText[] = []

  constructor(transaction: Y.Transaction, plan: MigrationPlan) {
    this.#transaction = transaction
    this.#plan = plan
  }

  migrate(root: SharedRoot): void {
    this.#children(root, null)
    // Clients would remove formatting without effect.
    const effort = budgetFor(0)
    for (const text of this.#formatted) cleanupFormatting(text, effort)
  }

  /**
   * Rewrites the children of a node. The nesting of shared types is limited, so the recursion is.
   * @param parent the new name of the node; null: the root
   */
  #children(type: SharedRoot, parent: string | null): void {
    for (let item = type._start, next: Y.Item | null; item !== null; item = next) {
      next = item.right
      const child: unknown =
        item.deleted || !(item.content instanceof Y.ContentType) ? null : item.content.type
      if (child instanceof Y.XmlText) this.#formatting(child)
      if (!(child instanceof Y.XmlElement)) continue
      const { nodeName: name } = child
      const isDropped = this.#plan.dropped.has(`node ${name}`)
      if (!isDropped && this.#nameOf(child) === name && this.#wrapperOf(name, parent) === null) {
        this.#attributes(child)
        this.#children(child, name)
        continue
      }
      const copies = isDropped ? [] : [this.#copy(child, parent)]
      // Before the node, so that what others insert after the node stays after the copy.
      Y.XmlFragment.prototype.insertAfter.call(type, item.left, copies)
      item.delete(this.#transaction)
    }
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
    for (const name of before.keys()) if (!after.has(name)) element.removeAttribute(name)
    for (const [name, value] of after)
      if (!before.has(name) || before.get(name) !== value) setAttribute(element, name, value)
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
      if (to !== undefined) changed.set(isHashedKey(key) ? overlappingKey(to, value) : to, value)
    }
    return Object.fromEntries(changed)
  }

  /** Returns a copy of an element after the migration, in its wrapper. @param parent as for `#children` */
  #copy(element: Y.XmlElement, parent: string | null): Y.XmlElement {
    const name = this.#nameOf(element)
    const copy = this.#newElement(name, attributesOf(element))
    for (const child of element.toArray()) {
      if (child instanceof Y.XmlText) copy.insert(copy.length, [this.#copyText(child)])
      else if (child instanceof Y.XmlElement && !this.#plan.dropped.has(`node ${child.nodeName}`))
        copy.insert(copy.length, [this.#copy(child, name)])
    }
    const wrapper = this.#wrapperOf(name, parent)
    if (wrapper === null) return copy
    const wrapped = this.#newElement(wrapper, new Map())
    wrapped.insert(0, [copy])
    return wrapped
  }

  #newElement(name: string, before: Attributes): Y.XmlElement {
    const element = new Y.XmlElement(name)
    for (const [attribute, value] of this.#plan.attributesOf(name, before))
      setAttribute(element, attribute, value instanceof Y.AbstractType ? value.clone() : value)
    return element
  }

  #copyText(text: Y.XmlText): Y.XmlText {
    const copy = new Y.XmlText()
    const operations = deltaOf(text).map(({ insert, attributes }) => {
      const marks = Object.entries({ ...attributes, ...this.#changedMarks(attributes) })
      return { insert, attributes: Object.fromEntries(marks.filter(([, value]) => value !== null)) }
    })
    copy.applyDelta(operations)
    if (operations.length > 1) this.#formatted.push(copy)
    return copy
  }
}

const attributesOf = (element: Y.XmlElement): Attributes => new Map(Object.entries(element.getAttributes()))

/** Yjs accepts values of any type, although its type definitions only allow strings. */
const setAttribute = (element: Y.XmlElement, name: string, value: unknown): void =>
  element.setAttribute(name, value as string)

const deltaOf = (text: Y.XmlText): readonly DeltaOperation[] => text.toDelta() as DeltaOperation[]
