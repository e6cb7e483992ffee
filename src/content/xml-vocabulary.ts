import { typeOfValue, type ValueType } from './xml-values.ts'

/** Names of roots that rich-text editors use: ProseMirror and Tiptap, y-prosemirror's examples, BlockNote. */
const richTextRoots: ReadonlySet<string> = new Set(['default', 'prosemirror', 'document-store'])

/** Names that are formatting in the usual schemas of rich-text editors. */
const inlineMarks: ReadonlySet<string> = new Set(
  (
    'bold strong b italic em i underline u strike strikethrough s del ins code link a highlight mark ' +
    'subscript sub superscript sup textStyle textColor backgroundColor small'
  ).split(' '),
)

/** Attributes that are numbers in the usual schemas of rich-text editors. */
const richTextNumbers: ReadonlySet<string> = new Set(['level', 'start', 'colspan', 'rowspan', 'indent'])

/** What a name is used for in the document. */
export type Use = 'element' | 'mark' | 'both' | 'new'

/** The names and types that a document uses so far: what XML leaves open is decided after them. */
export class Vocabulary {
  readonly #richTextRoot: boolean
  readonly #elements = new Set<string>()
  readonly #marks = new Set<string>()
  /** Spellings by their lower case. */
  readonly #spellings = new Map<string, Set<string>>()
  readonly #types = new Map<string, Map<ValueType, number>>()

  constructor(contentKey: string) {
    this.#richTextRoot = richTextRoots.has(contentKey)
  }

  addElement(name: string): void {
    if (this.#elements.has(name)) return
    this.#elements.add(name)
    this.#addSpelling(name)
  }

  addMark(name: string): void {
    if (this.#marks.has(name)) return
    this.#marks.add(name)
    this.#addSpelling(name)
  }

  /** Notes that the attribute of the elements (or marks) called `owner` holds such a value. */
  addValue(owner: string, attribute: string, value: unknown): void {
    const type = typeOfValue(value)
    if (type === null) return
    const key = `${owner} ${attribute}`
    const counts = this.#types.get(key) ?? new Map<ValueType, number>()
    this.#types.set(key, counts.set(type, (counts.get(type) ?? 0) + 1))
  }

  get isRichText(): boolean {
    return this.#richTextRoot || this.#marks.size > 0
  }

  /** The known name that is meant: the same one, else the only one that differs in case alone, else the name itself. */
  spelling(name: string): string {
    if (this.#elements.has(name) || this.#marks.has(name)) return name
    const known = this.#spellings.get(name.toLowerCase())
    return known?.size === 1 ? (known.values().next().value as string) : name
  }

  useOf(name: string): Use {
    const isElement = this.#elements.has(name)
    if (this.#marks.has(name)) return isElement ? 'both' : 'mark'
    return isElement ? 'element' : 'new'
  }

  isInlineMark(name: string): boolean {
    return this.isRichText && inlineMarks.has(name)
  }

  /** The type that most values of the attribute have; of a new one, what rich-text editors expect. */
  typeOf(owner: string, attribute: string): ValueType {
    let [best, most]: [ValueType | null, number] = [null, 0]
    for (const [type, count] of this.#types.get(`${owner} ${attribute}`) ?? []) {
      if (count > most) [best, most] = [type, count]
    }
    if (best !== null) return best
    return this.isRichText && richTextNumbers.has(attribute) ? 'number' : 'string'
  }

  #addSpelling(name: string): void {
    const folded = name.toLowerCase()
    const known = this.#spellings.get(folded)
    if (known === undefined) this.#spellings.set(folded, new Set([name]))
    else known.add(name)
  }
}
