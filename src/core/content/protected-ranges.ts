import * as Y from 'yjs'
import { ApiError } from '../base/errors.ts'
import { shortened } from '../base/text.ts'
import { markName } from './schemas/schema-spec.ts'
import { ContentPaths, type ItemRange, parentOf } from './yjs/items.ts'
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
  /** The id of its first unit. */
  readonly start: string
  /** The id of its block. Lines have the ids of their breaks. */
  readonly block: string
}

/** A part of an item. */
interface Piece {
  readonly item: Y.Item
  readonly part: ItemRange
  /** The protected mark; undefined without one. */
  readonly mark: string | undefined
  /** The id of the line break at its end; null without one. */
  readonly lineBreak: string | null
}

/**
 * Remembers the ranges of a document that agents must not change. Returns the check to call after a change. The cost is
 * linear in the size of the document.
 * @param names names of marks and attributes
 * @returns throws ApiError PERMISSION_DENIED with the place of the first range that was changed, moved, removed or added
 */
export function expectProtected(doc: Y.Doc, names: readonly string[]): () => void {
  const read = (): readonly ProtectedRange[] => new ProtectedReader(new Set(names)).read(doc)
  const before = read()
  return () => {
    const after = read()
    const at = before.findIndex((range, index) => !isInPlace(range, after[index]))
    const [isAdded, index] = [after.length > before.length, at === -1 ? before.length : at]
    const changed = isAdded ? after[index] : before[index]
    if (changed !== undefined) throw protectedError(changed, isAdded)
  }
}

/** A replacement of the text around a range can write the range again. It is in place if it is in the same block. */
const isInPlace = (before: ProtectedRange, after: ProtectedRange | undefined): boolean =>
  before.form === after?.form && (before.start === after.start || before.block === after.block)

/** Maximum characters of the text of a range in an error. */
const shownCharacters = 80

function protectedError({ contentKey, path, name, text }: ProtectedRange, isAdded: boolean): ApiError {
  const shown = JSON.stringify(shortened(text, shownCharacters))
  const place = `${shown} at ${path === '' ? 'the root' : path} of ${JSON.stringify(contentKey)}`
  return new ApiError(
    'agent/protected-content',
    isAdded
      ? `an agent must not add content that ${JSON.stringify(name)} protects: ${place}; leave this mark or attribute out`
      : `an agent must not change or move content that ${JSON.stringify(name)} protects: ${place}; leave it as it is, and change other content only`,
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
    // The line breaks of XML have no attributes of blocks.
    const hasLines = !(type instanceof Y.XmlText) && this.#hasMarks(type)
    const ends = hasLines ? lineEnds(this.#pieces(type, hasLines)) : []
    const node = this.#nodeOf(type)
    let [line, range]: [number, ProtectedRange | null] = [0, null]
    for (const { item, part, mark, lineBreak } of this.#pieces(type, hasLines, formats)) {
      const end = ends[line]
      if (lineBreak !== null) line += 1
      // The formats of a line break are the attributes of its line.
      const name = end?.mark ?? mark
      if (name === undefined) {
        range = null
        this.#node(item)
        continue
      }
      const block = end?.lineBreak ?? node
      if (range?.block !== block) {
        range = this.#rangeIn(type, name, block, idOfUnit(item, part.offset))
        this.#ranges.push(range)
      }
      const changes = formats.take().toSorted(byKey)
      range.form += (changes.length === 0 ? '' : `\ud801${JSON.stringify(changes)}`) + formOfItem(item, part)
      if (range.text.length <= shownCharacters) range.text += textOf(item, part)
    }
    for (const [, item] of [...type._map].toSorted(byKey)) if (!item.deleted) this.#node(item)
  }

  #hasMarks(type: SharedRoot): boolean {
    for (let item = type._start; item !== null; item = item.right)
      if (item.content instanceof Y.ContentFormat && this.#names.has(markName(item.content.key))) return true
    return false
  }

  /** Yields the live content of a sequence. @param hasLines whether strings are cut at line breaks */
  *#pieces(type: SharedRoot, hasLines: boolean, formats = new SequenceFormats()): Iterable<Piece> {
    const marks = new Set<string>()
    for (let item = type._start; item !== null; item = item.right) {
      const { content } = item
      if (item.deleted) continue
      if (content instanceof Y.ContentFormat) {
        formats.set(content.key, content.value)
        if (this.#names.has(markName(content.key)))
          marks[isSet(content.value) ? 'add' : 'delete'](content.key)
      }
      if (!item.countable) continue
      const [key] = marks
      const mark = key && markName(key)
      const text = hasLines && content instanceof Y.ContentString ? content.str : ''
      for (let offset = 0, end: number; offset < item.length; offset = end) {
        end = text.indexOf('\n', offset) + 1 || item.length
        const lineBreak = text[end - 1] === '\n' ? idOfUnit(item, end - 1) : null
        yield { item, part: { offset, length: end - offset }, mark, lineBreak }
      }
    }
  }

  #node(item: Y.Item): void {
    if (!(item.content instanceof Y.ContentType)) return
    const { type } = item.content
    // The entries of a map are not attributes.
    for (const [name, entry] of type instanceof Y.Map ? [] : type._map) {
      if (entry.deleted || !this.#names.has(name)) continue
      if (!isSet(entry.content.getContent()[entry.length - 1])) continue
      const range = this.#rangeIn(type, name, idOfUnit(item, 0))
      this.#ranges.push({ ...range, text: textOf(item), form: formOfItem(item) })
      return
    }
    this.#children(type)
  }

  #rangeIn(type: SharedRoot, name: string, block: string, start = block): ProtectedRange {
    const contentKey = this.#contentKey
    return { contentKey, path: this.#paths.of(type), name, text: '', form: '', start, block }
  }

  /** Returns the id of the node that contains the text of a type. */
  #nodeOf(type: SharedRoot): string {
    const parent = parentOf(type)
    const { _item: item } = type instanceof Y.XmlText && parent instanceof Y.XmlFragment ? parent : type
    return item === null ? `root ${this.#contentKey}` : idOfUnit(item, 0)
  }
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => (a < b ? -1 : 1)

/** Editors store an attribute that is off as null or false. */
const isSet = (value: unknown): boolean => value !== null && value !== undefined && value !== false

const idOfUnit = ({ id: { client, clock } }: Y.Item, offset: number): string => `${client}:${clock + offset}`

/** Returns the text of a part of an item, or the start of the text in a node, longer than an error shows. */
function textOf(
  { content, length: all }: Y.Item,
  { offset, length }: ItemRange = { offset: 0, length: all },
): string {
  if (content instanceof Y.ContentString) return content.str.slice(offset, offset + length)
  let text = ''
  if (!(content instanceof Y.ContentType)) return text
  for (let item = content.type._start; item !== null && text.length <= shownCharacters; item = item.right)
    if (!item.deleted) text += textOf(item)
  return text
}

/**
 * Returns the line breaks of a sequence, with the attribute of their line. A mark that the text before also has is not an
 * attribute.
 */
function lineEnds(pieces: Iterable<Piece>): readonly Pick<Piece, 'mark' | 'lineBreak'>[] {
  const ends: Pick<Piece, 'mark' | 'lineBreak'>[] = []
  let before: Piece | null = null
  for (const piece of pieces) {
    const { lineBreak, mark, part } = piece
    const isOfText = part.length > 1 || (before !== null && before.mark === mark)
    if (lineBreak !== null) ends.push({ lineBreak, mark: isOfText ? undefined : mark })
    before = lineBreak === null ? piece : null
  }
  return ends
}
