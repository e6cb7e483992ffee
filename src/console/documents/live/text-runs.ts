import * as Y from 'yjs'
import type { SharedRoot } from '../../../core/content/yjs/root-kind.ts'

export type RunAttributes = Readonly<Record<string, unknown>>

/** A part of a text. The parts of a text are in the order of the document. */
export type TextRun =
  | {
      readonly kind: 'text'
      readonly text: string
      readonly attributes: RunAttributes
      readonly isFresh: boolean
    }
  | { readonly kind: 'embed'; readonly value: unknown; readonly attributes: RunAttributes }
  | { readonly kind: 'caret'; readonly caret: Caret }

/** The cursor of a user. It is before the unit at `index`. */
export interface Caret {
  readonly index: number
  readonly clientId: number
  readonly name: string
  readonly color: string | null
}

/**
 * Cost of a formatted run or an embed. The cost is the number of units of plain text that need the same time.
 */
const unitsPerRun = 20

interface TextRunOptions {
  /** Maximum number of units to show. Reading also stops after `limit / unitsPerRun` runs. */
  readonly limit: number
  readonly carets?: readonly Caret[]
  /** Returns the first clock of a client whose operation is new. */
  readonly freshFrom?: (client: number) => number
}

/**
 * Returns the runs at the start of a text, and the number of remaining units. The root can have any type. The
 * function reads the internal structs, because a root has no type before it is first accessed as a type. An
 * access with a wrong type could not be undone.
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
  /** Carets that have not been added to the runs, in reverse order. The next caret is the last one. */
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
    else for (const value of content.getContent()) this.#embed(value)
  }

  /** Adds the carets at the end of the text. */
  end(): void {
    this.#caretsHere()
  }

  #format(key: string, value: unknown): void {
    const { [key]: _, ...others } = this.#attributes
    this.#attributes = value === null ? others : { ...others, [key]: value }
  }

  /**
   * Adds a string of one struct.
   * @param freshAt number of units at the start of the string that are not new; if the string is shorter, no
   * unit is new
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
   * Appends a text to the runs. If the last run has the same format, the text is joined with it, because each
   * run becomes an element of the page, which costs more than its text.
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
