import * as buffer from 'lib0/buffer'
import * as sha256 from 'lib0/hash/sha256'
import type { Attributes } from './text-state.ts'
import { noAttributes } from './text-state.ts'
import { storedName, xmlName } from './xml-names.ts'
import { typeOfValue, valueFrom, valueText } from './xml-values.ts'
import type { Vocabulary } from './xml-vocabulary.ts'

/** A formatting mark as XML shows it: an element name and attributes, sorted by name. */
export interface MarkForm {
  readonly name: string
  readonly attributes: readonly (readonly [name: string, text: string])[]
}

/** A mark as a text stores it: name and value of a formatting attribute. */
interface StoredMark {
  readonly key: string
  readonly value: unknown
}

/** How the document stores the marks of one name. */
interface MarkUse {
  /** Several of this name may lie on the same text; their keys end in a hash of the mark. */
  overlaps: boolean
  bare: 'true' | 'object' | null
  scalar: boolean
  /** The values' own names, in the order met, and those that have been null. */
  readonly names: Set<string>
  readonly nullable: Set<string>
}

/** A set of marks; 0 is the empty one. Equal sets have equal numbers. */
export type MarkSet = number

/** y-prosemirror's form for marks of which several may overlap: name, `--`, eight characters of base64. */
const hashedKey = /^(.*)--[a-zA-Z0-9+/=]{8}$/

const scalarName = 'value'

/**
 * The marks of a document and of its target. Marks are the same when XML shows them the same; of those that the
 * document has, the stored form is kept.
 */
export class Marks {
  readonly #vocabulary: Vocabulary
  readonly #numbers = new Map<string, number>()
  readonly #forms: MarkForm[] = []
  readonly #stored: (StoredMark | null)[] = []
  readonly #uses = new Map<string, MarkUse>()
  readonly #sets: (readonly number[])[] = [[]]
  readonly #setNumbers = new Map<string, MarkSet>([['', 0]])
  readonly #setsOfAttributes = new WeakMap<Attributes, MarkSet>([[noAttributes, 0]])

  constructor(vocabulary: Vocabulary) {
    this.#vocabulary = vocabulary
  }

