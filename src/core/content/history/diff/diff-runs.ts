import * as Y from 'yjs'
import type { Json } from '../../json/json.ts'
import type { Output } from '../../output.ts'
import type { SharedRoot } from '../../yjs/root-kind.ts'
import type { DocumentHistory } from '../document-history.ts'
import {
  charactersIn,
  type EntryValue,
  formOfRoot,
  formOfType,
  type TypeForm,
  VersionValues,
} from '../version-values.ts'
import { type MergedPart, mergedParts, type PartChange } from './merged-copy.ts'

/** Adjacent content with the same change. */
interface DiffRun {
  readonly change: PartChange
  /** Keys and indexes from the root to the place in the later version. */
  readonly path: readonly (string | number)[]
  /** The text of the run; absent for other content. */
  readonly text?: string
  /** The name of an element; absent for other content. Its children follow. */
  readonly node?: string
  /** Values of an array, an entry of a map or an embed; absent for other content. */
  readonly values?: readonly Json[]
}

type Path = DiffRun['path']

/**
 * Lists the content of a root in both versions, in the order of the document.
 * @param charactersMax maximum number of characters of the values of each version
 * @throws ApiError RESOURCE_EXHAUSTED as for `Output`
 */
export function readDiffRuns(
  history: DocumentHistory,
  contentKey: string,
  charactersMax: number,
  output: Output,
): readonly DiffRun[] {
  const root = history.doc.share.get(contentKey)
  if (root === undefined) return []
  const reader = new DiffReader(history, charactersMax, output)
  reader.read(root, formOfRoot(history.doc, contentKey), [])
  return reader.runs
}

class DiffReader {
  readonly runs: DiffRun[] = []
  readonly #history: DocumentHistory
  readonly #output: Output
  readonly #before: VersionValues
  readonly #after: VersionValues

  constructor(history: DocumentHistory, charactersMax: number, output: Output) {
    this.#history = history
    this.#output = output
    this.#before = new VersionValues(history, 'from', charactersMax)
    this.#after = new VersionValues(history, 'to', charactersMax)
  }

  read(type: SharedRoot, form: TypeForm, path: Path): void {
    if (form === 'map') return this.#entries(type, path)
    let index = 0
    const text = { pieces: [] as string[], change: 'none' as PartChange, start: 0 }
    const flush = (): void => {
      const joined = text.pieces.join('').toWellFormed()
      if (joined !== '') this.#add({ change: text.change, path: [...path, text.start], text: joined })
      text.pieces = []
    }
    for (const part of mergedParts(this.#history, type)) {
      const { item, offset, length, change } = part
      if (!item.countable) continue
      if (item.content instanceof Y.ContentString) {
        if (change !== text.change) flush()
        if (text.pieces.length === 0) [text.change, text.start] = [change, index]
        text.pieces.push(charactersIn(item, offset, length))
      } else {
        flush()
        this.#part(part, form, [...path, index])
      }
      if (change !== 'delete') index += length
    }
    flush()
  }

  #part({ item, offset, length, change }: MergedPart, form: TypeForm, path: Path): void {
    const { content } = item
    if (!(content instanceof Y.ContentType) || form === 'array')
      return this.#add({ change, path, values: this.#valuesOf(change).of(item, offset, length) })
    if (content.type instanceof Y.XmlElement) this.#add({ change, path, node: content.type.nodeName })
    this.read(content.type, formOfType(content.type), path)
  }

  #entries(type: SharedRoot, path: Path): void {
    for (const [key, last] of type._map) {
      const [before, after] = [this.#before.entry(last), this.#after.entry(last)]
      const place = [...path, key]
      const isSame = before?.item === after?.item && before?.offset === after?.offset
      const nested = before !== null && isSame ? nestedMap(before.item) : null
      if (nested !== null) this.#entries(nested, place)
      else if (isSame) this.#entry('none', after, place)
      else {
        this.#entry('delete', before, place)
        this.#entry('insert', after, place)
      }
    }
  }

  #entry(change: PartChange, entry: EntryValue | null, path: Path): void {
    if (entry === null) return
    this.#add({ change, path, values: this.#valuesOf(change).of(entry.item, entry.offset, 1) })
  }

  #valuesOf(change: PartChange): VersionValues {
    return change === 'delete' ? this.#before : this.#after
  }

  #add(run: DiffRun): void {
    this.#output.count(runCharacters + (run.text?.length ?? 0))
    this.runs.push(run)
  }
}

/** Returns the map that is the value of an entry; null for another value. */
function nestedMap({ content }: Y.Item): SharedRoot | null {
  return content instanceof Y.ContentType && formOfType(content.type) === 'map' ? content.type : null
}

/** Characters of a run in JSON, without its content. */
const runCharacters = 40
