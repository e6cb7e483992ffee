import type { Json } from '../json/json.ts'

/** The place of a hunk in the later version. */
interface HunkAnchor {
  readonly contentKey: string
  /**
   * Keys and indexes from the root to the place. The last one is the key of an entry or attribute, or an index in an
   * array or a text.
   */
  readonly path: readonly (string | number)[]
  /** At most 40 characters of text before and after the place, in the root. */
  readonly before: string
  readonly after: string
}

/** A changed entry of a map or attribute of an element. A missing value: there is no such entry. */
export interface EntryChange {
  readonly key: string
  readonly before?: Json
  readonly after?: Json
}

/** A changed formatting of text that stays. The value null stands for text without this formatting. */
interface FormatChange {
  readonly name: string
  readonly before: Json
  readonly after: Json
  readonly text: string
}

/** Adjacent changes of one group. */
export interface ChangeHunk {
  readonly anchor: HunkAnchor
  /** Texts. A line break is between the texts of different elements. */
  readonly deleted: string
  readonly inserted: string
  /** Names of elements. */
  readonly deletedNodes: readonly string[]
  readonly insertedNodes: readonly string[]
  /** Elements of arrays, and embeds in texts. */
  readonly deletedValues: readonly Json[]
  readonly insertedValues: readonly Json[]
  readonly entries: readonly EntryChange[]
  readonly formatting: readonly FormatChange[]
  /** True if a part was left out, because the hunk is too large. */
  readonly truncated: boolean
}

/** Maximum number of characters of the text before or after a hunk. */
const contextMax = 40

/** Maximum number of nodes, of entries and of formats in a hunk. */
const membersMax = 100

/** Collects the parts of a hunk. */
export class HunkBuilder {
  readonly contentKey: string
  readonly path: readonly (string | number)[]
  /** Start and end in the text of the root, in the later version. */
  readonly start: number
  end: number
  readonly #charactersMax: number
  readonly #texts = { deleted: '', inserted: '' }
  readonly #nodes = { deleted: [] as string[], inserted: [] as string[] }
  readonly #values = { deleted: [] as Json[], inserted: [] as Json[] }
  /** The end of a text was reached, so that the next text follows a line break. */
  readonly #isEnded = { deleted: false, inserted: false }
  readonly #entries: EntryChange[] = []
  readonly #formatting: FormatChange[] = []
  #truncated = false

  constructor(
    place: {
      readonly contentKey: string
      readonly path: readonly (string | number)[]
      readonly start: number
    },
    charactersMax: number,
  ) {
    this.contentKey = place.contentKey
    this.path = place.path
    this.start = place.start
    this.end = place.start
    this.#charactersMax = charactersMax
  }

  addText(side: ChangedSide, text: string): void {
    if (text === '') return
    const before = this.#texts[side]
    const added = this.#isEnded[side] && before !== '' ? `\n${text}` : text
    this.#isEnded[side] = false
    this.#texts[side] = this.#cut(before, added)
  }

  /** @param name null if the node is a text */
  addNode(side: ChangedSide, name: string | null): void {
    this.#isEnded[side] = true
    if (name !== null) this.#push(this.#nodes[side], name)
  }

  addValues(side: ChangedSide, values: readonly Json[], isCut: boolean): void {
    if (isCut) this.#truncated = true
    for (const value of values) this.#push(this.#values[side], value)
  }

  addEntry(entry: EntryChange, isCut: boolean): void {
    if (isCut) this.#truncated = true
    else this.#push(this.#entries, entry)
  }

  addFormat({ name, before, after, text }: FormatChange): void {
    const at = this.#formatting.findLastIndex((format) => format.name === name)
    const last = this.#formatting[at]
    if (last !== undefined && isSameJson(last.before, before) && isSameJson(last.after, after))
      this.#formatting[at] = { ...last, text: this.#cut(last.text, text) }
    else this.#push(this.#formatting, { name, before, after, text: this.#cut('', text) })
  }

  /** @param text the text of the root in the later version */
  build(text: string): ChangeHunk {
    const { contentKey, path, start, end } = this
    const before = text.slice(Math.max(0, start - contextMax), start).toWellFormed()
    const after = text.slice(end, end + contextMax).toWellFormed()
    return {
      anchor: { contentKey, path, before, after },
      deleted: this.#texts.deleted.toWellFormed(),
      inserted: this.#texts.inserted.toWellFormed(),
      deletedNodes: this.#nodes.deleted,
      insertedNodes: this.#nodes.inserted,
      deletedValues: this.#values.deleted,
      insertedValues: this.#values.inserted,
      entries: this.#entries,
      formatting: this.#formatting,
      truncated: this.#truncated,
    }
  }

  #cut(text: string, added: string): string {
    const left = this.#charactersMax - text.length
    if (added.length <= left) return text + added
    this.#truncated = true
    return text + added.slice(0, Math.max(0, left))
  }

  #push<T>(list: T[], member: T): void {
    if (list.length < membersMax) list.push(member)
    else this.#truncated = true
  }
}

/** The side of a change: content that was deleted or inserted. */
export type ChangedSide = 'deleted' | 'inserted'

const isSameJson = (a: Json, b: Json): boolean => JSON.stringify(a) === JSON.stringify(b)
