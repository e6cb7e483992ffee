import { memoized } from '../../base/maps.ts'
import type { CompiledSchema } from '../schemas/compiled-schema.ts'
import { storedName } from './names.ts'
import { NormalForm } from './normal-form.ts'
import { jsonValues, typeOfValue, type ValueCodec, type ValueType, xmlValues } from './value-codec.ts'

/**
 * Names of roots that rich-text editors use: ProseMirror and Tiptap, the examples of y-prosemirror, and
 * BlockNote.
 */
const richTextRoots: ReadonlySet<string> = new Set(['default', 'prosemirror', 'document-store'])

/** Returns whether the name of a root is one that rich-text editors use. */
export const isRichTextRoot = (contentKey: string): boolean => richTextRoots.has(contentKey)

/**
 * Elements that only schemas of rich-text editors have. A document with such an element is rich text, even if
 * its root has another name.
 */
const richTextElements: readonly string[] = ['paragraph', 'blockGroup']

/** Returns whether only schemas of rich-text editors have an element with this name. */
export const isRichTextElement = (name: string): boolean => richTextElements.includes(name)

/** Names that are formatting marks in the usual schemas of rich-text editors. */
const inlineMarks: ReadonlySet<string> = new Set(
  (
    'bold strong b italic em i underline u strike strikethrough s del ins code link a highlight mark ' +
    'subscript sub superscript sup textStyle textColor backgroundColor small comment'
  ).split(' '),
)

/**
 * Marks that may overlap with marks of the same name in the usual schemas, for example comments of several
 * users.
 */
const overlappingMarks: ReadonlySet<string> = new Set(['comment'])

/**
 * Types of attributes that are not text in the usual schemas of rich-text editors (ProseMirror itself,
 * Tiptap, BlockNote). If an editor gets text for such an attribute, it may show an open task as done, or fail
 * on a table.
 */
const richTextTypes: ReadonlyMap<string, ValueType> = new Map([
  ...typed('number', 'level order start indent colspan rowspan width height previewWidth'),
  ...typed('boolean', 'checked open tight isToggleable showPreview orphan'),
  ...typed('json', 'colwidth'),
])

function typed(type: ValueType, names: string): [string, ValueType][] {
  return names.split(' ').map((name) => [name, type])
}

/** Prefix of the names under which the attribute types of marks are recorded. No name of an element has it. */
export const markOwner = '--'

/** How a document uses a name. */
type NameUse = 'element' | 'mark' | 'both' | 'new'

/**
 * The names and types that a document uses. They decide questions that the XML leaves open, such as whether
 * an element is a mark.
 */
export class ObservedSchema {
  /** How the format of the target represents values. */
  readonly values: ValueCodec
  readonly contentKey: string
  /** The schema that the content must match; null without one. */
  readonly editor: NormalForm | null
  #richTextRoot: boolean
  readonly #elements = new Set<string>()
  readonly #marks = new Set<string>()
  /** Known spellings of names, by the name in lower case. */
  readonly #spellings = new Map<string, Set<string>>()
  readonly #types = new Map<string, Map<ValueType, number>>()

  /** @param contentKey name of the root, which indicates the kind of editor */
  constructor(contentKey: string, values = xmlValues, schema: CompiledSchema | null = null) {
    this.contentKey = contentKey
    this.values = values
    this.editor = schema === null ? null : new NormalForm(schema)
    // Only formats of rich text have typed values, and only rich text has a schema.
    this.#richTextRoot = isRichTextRoot(contentKey) || values === jsonValues || schema !== null
  }

  addElement = (name: string): void => this.#add(this.#elements, name)

  addMark = (name: string): void => this.#add(this.#marks, name)

  /** Records a value of an attribute of the elements (or marks) with the name `owner`. */
  addValue(owner: string, attribute: string, value: unknown): void {
    const type = typeOfValue(value)
    if (type === null) return
    const counts = memoized(this.#types, `${owner} ${attribute}`, () => new Map<ValueType, number>())
    counts.set(type, (counts.get(type) ?? 0) + 1)
  }

  /** True if the document has neither elements nor marks. */
  get isUnused(): boolean {
    return this.#elements.size + this.#marks.size === 0
  }

  /** Treats the document as rich text with any names. */
  assumeRichText(): void {
    this.#richTextRoot = true
  }

  get isRichText(): boolean {
    if (this.#richTextRoot || this.#marks.size > 0) return true
    return richTextElements.some((name) => this.#elements.has(name))
  }

  /**
   * Returns the spelling of a name in the document. The name stays unchanged if the document contains it, or
   * if the document does not have exactly one name that differs only in case.
   */
  spelling(name: string): string {
    if (this.#elements.has(name) || this.#marks.has(name)) return name
    const known = this.#spellings.get(name.toLowerCase())
    if (known?.size !== 1) return name
    const [spelling = name] = known
    return spelling
  }

  useOf(name: string): NameUse {
    const isElement = this.#elements.has(name)
    if (this.#marks.has(name)) return isElement ? 'both' : 'mark'
    return isElement ? 'element' : 'new'
  }

  /** For a name that is new to the document: returns whether it is a mark. The schema decides if it can. */
  isInlineMark(name: string): boolean {
    const [isMark, isNode] = [this.#isIn('mark', name), this.#isIn('node', name)]
    if (isMark !== isNode) return isMark
    return this.isRichText && inlineMarks.has(name)
  }

  /** Returns whether the document or the schema has a node or a mark with this name. */
  has(name: string): boolean {
    return this.useOf(name) !== 'new' || this.#isIn('mark', name) || this.#isIn('node', name)
  }

  #isIn(kind: 'node' | 'mark', name: string): boolean {
    const stored = storedName(name)
    return (kind === 'node' ? this.editor?.hasNode(stored) : this.editor?.hasMark(stored)) === true
  }

  /** For a name that is new to the document: returns whether several marks with this name may overlap. */
  mayOverlap(name: string): boolean {
    return this.isRichText && overlappingMarks.has(name)
  }

  /**
   * Returns the type of the attribute in the schema, otherwise its most frequent type in the document. For a
   * new attribute, returns the type that rich-text editors expect.
   */
  typeOf(owner: string, attribute: string): ValueType {
    const isMark = owner.startsWith(markOwner)
    const name = storedName(isMark ? owner.slice(markOwner.length) : owner)
    const stated = this.editor?.typeOf(isMark ? 'mark' : 'node', name, storedName(attribute)) ?? null
    if (stated !== null) return stated
    let [best, most]: [ValueType | null, number] = [null, 0]
    for (const [type, count] of this.#types.get(`${owner} ${attribute}`) ?? []) {
      if (count > most) [best, most] = [type, count]
    }
    if (best !== null) return best
    return (this.isRichText ? richTextTypes.get(attribute) : undefined) ?? 'string'
  }

  #add(names: Set<string>, name: string): void {
    if (names.has(name)) return
    names.add(name)
    memoized(this.#spellings, name.toLowerCase(), () => new Set<string>()).add(name)
  }
}
