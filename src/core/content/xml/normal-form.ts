import { memoized } from '../../base/maps.ts'
import { contentLimit } from '../content-error.ts'
import type { Json } from '../json/json.ts'
import type { AttributeRule, CompiledSchema, RulesByAttribute } from '../schemas/compiled-schema.ts'
import { isStorable, type ValueType } from './value-codec.ts'

/** Maximum length of all defaults that one change adds, as JSON. */
const defaultsMax = 33_554_432

/** The node around each block of BlockNote, and its attribute with the id of the block. */
const [blockContainer, blockId] = ['blockContainer', 'id']

type SchemaPart = 'node' | 'mark'
type InitialValues = ReadonlyMap<string, Json>

/** Defaults, and their length as JSON. */
interface Defaults {
  readonly values: InitialValues
  readonly length: number
}

/**
 * The form in which the editor library of a schema stores nodes and marks. All names are in the stored form.
 * An instance serves one change, because it limits the defaults that the change adds.
 */
export class NormalForm {
  readonly #schema: CompiledSchema
  readonly #defaults = new Map<string, Defaults>()
  #defaultsLeft = defaultsMax

  constructor(schema: CompiledSchema) {
    this.#schema = schema
  }

  hasNode = (name: string): boolean => this.#schema.nodes.has(name)

  hasMark = (name: string): boolean => this.#schema.marks.has(name)

  hasAttribute = (node: string, attribute: string): boolean =>
    this.#schema.nodes.get(node)?.attributes.has(attribute) === true

  /** Returns whether the content of a node may start with another node. */
  startsWith = (parent: string, child: string): boolean =>
    this.#schema.nodes.get(parent)?.content.next.has(child) === true

  get topNode(): string {
    return this.#schema.topNode
  }

  /** Returns the attributes that the editor stores with each node: all that have a default other than null. */
  nodeDefaults = (name: string): InitialValues => this.#defaultsOf('node', name).values

  /** Returns the name of the attribute with the id that the editor gives to each node; null without one. */
  idOf = (name: string): string | null =>
    name === blockContainer && this.hasAttribute(name, blockId) ? blockId : null

  /** Returns the attributes that the editor stores with each mark, including null. */
  markDefaults = (name: string): InitialValues => this.#defaultsOf('mark', name).values

  /**
   * Counts the defaults of a new node or a new range with a mark.
   * @throws ApiError INVALID_ARGUMENT if the change adds too many defaults
   */
  count(kind: SchemaPart, name: string): void {
    this.#defaultsLeft -= this.#defaultsOf(kind, name).length
    if (this.#defaultsLeft >= 0) return
    throw contentLimit(
      `data has too much: the defaults of the schema add at most ${defaultsMax} characters to new nodes and marks`,
    )
  }

  /** Returns the names of the attributes of a mark, in the order in which the editor stores them. */
  markAttributes = (name: string): Iterable<string> => this.#schema.marks.get(name)?.attributes.keys() ?? []

  /** Returns whether several marks with a name can be on the same text; null if the schema has no such mark. */
  overlaps = (mark: string): boolean | null => this.#schema.marks.get(mark)?.overlaps ?? null

  /** Returns whether text in a node may have a mark. */
  allows = (node: string, mark: string): boolean => this.#schema.nodes.get(node)?.marks.has(mark) !== false

  /** Returns whether the editor removes the mark `other` from text that gets `mark`. */
  excludes = (mark: string, other: string): boolean =>
    this.#schema.marks.get(mark)?.excludes.has(other) === true

  /** Returns the type of an attribute of a node or a mark; null if the schema allows several types. */
  typeOf(kind: SchemaPart, owner: string, attribute: string): ValueType | null {
    const rule = this.#rulesOf(kind, owner)?.get(attribute)
    return rule === undefined ? null : valueTypeOf(rule)
  }

  #defaultsOf = (kind: SchemaPart, name: string): Defaults =>
    memoized(this.#defaults, `${kind} ${name}`, () => defaultsOf(this.#rulesOf(kind, name), kind === 'mark'))

  #rulesOf = (kind: SchemaPart, name: string): RulesByAttribute | undefined =>
    (kind === 'node' ? this.#schema.nodes : this.#schema.marks).get(name)?.attributes
}

/** Returns the defaults of attributes that a document can store. */
function defaultsOf(rules: RulesByAttribute | undefined, withNull: boolean): Defaults {
  const values = new Map<string, Json>()
  let length = 0
  for (const [name, { isRequired, initial }] of rules ?? []) {
    if (isRequired || !(withNull || initial !== null) || !canStore(initial)) continue
    values.set(name, initial)
    length += name.length + JSON.stringify(initial).length
  }
  return { values, length }
}

const canStore = (value: Json): boolean =>
  isStorable(value) && !(typeof value === 'object' && value !== null && Object.hasOwn(value, 'constructor'))

const valueTypes: Readonly<Record<string, ValueType>> = {
  string: 'string',
  number: 'number',
  boolean: 'boolean',
  object: 'json',
  array: 'json',
}

/** Returns the only type of an attribute. Without stated types, it is that of the default. */
function valueTypeOf({ types, initial }: AttributeRule): ValueType | null {
  if (types === null) {
    if (initial === null) return null
    return valueTypes[typeof initial] ?? null
  }
  const found = new Set([...types].flatMap((type) => valueTypes[type] ?? []))
  const [only] = found
  return found.size === 1 && only !== undefined ? only : null
}
