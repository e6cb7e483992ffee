import * as Y from 'yjs'
import type { ChangeMeta, ChangeOrigin, ChangeSource } from '../../model/change-origin.ts'
import type { AttributedRange, Attribution } from '../../update/attribution/attribution.ts'
import { RangeIndex } from '../../update/range-index.ts'
import type { SharedRoot } from '../yjs/root-kind.ts'
import { charactersIn, formOfRoot, formOfType, type TypeForm } from './version-values.ts'

/** Adjacent content of one author. */
export interface AuthorRun {
  /** Keys and indexes from the root to the start of the run. The last one is a key, or an index in its type. */
  readonly path: readonly (string | number)[]
  /** Number of UTF-16 units or values. */
  readonly length: number
  /** The text of the run; absent for other content. */
  readonly text?: string
  /** The name of an element; absent for other content. */
  readonly node?: string
  /** Null if the user is unknown. */
  readonly userId: string | null
  /** Time of the insertion, in epoch milliseconds; null if it is unknown. */
  readonly at: number | null
  /** Null if the source is unknown. */
  readonly source: ChangeSource | null
  readonly meta: ChangeMeta | null
}

export interface RunsPage {
  readonly runs: readonly AuthorRun[]
  /** True if runs were left out, because there are more than `runsMax`. */
  readonly truncated: boolean
}

/**
 * Lists the content of a root in the order of the document, with the author of each part. Takes linear time.
 * @param runsMax maximum number of runs
 */
export function readRuns(
  doc: Y.Doc,
  attribution: Attribution,
  contentKey: string,
  runsMax: number,
): RunsPage {
  const root = doc.share.get(contentKey)
  const reader = new AttributedReader(attribution, runsMax)
  if (root !== undefined) reader.read(root, formOfRoot(doc, contentKey), [])
  return reader.page()
}

type Path = readonly (string | number)[]

class AttributedReader {
  readonly #inserted: RangeIndex<AttributedRange>
  readonly #runsMax: number
  readonly #runs: AuthorRun[] = []
  /** The text of the last run, and the type that contains it. */
  #pieces: string[] = []
  #last: { readonly type: SharedRoot; readonly origin: ChangeOrigin | null } | null = null
  #truncated = false

  constructor({ inserted }: Attribution, runsMax: number) {
    this.#inserted = new RangeIndex(inserted)
    this.#runsMax = runsMax
  }

  page(): RunsPage {
    this.#flush()
    return { runs: this.#runs, truncated: this.#truncated }
  }

  read(type: SharedRoot, form: TypeForm, path: Path): void {
    for (const [key, item] of type._map) if (!item.deleted) this.#entry(item, [...path, key])
    let index = 0
    for (let item = type._start; item !== null && !this.#truncated; item = item.right) {
      if (item.deleted || !item.countable) continue
      this.#item(type, form, item, path, index)
      index += item.length
    }
  }

  #entry(item: Y.Item, path: Path): void {
    const { content, id, length } = item
    this.#add(path, { length: 1 }, this.#originAt(id.client, id.clock + length - 1).origin)
    if (content instanceof Y.ContentType) this.read(content.type, formOfType(content.type), path)
  }

  #item(type: SharedRoot, form: TypeForm, item: Y.Item, path: Path, index: number): void {
    const { content, id } = item
    for (let offset = 0; offset < item.length && !this.#truncated; ) {
      const { origin, end } = this.#originAt(id.client, id.clock + offset)
      const length = Math.min(item.length, end - id.clock) - offset
      const place = [...path, index + offset]
      if (content instanceof Y.ContentString)
        this.#text(type, place, charactersIn(item, offset, length), origin)
      else if (content instanceof Y.ContentType) {
        const isNode = form === 'xml' && content.type instanceof Y.XmlElement
        if (isNode || form === 'array')
          this.#add(place, { length, ...(isNode && { node: nodeName(content.type) }) }, origin)
        this.read(content.type, formOfType(content.type), place)
      } else this.#add(place, { length }, origin)
      offset += length
    }
  }

  #originAt(client: number, clock: number): { origin: ChangeOrigin | null; end: number } {
    const { range, end } = this.#inserted.at(client, clock)
    return { origin: range?.origin ?? null, end }
  }

  #text(type: SharedRoot, path: Path, text: string, origin: ChangeOrigin | null): void {
    const isSame = this.#last?.type === type && isSameOrigin(this.#last.origin, origin)
    if (!isSame) {
      if (!this.#add(path, { length: 0, text: '' }, origin)) return
      this.#last = { type, origin }
    }
    this.#pieces.push(text)
  }

  /** Adds a run. Returns false if there are too many. */
  #add(
    path: Path,
    content: Pick<AuthorRun, 'length' | 'text' | 'node'>,
    origin: ChangeOrigin | null,
  ): boolean {
    this.#flush()
    if (this.#runs.length >= this.#runsMax) {
      this.#truncated = true
      return false
    }
    this.#runs.push({ path, ...content, ...shownOrigin(origin) })
    return true
  }

  #flush(): void {
    const last = this.#runs.at(-1)
    if (this.#last !== null && last !== undefined) {
      const text = this.#pieces.join('')
      this.#runs[this.#runs.length - 1] = { ...last, length: text.length, text: text.toWellFormed() }
    }
    this.#pieces = []
    this.#last = null
  }
}

/** Returns the members of a response that describe an origin; null stands for an unknown one. */
export const shownOrigin = (
  origin: ChangeOrigin | null,
): Pick<AuthorRun, 'userId' | 'at' | 'source' | 'meta'> => ({
  userId: origin === null || origin.by === '' ? null : origin.by,
  at: origin === null || origin.at === 0 ? null : origin.at,
  source: origin?.source ?? null,
  meta: origin?.meta ?? null,
})

const nodeName = (type: object): string => (type instanceof Y.XmlElement ? type.nodeName : '')

/** The attribution gives the changes of one author within some seconds one time, so a run has one time. */
const isSameOrigin = (a: ChangeOrigin | null, b: ChangeOrigin | null): boolean =>
  a === b ||
  (a !== null &&
    b !== null &&
    a.by === b.by &&
    a.source === b.source &&
    a.at === b.at &&
    JSON.stringify(a.meta) === JSON.stringify(b.meta))
