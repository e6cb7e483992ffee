import * as buffer from 'lib0/buffer'
import * as sha256 from 'lib0/hash/sha256'
import { memoized } from '../../base/maps.ts'
import { type Json, type JsonObject, setMember } from '../json/json.ts'
import { isHashedKey, markName } from '../schemas/schema-spec.ts'
import { byName, storedName, xmlName } from './names.ts'
import { markOwner, type ObservedSchema } from './observed-schema.ts'
import { typeOfValue, type ValueCodec } from './value-codec.ts'

/** A formatting mark as a format shows it: a name and attributes, sorted by name. Both are in the XML form. */
export interface MarkForm {
  readonly name: string
  readonly attributes: readonly (readonly [name: string, text: string])[]
}

/** A mark in its stored form: key and value of a formatting attribute of a text. */
export interface StoredMark {
  readonly key: string
  readonly value: unknown
}

/** How the document stores the marks with one name. */
interface MarkUse {
  /** True if several marks with this name may overlap. Their keys end in a hash of the mark. */
  overlaps: boolean
  bare: 'true' | 'object' | null
  scalar: boolean
  /**
   * Member names of the values in the order of their appearance; `nullable` contains the members that were
   * null in some value.
   */
  readonly names: Set<string>
  readonly nullable: Set<string>
}

/** Name of the XML attribute for a value that is not an object. */
const scalarName = 'value'

export const markFormOf = ({ key, value }: StoredMark, values: ValueCodec): MarkForm =>
  markFormFrom(markName(key), value, values)

/** Returns the form of a mark with the stored name `name`. */
export function markFormFrom(storedName: string, value: unknown, values: ValueCodec): MarkForm {
  const name = xmlName(storedName)
  if (value === true) return { name, attributes: [] }
  const entries = isObject(value) ? Object.entries(value) : [[scalarName, value] as const]
  const attributes = entries.flatMap(([inner, innerValue]) => {
    const text = values.toText(innerValue) ?? values.nullText
    return text === null ? [] : [[xmlName(inner), text] as const]
  })
  return { name, attributes: attributes.sort(byName) }
}

/** Records how a document stores marks, and stores new marks in the same way. */
export class MarkCodec {
  readonly #vocabulary: ObservedSchema
  readonly #uses = new Map<string, MarkUse>()

  constructor(vocabulary: ObservedSchema) {
    this.#vocabulary = vocabulary
  }

  /** The schema of the editor decides, otherwise the document. */
  overlaps(name: string): boolean {
    const stated = this.#vocabulary.editor?.overlaps(storedName(name)) ?? null
    return stated ?? this.#uses.get(name)?.overlaps ?? this.#vocabulary.mayOverlap(name)
  }

  /** Adds the attributes that the editor gives to a new mark, if they are not in the form. */
  completed(form: MarkForm): MarkForm {
    const { editor, values } = this.#vocabulary
    const present = new Set(form.attributes.map(([name]) => name))
    for (const name of this.#uses.get(form.name)?.nullable ?? []) present.add(xmlName(name))
    const added = [...(editor?.markDefaults(storedName(form.name)) ?? [])].flatMap(([attribute, value]) => {
      const name = xmlName(attribute)
      const text = present.has(name) ? null : (values.toText(value) ?? values.nullText)
      return text === null ? [] : [[name, text] as const]
    })
    return added.length === 0
      ? form
      : { name: form.name, attributes: [...form.attributes, ...added].sort(byName) }
  }

  /** Records that several marks with this name are on the same text. */
  learnOverlap(name: string): void {
    this.#useOf(name).overlaps = true
  }

  learn(name: string, { key, value }: StoredMark): void {
    const use = this.#useOf(name)
    use.overlaps ||= isHashedKey(key)
    if (value === true) use.bare ??= 'true'
    else if (!isObject(value)) {
      use.scalar = true
      this.#vocabulary.addValue(ownerOf(name), scalarName, value)
    } else this.#learnObject(name, use, Object.entries(value))
  }

  /**
   * Returns the stored form of a mark that the document does not contain yet.
   * @param given the attributes of the mark as values; null if only their texts are known
   */
  newMark(form: MarkForm, given: JsonObject | null): StoredMark {
    const value = given === null ? this.#newValue(form) : this.#valueFrom(form.name, given)
    const name = storedName(form.name)
    return { key: this.overlaps(form.name) ? overlappingKey(name, value) : name, value }
  }

  #learnObject(name: string, use: MarkUse, entries: readonly (readonly [string, unknown])[]): void {
    if (entries.length === 0) use.bare ??= 'object'
    for (const [inner, value] of entries) {
      use.names.add(inner)
      if (value === null) use.nullable.add(inner)
      this.#vocabulary.addValue(ownerOf(name), xmlName(inner), value)
    }
  }

