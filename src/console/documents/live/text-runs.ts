import * as Y from 'yjs'
import type { SharedRoot } from '../../../content/yjs/root-kind.ts'

export type RunAttributes = Readonly<Record<string, unknown>>

/** A part of a text. The parts are in the order of the document. */
export type TextRun =
  | {
      readonly kind: 'text'
      readonly text: string
      readonly attributes: RunAttributes
      readonly isFresh: boolean
    }
  | { readonly kind: 'embed'; readonly value: unknown; readonly attributes: RunAttributes }
  | { readonly kind: 'caret'; readonly caret: Caret }

/** The cursor of a user, before the unit at `index`. */
export interface Caret {
  readonly index: number
  readonly clientId: number
  readonly name: string
  readonly color: string | null
}

/** Cost of a formatted run or an embed, in units of plain text. */
const unitsPerRun = 20

interface TextRunOptions {
  /** Maximum number of units to show. The reader also stops after `limit / unitsPerRun` runs. */
  readonly limit: number
  readonly carets?: readonly Caret[]
  /** Returns the clock of a client from which its operations are new. */
  readonly freshFrom?: (client: number) => number
}

/**
 * Reads the start of a text, for any type of the root. Does not access the root as a type: a root has no type
 * before its first access, and an access with a wrong type cannot be undone.
 */
export function runsOf(
  text: SharedRoot,
  options: TextRunOptions,
): { readonly runs: readonly TextRun[]; readonly rest: number } {
  const reader = new RunReader(options)
  for (let item = text._start; item !== null && !reader.isFull; item = item.right)
    if (!item.deleted) reader.take(item)
  reader.end()
  return { runs: reader.runs, rest: Math.max(0, text._length - reader.index) }
}

class RunReader {
  readonly runs: TextRun[] = []
  index = 0
  readonly #limit: number
  readonly #freshFrom: (client: number) => number
  /** Remaining carets in reverse order, so that the last one is next. */
  readonly #carets: Caret[]
  #attributes: RunAttributes = {}

  constructor({ limit, carets = [], freshFrom = () => Number.POSITIVE_INFINITY }: TextRunOptions) {
    this.#limit = limit
    this.#freshFrom = freshFrom
    this.#carets = carets.toSorted((a, b) => b.index - a.index)
  }

  get isFull(): boolean {
    return this.index >= this.#limit || this.runs.length * unitsPerRun >= this.#limit
  }

  take({ content, id }: Y.Item): void {
    if (content instanceof Y.ContentFormat) this.#format(content.key, content.value)
    else if (content instanceof Y.ContentString)
      this.#string(content.str, this.#freshFrom(id.client) - id.clock)
    else for (const value of content.getContent() as unknown[]) this.#embed(value)
  }

  /** Adds the carets that follow the last unit. */
  end(): void {
    this.#caretsHere()
  }

  #format(key: string, value: unknown): void {
    const { [key]: _, ...others } = this.#attributes
    this.#attributes = value === null ? others : { ...others, [key]: value }
  }

  /**
   * Adds a string.
   * @param freshAt number of units at its start that are not new; if it exceeds the length, no unit is new
   */
  #string(whole: string, freshAt: number): void {
    const end = Math.min(whole.length, this.#limit - this.index)
    for (let at = 0; at < end; ) {
      this.#caretsHere()
      const next = this.#carets.at(-1)?.index ?? Number.POSITIVE_INFINITY
      const to = Math.min(end, at + next - this.index, at < freshAt ? freshAt : end)
      this.#push(whole.slice(at, to), at >= freshAt)
      this.index += to - at
      at = to
    }
  }

  #embed(value: unknown): void {
    this.#caretsHere()
    this.runs.push({ kind: 'embed', value, attributes: this.#attributes })
    this.index += 1
  }

  /**
   * Appends a text. Joins it with the last run if both have the same format, because an element of the page
   * costs more than its text.
   */
  #push(text: string, isFresh: boolean): void {
    const last = this.runs.at(-1)
    const attributes = this.#attributes
    if (last?.kind === 'text' && last.isFresh === isFresh && last.attributes === attributes)
      this.runs.splice(-1, 1, { ...last, text: last.text + text })
    else this.runs.push({ kind: 'text', text, attributes, isFresh })
  }

  #caretsHere(): void {
    for (
      let next = this.#carets.at(-1);
      next !== undefined && next.index <= this.index;
      next = this.#carets.at(-1)
    ) {
      this.runs.push({ kind: 'caret', caret: next })
      this.#carets.pop()
    }
  }
}
