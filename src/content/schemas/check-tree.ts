import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { attributeViolation } from './attribute-check.ts'
import { type CompiledSchema, markAttributes, type NodeRule } from './compiled-schema.ts'
import type { ContentState } from './content-expression.ts'
import { changeAttribute, markName } from './mark-keys.ts'
import { textNode } from './schema-spec.ts'
import { type NodePlace, quoted, type Violation, violationAt } from './violation.ts'

/**
 * Finds the first place at which a root of XML does not match a schema; null if it matches. An editor library
 * would discard the node at this place. A root without content matches every schema, because editor libraries
 * fill it. The cost is linear in the number of items.
 */
export function treeViolation(root: SharedRoot, schema: CompiledSchema): Violation | null {
  const rule = schema.nodes.get(schema.topNode)
  if (rule === undefined) throw new TypeError('the schema has no top node')
  return new TreeCheck(schema).root({ parent: null, name: schema.topNode, index: 0 }, root, rule)
}

/** The children of a node that were checked so far. */
interface Progress {
  state: ContentState
  count: number
}

class TreeCheck {
  readonly #schema: CompiledSchema

  constructor(schema: CompiledSchema) {
    this.#schema = schema
  }

  root(place: NodePlace, type: SharedRoot, rule: NodeRule): Violation | null {
    const progress: Progress = { state: rule.content, count: 0 }
    const found = this.#children(place, type, rule, progress)
    return found !== null || progress.count === 0 ? found : endViolation(place, progress.state)
  }

  /** The nesting of shared types is limited, so the recursion is. */
  #element(place: NodePlace, type: Y.XmlElement, rule: NodeRule): Violation | null {
    const found = attributeViolation(place, quoted(place.name), rule.attributes, storedAttributes(type), true)
    if (found !== null) return found
    const progress: Progress = { state: rule.content, count: 0 }
    return this.#children(place, type, rule, progress) ?? endViolation(place, progress.state)
  }

  #children(place: NodePlace, type: SharedRoot, rule: NodeRule, progress: Progress): Violation | null {
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      const child: unknown = item.content instanceof Y.ContentType ? item.content.type : null
      let found: Violation | null
      if (child instanceof Y.XmlText) found = this.#text(place, child, rule, progress)
      else if (child instanceof Y.XmlElement && !(child instanceof Y.XmlHook)) {
        const childPlace = { parent: place, name: child.nodeName, index: progress.count }
        found = this.#enter(childPlace, progress)
        const childRule = this.#schema.nodes.get(child.nodeName)
        if (found === null && childRule !== undefined) found = this.#element(childPlace, child, childRule)
      } else found = violationAt(place, 'it contains a value that is not a node', progress.state.next.keys())
      if (found !== null) return found
    }
    return null
  }

  /** Advances the content of the parent by one node. */
  #enter(place: NodePlace, progress: Progress): Violation | null {
    const { state } = progress
    const next = state.next.get(place.name)
    if (next === undefined) {
      const isKnown = this.#schema.nodes.has(place.name)
      const problem = isKnown
        ? `${quoted(place.name)} is not allowed here`
        : `the schema has no node ${quoted(place.name)}`
      return violationAt(place, problem, state.next.keys())
    }
    progress.state = next
    progress.count += 1
    return null
  }

  /** Checks a shared text: each range with other marks is a text node. */
  #text(parent: NodePlace, type: Y.XmlText, rule: NodeRule, progress: Progress): Violation | null {
    const marks = new TextMarks(this.#schema, rule)
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted) continue
      const { content } = item
      if (content instanceof Y.ContentFormat) marks.set(content.key, content.value)
      else if (content instanceof Y.ContentString) {
        if (!marks.startsRange()) continue
        const place = { parent, name: textNode, index: progress.count }
        const found = this.#enter(place, progress) ?? marks.violation(place)
        if (found !== null) return found
      } else if (item.countable)
        return violationAt(parent, 'a text contains a value that is not text', progress.state.next.keys())
    }
    return null
  }
}

/** The marks at a position of a text. */
class TextMarks {
  readonly #schema: CompiledSchema
  readonly #rule: NodeRule
  /** Number of the keys that are set, by name of the mark. */
  readonly #names = new Map<string, number>()
  readonly #values = new Map<string, unknown>()
  /** Keys that were set since the last check. */
  readonly #changed = new Set<string>()
  #isFirst = true
  #hasChanged = false

  constructor(schema: CompiledSchema, rule: NodeRule) {
    this.#schema = schema
    this.#rule = rule
  }

  set(key: string, value: unknown): void {
    if (key === changeAttribute) return
    const name = markName(key)
    this.#hasChanged = true
    if (value === null) {
      if (!this.#values.delete(key)) return
      const left = (this.#names.get(name) ?? 0) - 1
      if (left <= 0) this.#names.delete(name)
      else this.#names.set(name, left)
      this.#changed.delete(key)
      return
    }
    if (!this.#values.has(key)) this.#names.set(name, (this.#names.get(name) ?? 0) + 1)
    this.#values.set(key, value)
    this.#changed.add(key)
  }

  /** Returns whether the next characters belong to another range than those before them. */
  startsRange(): boolean {
    const starts = this.#isFirst || this.#hasChanged
    this.#isFirst = false
    this.#hasChanged = false
    return starts
  }

  /** Checks the marks that were set since the last check. */
  violation(place: NodePlace): Violation | null {
    for (const key of this.#changed) {
      const found = this.#violationOf(place, key)
      if (found !== null) return found
    }
    this.#changed.clear()
    return null
  }

  #violationOf(place: NodePlace, key: string): Violation | null {
    const name = markName(key)
    const rule = this.#schema.marks.get(name)
    if (rule === undefined || !this.#rule.marks.has(name)) {
      const problem =
        rule === undefined
          ? `the schema has no mark ${quoted(name)}`
          : `the mark ${quoted(name)} is not allowed here`
      return violationAt(place, problem, this.#rule.marks)
    }
    for (const other of this.#names.keys()) {
      if (other === name) continue
      if (rule.excludes.has(other) || this.#schema.marks.get(other)?.excludes.has(name) === true) {
        const allowed = [...this.#rule.marks].filter((mark) => mark !== name && mark !== other)
        return violationAt(
          place,
          `the marks ${quoted(name)} and ${quoted(other)} exclude each other`,
          allowed,
        )
      }
    }
    const attributes = markAttributes(this.#values.get(key))
    if (attributes === null)
      return violationAt(place, `the mark ${quoted(name)} has a value that is not an object`, ['object'])
    return attributeViolation(
      place,
      `the mark ${quoted(name)}`,
      rule.attributes,
      Object.entries(attributes),
      false,
    )
  }
}

function* storedAttributes(type: Y.XmlElement): Iterable<readonly [string, unknown]> {
  for (const [name, item] of type._map) {
    if (!item.deleted && name !== changeAttribute) yield [name, item.content.getContent()[item.length - 1]]
  }
}

const endViolation = (place: NodePlace, state: ContentState): Violation | null =>
  state.isEnd ? null : violationAt(place, `${quoted(place.name)} ends too early`, state.next.keys())