  #useOf(name: string): MarkUse {
    return memoized(this.#uses, name, () => {
      this.#vocabulary.addMark(name)
      return { overlaps: false, bare: null, scalar: false, names: new Set(), nullable: new Set() }
    })
  }

  #valueFrom(name: string, given: JsonObject): Json {
    const use = this.#uses.get(name)
    const value = this.#ordered(name, given)
    const [first, ...others] = Object.entries(value)
    if (first === undefined) return this.#bareOf(name, use) === 'true' ? true : value
    return use?.scalar === true && first[0] === scalarName && others.length === 0 ? first[1] : value
  }

  /** Returns attributes with the defaults of the editor, in its order. */
  #ordered(name: string, given: JsonObject): JsonObject {
    const { editor } = this.#vocabulary
    if (editor === null) return given
    const defaults = editor.markDefaults(storedName(name))
    const ordered: Record<string, Json> = {}
    for (const attribute of editor.markAttributes(storedName(name))) {
      const value = Object.hasOwn(given, attribute) ? given[attribute] : defaults.get(attribute)
      if (value !== undefined) setMember(ordered, attribute, value)
    }
    for (const [attribute, value] of Object.entries(given)) setMember(ordered, attribute, value)
    return ordered
  }

  #newValue({ name, attributes }: MarkForm): unknown {
    const use = this.#uses.get(name)
    const typed = (attribute: string, text: string): unknown =>
      this.#vocabulary.values.toValue(text, () => this.#vocabulary.typeOf(ownerOf(name), attribute))
    const [first] = attributes
    const { editor } = this.#vocabulary
    const defaults = editor?.markDefaults(storedName(name))
    if (first === undefined && !defaults?.size && this.#bareOf(name, use) === 'true') return true
    if (use?.scalar === true && attributes.length === 1 && first?.[0] === scalarName) return typed(...first)
    const texts = new Map(attributes.map(([attribute, text]) => [storedName(attribute), text]))
    const value = new Map<string, unknown>()
    const names = new Set([...(editor?.markAttributes(storedName(name)) ?? []), ...(use?.names ?? [])])
    for (const known of names) {
      const text = texts.get(known)
      const initial = defaults?.get(known)
      if (text !== undefined) value.set(known, typed(xmlName(known), text))
      // An attribute that the document has as null is null: no format but ProseMirror JSON states it.
      else if (use?.nullable.has(known) === true) value.set(known, null)
      else if (initial !== undefined) value.set(known, initial)
      texts.delete(known)
    }
    for (const [attribute, text] of texts) value.set(attribute, typed(xmlName(attribute), text))
    return Object.fromEntries(value)
  }

  /**
   * Returns how a mark without attributes is stored: like other marks of the same name if there are any,
   * otherwise as the editor of the schema does, otherwise like the marks of all names.
   */
  #bareOf(name: string, use: MarkUse | undefined): 'true' | 'object' {
    if (use !== undefined) return use.bare ?? 'object'
    if (this.#vocabulary.editor?.hasMark(storedName(name)) === true) return 'object'
    const bares = [...this.#uses.values()].map(({ bare }) => bare)
    return bares.includes('true') && !bares.includes('object') ? 'true' : 'object'
  }
}

/** Returns the name under which the attribute types of marks are recorded. Elements and marks have separate types. */
const ownerOf = (name: string): string => markOwner + name

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeOfValue(value) === 'json' && !Array.isArray(value)

/** Returns the key of a mark that may overlap with other marks of the same name. */
export const overlappingKey = (name: string, value: unknown): string => `${name}--${hashOf(name, value)}`

/**
 * Returns the hash of a mark as in y-prosemirror: the first six bytes of its SHA-256, combined by XOR with
 * the other bytes.
 */
function hashOf(type: string, attrs: unknown): string {
  const isBare = !isObject(attrs) || Object.keys(attrs).length === 0
  const digest = sha256.digest(buffer.encodeAny(isBare ? { type } : { type, attrs }))
  for (let index = 6; index < digest.length; index++) {
    digest[index % 6] = (digest[index % 6] as number) ^ (digest[index] as number)
  }
  return buffer.toBase64(digest.slice(0, 6))
}
