import type { FormatTable } from '../delta/formatted-text.ts'
import { type Json, setMember } from '../json/json.ts'
import type { MarkSet } from '../xml/mark-sets.ts'
import type { MarkForm } from '../xml/stored-marks.ts'
import type { MarkIndex } from './mark-index.ts'

/** Name of the attribute of a mark whose value is not `true`. */
const valueName = 'value'

/**
 * The formatting attributes of a text as marks: a set of marks is the number of an attribute set. The mark of
 * a link has its address, and every other mark its value as JSON, unless the value is `true`.
 */
export class FormatMarks implements MarkIndex {
  readonly #formats: FormatTable
  readonly #forms = new Map<MarkSet, readonly MarkForm[]>()

  constructor(formats: FormatTable) {
    this.#formats = formats
  }

  formsOf(set: MarkSet): readonly MarkForm[] {
    const known = this.#forms.get(set)
    if (known !== undefined) return known
    const forms = Object.entries(this.#formats.get(set).attributes).map(([name, value]) =>
      formOf(name, value),
    )
    this.#forms.set(set, forms)
    return forms
  }

  /** Returns the set with one more mark. The mark replaces another one of the same name. */
  with(set: MarkSet, form: MarkForm): MarkSet {
    const attributes: Record<string, Json> = {}
    const { attributes: others } = this.#formats.get(set)
    for (const [name, value] of Object.entries(others)) setMember(attributes, name, value)
    setMember(attributes, form.name, storedValue(form))
    return this.#formats.of(attributes)
  }
}

function formOf(name: string, value: Json): MarkForm {
  if (value === true) return { name, attributes: [] }
  if (name === 'link' && typeof value === 'string') return { name, attributes: [['href', value]] }
  return { name, attributes: [[valueName, JSON.stringify(value)]] }
}

function storedValue({ name, attributes }: MarkForm): Json {
  const values = new Map(attributes)
  const href = name === 'link' ? values.get('href') : undefined
  if (href !== undefined) return href
  const value = values.get(valueName)
  return value === undefined ? true : (JSON.parse(value) as Json)
}
