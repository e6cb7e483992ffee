import * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { shortened } from '../base/text.ts'
import { markName } from './schemas/schema-spec.ts'
import { ContentPaths } from './yjs/items.ts'
import type { SharedRoot } from './yjs/root-kind.ts'
import { formOfItem, SequenceFormats } from './yjs/sequence-content.ts'

/** Text with a protected mark, or a node with a protected attribute. */
interface ProtectedRange {
  readonly contentKey: string
  /** JSON pointer in the root to the node, or to the text that contains the range. */
  readonly path: string
  /** The mark or attribute. */
  readonly name: string
  text: string
  /** The content with its formatting. Ranges with the same form have the same content. */
  form: string
}

/**
 * Remembers the ranges of a document that agents must not change. Returns the check to call after a change. The cost is
 * linear in the size of the document.
 * @param names names of marks and attributes
 * @returns throws ApiError PERMISSION_DENIED with the place of the first range that was changed, removed or added
 */
export function expectProtected(doc: Y.Doc, names: readonly string[]): () => void {
  const read = (): readonly ProtectedRange[] => new ProtectedReader(new Set(names)).read(doc)
  const before = read()
  return () => {
    const after = read()
    const isSame = (range: ProtectedRange, index: number): boolean => after[index]?.form === range.form
    const at = before.findIndex((range, index) => !isSame(range, index))
    const [isAdded, index] = [after.length > before.length, at === -1 ? before.length : at]
    const changed = isAdded ? after[index] : before[index]
    if (changed !== undefined) throw protectedError(changed, isAdded)
  }
}

/** Maximum characters of the text of a range in an error. */
const shownCharacters = 80

function protectedError({ contentKey, path, name, text }: ProtectedRange, isAdded: boolean): ApiError {
  const shown = JSON.stringify(shortened(text, shownCharacters))
  const place = `${shown} at ${path === '' ? 'the root' : path} of ${JSON.stringify(contentKey)}`
  return new ApiError(
    'agent/protected-content',
    isAdded
      ? `an agent must not add content that ${JSON.stringify(name)} protects: ${place}; leave this mark or attribute out`
      : `an agent must not change content that ${JSON.stringify(name)} protects: ${place}; leave it as it is, and change other content only`,
    { details: { contentKey, path, name, text: shortened(text, shownCharacters) } },
  )
}

class ProtectedReader {
  readonly #names: ReadonlySet<string>
  readonly #paths = new ContentPaths()
  readonly #ranges: ProtectedRange[] = []
  #contentKey = ''

  constructor(names: ReadonlySet<string>) {
    this.#names = names
  }

  read(doc: Y.Doc): readonly ProtectedRange[] {
    for (const [contentKey, root] of [...doc.share].toSorted(byKey)) {
      this.#contentKey = contentKey
      this.#children(root)
    }
    return this.#ranges
  }

  /** The nesting of shared types is limited, so the recursion is. */
  #children(type: SharedRoot): void {
    const formats = new SequenceFormats()
    const marks = new Set<string>()
    let range: ProtectedRange | null = null
    for (let item = type._start; item !== null; item = item.right) {
      const { content } = item
      if (item.deleted) continue
      if (content instanceof Y.ContentFormat) {
        formats.set(content.key, content.value)
        if (this.#names.has(markName(content.key)))
          marks[isSet(content.value) ? 'add' : 'delete'](content.key)
        continue
      }
      if (!item.countable) continue
      const [mark] = marks
      if (mark === undefined) {
        range = null
        this.#node(item)
        continue
      }
      if (range === null) {
        range = this.#rangeIn(type, markName(mark), '')
        this.#ranges.push(range)
      }
      const changes = formats.take().toSorted(byKey)
      range.form += (changes.length === 0 ? '' : `\ud801${JSON.stringify(changes)}`) + formOfItem(item)
      if (range.text.length <= shownCharacters) range.text += textOf(item)
    }
    for (const [, item] of [...type._map].toSorted(byKey)) if (!item.deleted) this.#node(item)
  }

  #node(item: Y.Item): void {
    if (!(item.content instanceof Y.ContentType)) return
    const { type } = item.content
    // The entries of a map are not attributes.
    for (const [name, entry] of type instanceof Y.Map ? [] : type._map) {
      if (entry.deleted || !this.#names.has(name)) continue
      if (!isSet(entry.content.getContent()[entry.length - 1])) continue
      const range = this.#rangeIn(type, name, formOfItem(item))
      this.#ranges.push({ ...range, text: textOf(item) })
      return
    }
    this.#children(type)
  }

  #rangeIn(type: SharedRoot, name: string, form: string): ProtectedRange {
    const contentKey = this.#contentKey
    return { contentKey, path: this.#paths.of(type), name, text: '', form: `${contentKey}\ud801${form}` }
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Editors store an attribute that is off as null or false. */
const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== false

/** Returns the start of the text of an item, longer than an error shows. */
function textOf({ content }: Y.Item): string {
  if (content instanceof Y.ContentString) return content.str.slice(0, shownCharacters + 1)
  let text = ''
  if (!(content instanceof Y.ContentType)) return text
  for (let item = content.type._start; item !== null && text.length <= shownCharacters; item = item.right)
    if (!item.deleted) text += textOf(item)
  return text
}