  /** The marks that formatting attributes stand for; they are noted as the document's own. */
  setOf(attributes: Attributes): MarkSet {
    const known = this.#setsOfAttributes.get(attributes)
    if (known !== undefined) return known
    const set = this.#setNumber(
      Object.entries(attributes)
        .filter(([key]) => key !== '__proto__')
        .map(([key, value]) => this.numberOf({ key, value })),
    )
    this.#setsOfAttributes.set(attributes, set)
    return set
  }

  /** Number of a mark that the document stores. */
  numberOf(stored: StoredMark): number {
    const form = formOf(stored)
    const number = this.#numberOfForm(form)
    if (this.#stored[number] === null) {
      this.#stored[number] = stored
      this.#note(form.name, stored)
    }
    return number
  }

  /** The marks of a set, by name; each mark is always the same object. */
  formsOf(set: MarkSet): readonly MarkForm[] {
    return this.#marksIn(set)
      .map((number) => this.#forms[number] as MarkForm)
      .sort((a, b) => compare(a.name, b.name) || compare(JSON.stringify(a), JSON.stringify(b)))
  }

  /** The set with a mark of the target more. Of marks that cannot overlap the inner one counts. */
  with(set: MarkSet, form: MarkForm): MarkSet {
    const number = this.#numberOfForm({ ...form, attributes: form.attributes.toSorted(byName) })
    const overlaps = this.#uses.get(form.name)?.overlaps === true
    const others = this.#marksIn(set).filter((other) => overlaps || this.#forms[other]?.name !== form.name)
    return this.#setNumber([...others, number])
  }

  /** The formatting attributes that text bearing these marks has. */
  attributesOf(set: MarkSet): Record<string, unknown> {
    const attributes = Object.create(null) as Record<string, unknown>
    for (const number of this.#marksIn(set)) this.#put(number, attributes, attributes)
    return attributes
  }

  /** What has to be set, and null for what has to go, so that text with `current` bears exactly the marks of `wanted`. */
  change(current: Attributes, wanted: MarkSet): Record<string, unknown> | null {
    if (this.setOf(current) === wanted) return null
    const marks = this.#marksIn(wanted)
    const change = Object.create(null) as Record<string, unknown>
    const kept = new Map<number, string>()
    for (const [key, value] of Object.entries(current)) {
      if (key === '__proto__') continue
      const number = this.numberOf({ key, value })
      if (marks.includes(number)) kept.set(number, key)
      else change[key] = null
    }
    const taken = Object.fromEntries([...kept.values()].map((key) => [key, true]))
    for (const number of marks) if (!kept.has(number)) this.#put(number, change, taken)
    return change
  }

  /** Adds a mark under its key; where another mark has that one already, under a key of its own. */
  #put(number: number, attributes: Record<string, unknown>, taken: Record<string, unknown>): void {
    const { key, value } = this.#storedMark(number)
    const name = storedName((this.#forms[number] as MarkForm).name)
    const free = Object.hasOwn(taken, key) ? `${name}--${hashOf(name, value)}` : key
    attributes[free] = value
    taken[free] = value
  }

  #marksIn(set: MarkSet): readonly number[] {
    return this.#sets[set] as readonly number[]
  }

  #setNumber(marks: readonly number[]): MarkSet {
    const sorted = [...new Set(marks)].sort((a, b) => a - b)
    const key = sorted.join()
    const known = this.#setNumbers.get(key)
    if (known !== undefined) return known
    this.#sets.push(sorted)
    this.#setNumbers.set(key, this.#sets.length - 1)
    return this.#sets.length - 1
  }

  #numberOfForm(form: MarkForm): number {
    const key = JSON.stringify([form.name, form.attributes])
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.#forms.length)
    this.#forms.push(form)
    this.#stored.push(null)
    return this.#forms.length - 1
  }

  #note(name: string, { key, value }: StoredMark): void {
    let use = this.#uses.get(name)
    if (use === undefined) {
      use = { overlaps: false, bare: null, scalar: false, names: new Set(), nullable: new Set() }
      this.#uses.set(name, use)
      this.#vocabulary.addMark(name)
    }
    use.overlaps ||= hashedKey.test(key)
    if (!isObject(value)) {
      if (value === true) use.bare ??= 'true'
      else {
        use.scalar = true
        this.#vocabulary.addValue(`--${name}`, scalarName, value)
      }
      return
    }
    const entries = Object.entries(value)
    if (entries.length === 0) use.bare ??= 'object'
    for (const [inner, innerValue] of entries) {
      use.names.add(inner)
      if (innerValue === null) use.nullable.add(inner)
      this.#vocabulary.addValue(`--${name}`, xmlName(inner), innerValue)
    }
  }

  #storedMark(number: number): StoredMark {
    const known = this.#stored[number] as StoredMark | null
    if (known !== null) return known
    const form = this.#forms[number] as MarkForm
    const value = this.#newValue(form)
    const name = storedName(form.name)
    const overlaps = this.#uses.get(form.name)?.overlaps === true
    const stored = { key: overlaps ? `${name}--${hashOf(name, value)}` : name, value }
    this.#stored[number] = stored
    return stored
  }

  #newValue({ name, attributes }: MarkForm): unknown {
    const use = this.#uses.get(name)
    const typed = (attribute: string, text: string): unknown =>
      valueFrom(text, this.#vocabulary.typeOf(`--${name}`, attribute))
    const [first] = attributes
    if (first === undefined && this.#bareOf(use) === 'true') return true
    if (use?.scalar === true && attributes.length === 1 && first?.[0] === scalarName) return typed(...first)
    const texts = new Map(attributes.map(([attribute, text]) => [storedName(attribute), text]))
    const value: Record<string, unknown> = {}
    for (const known of use?.names ?? []) {
      const text = texts.get(known)
      if (text !== undefined) value[known] = typed(xmlName(known), text)
      else if (use?.nullable.has(known) === true) value[known] = null
      texts.delete(known)
    }
    for (const [attribute, text] of texts) value[attribute] = typed(xmlName(attribute), text)
    return value
  }

  /** As the mark itself is stored elsewhere, else as the others are. */
  #bareOf(use: MarkUse | undefined): 'true' | 'object' {
    if (use !== undefined) return use.bare ?? 'object'
    const bares = [...this.#uses.values()].map(({ bare }) => bare)
    return bares.includes('true') && !bares.includes('object') ? 'true' : 'object'
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeOfValue(value) === 'json' && !Array.isArray(value)

const compare = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

const byName = ([a]: readonly [string, string], [b]: readonly [string, string]): number => compare(a, b)

function formOf({ key, value }: StoredMark): MarkForm {
  const name = xmlName(hashedKey.exec(key)?.[1] ?? key)
  if (value === true) return { name, attributes: [] }
  const entries = isObject(value) ? Object.entries(value) : [[scalarName, value] as const]
  const attributes = entries.flatMap(([inner, innerValue]) => {
    const text = valueText(innerValue)
    return text === null || inner === '__proto__' ? [] : [[xmlName(inner), text] as const]
  })
  return { name, attributes: attributes.sort(byName) }
}

/** The first six bytes of the mark's SHA-256 with the others folded into them, as y-prosemirror has it. */
function hashOf(type: string, attrs: unknown): string {
  const isBare = !isObject(attrs) || Object.keys(attrs).length === 0
  const digest = sha256.digest(buffer.encodeAny(isBare ? { type } : { type, attrs }))
  for (let index = 6; index < digest.length; index++) {
    digest[index % 6] = (digest[index % 6] as number) ^ (digest[index] as number)
  }
  return buffer.toBase64(digest.slice(0, 6))
}
