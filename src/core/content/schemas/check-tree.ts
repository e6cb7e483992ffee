import * as Y from 'yjs'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { type CompiledSchema, markAttributes, type NodeRule } from './compiled-schema.ts'
import type { ContentState } from './content-expression.ts'
import { changeAttribute, markName, textNode } from './schema-spec.ts'
import {
  attributeViolations,
  type FoundViolation,
  type NodePlace,
  quoted,
  type Violation,
  violationAt,
} from './violation.ts'

type Found = Generator<FoundViolation, void>

/**
 * Finds the places at which a root of XML does not match a schema, in order. An editor library would discard
 * the nodes at these places. The content of an unknown node is not checked. A root without content matches every
 * schema, because editor libraries fill it. The cost is linear in the number of items.
 */
export function treeViolations(root: SharedRoot, schema: CompiledSchema): Found {
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

  *root(place: NodePlace, type: SharedRoot, rule: NodeRule): Found {
    const progress: Progress = { state: rule.content, count: 0 }
    yield* this.#children(place, 'root', type, rule, progress)
    if (progress.count > 0) yield* ended(place, 'root', progress.state)
  }

  /** The nesting of shared types is limited, so the recursion is. */
  *#element(place: NodePlace, key: string, type: Y.XmlElement, rule: NodeRule): Found {
    yield* attributeViolations(place, key, quoted(place.name), rule.attributes, storedAttributes(type), true)
    const progress: Progress = { state: rule.content, count: 0 }
    yield* this.#children(place, key, type, rule, progress)
    yield* ended(place, key, progress.state)
  }

  *#children(place: NodePlace, key: string, type: SharedRoot, rule: NodeRule, progress: Progress): Found {
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted || !item.countable) continue
      const child: unknown = item.content instanceof Y.ContentType ? item.content.type : null
      if (child instanceof Y.XmlText) yield* this.#text(place, key, child, rule, progress)
      else if (child instanceof Y.XmlElement && !(child instanceof Y.XmlHook)) {
        const childPlace = { parent: place, name: child.nodeName, index: progress.count }
        const childKey = keyOf(item)
        const found = this.#enter(childPlace, progress)
        if (found !== null) yield { key: childKey, ...found }
        const childRule = this.#schema.nodes.get(child.nodeName)
        if (childRule !== undefined) yield* this.#element(childPlace, childKey, child, childRule)
      } else {
        const found = violationAt(place, 'it contains a value that is not a node', progress.state.next.keys())
        yield { key: keyOf(item), ...found }
      }
    }
  }

  /**
   * Advances the content of the parent by one node. A node that is not allowed counts for the places of its siblings,
   * but not for the nodes that may follow it.
   */
  #enter(place: NodePlace, progress: Progress): Violation | null {
    const { state } = progress
    progress.count += 1
    const next = state.next.get(place.name)
    if (next === undefined) {
      const isKnown = this.#schema.nodes.has(place.name)
      const problem = isKnown
        ? `${quoted(place.name)} is not allowed here`
        : `the schema has no node ${quoted(place.name)}`
      return violationAt(place, problem, state.next.keys())
    }
    progress.state = next
    return null
  }

  /** Checks a shared text: each range with other marks is a text node. */
  *#text(parent: NodePlace, key: string, type: Y.XmlText, rule: NodeRule, progress: Progress): Found {
    const marks = new TextMarks(this.#schema, rule)
    for (let item = type._start; item !== null; item = item.right) {
      if (item.deleted) continue
      const { content } = item
      if (content instanceof Y.ContentFormat) marks.set(content.key, content.value, keyOf(item))
      else if (content instanceof Y.ContentString) {
        if (!marks.startsRange()) continue
        const place = { parent, name: textNode, index: progress.count }
        const found = this.#enter(place, progress)
        if (found !== null) yield { key: `${key} text`, ...found }
        yield* marks.violations(place)
      } else if (item.countable) {
        const problem = 'a text contains a value that is not text'
        yield { key: keyOf(item), ...violationAt(parent, problem, progress.state.next.keys()) }
      }
    }
  }
}

const keyOf = ({ id }: Y.Item): string => `${id.client}:${id.clock}`

/** The marks at a position of a text. */
class TextMarks {
  readonly #schema: CompiledSchema
  readonly #rule: NodeRule
  /** Number of the keys that are set, by name of the mark. */
  readonly #names = new Map<string, number>()
  readonly #values = new Map<string, unknown>()
  /** The item that set each key, also after it has ended. */
  readonly #setBy = new Map<string, string>()
  /** Keys that were set since the last check. */
  readonly #changed = new Set<string>()
  #isFirst = true
  #hasChanged = false

  constructor(schema: CompiledSchema, rule: NodeRule) {
    this.#schema = schema
    this.#rule = rule
  }

  /** @param item names the item that sets the mark */
  set(key: string, value: unknown, item: string): void {
    if (key === changeAttribute) return
    this.#setBy.set(key, item)
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
  *violations(place: NodePlace): Found {
    for (const key of this.#changed) {
      const item = this.#setBy.get(key) ?? ''
      const found = this.#violationOf(place, key)
      if (found !== null) yield { key: `${item} ${found.problem}`, ...found }
      else yield* this.#attributeViolations(place, key, item)
    }
    this.#changed.clear()
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
    return markAttributes(this.#values.get(key)) === null
      ? violationAt(place, `the mark ${quoted(name)} has a value that is not an object`, ['object'])
      : null
  }

  #attributeViolations(place: NodePlace, key: string, item: string): Found {
    const name = markName(key)
    const attributes = Object.entries(markAttributes(this.#values.get(key)) ?? {})
    const rules = this.#schema.marks.get(name)?.attributes ?? new Map()
    return attributeViolations(place, item, `the mark ${quoted(name)}`, rules, attributes, false)
  }
}

function* storedAttributes(type: Y.XmlElement): Iterable<readonly [string, unknown]> {
  for (const [name, item] of type._map) {
    if (!item.deleted && name !== changeAttribute) yield [name, item.content.getContent()[item.length - 1]]
  }
}

function* ended(place: NodePlace, key: string, state: ContentState): Found {
  if (state.isEnd) return
  yield {
    key: `${key} end`,
    ...violationAt(place, `${quoted(place.name)} ends too early`, state.next.keys()),
  }
}
