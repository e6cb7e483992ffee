import type { BlockList, BlockMarks, Inline, NeutralBlock } from './block.ts'
import { marksKey } from './block-keys.ts'

/** Adds a text to a line. Adjacent texts with the same marks are joined. */
export function addText(line: Inline[], text: string, marks: BlockMarks): void {
  if (text === '') return
  const last = line.at(-1)
  if (last?.kind === 'text' && marksKey(last.marks) === marksKey(marks))
    line[line.length - 1] = { ...last, text: last.text + text }
  else line.push({ kind: 'text', text, marks })
}

/** Builds lists from items. A change between tasks and other items starts a new list. */
export class ListBuilder {
  readonly #lists: BlockList[] = []
  #items: { readonly checked: boolean | null; readonly children: NeutralBlock[] }[] = []
  #start: number | null

  /** @param start number of the first item; null: the items have no numbers */
  constructor(start: number | null) {
    this.#start = start
  }

  /** @param checked null if the item is not a task */
  add(checked: boolean | null, children: NeutralBlock[]): void {
    const last = this.#items.at(-1)
    if (last !== undefined && (last.checked === null) !== (checked === null)) this.#end()
    this.#items.push({ checked, children })
  }

  /** The blocks of the last item; undefined without one. */
  get lastChildren(): NeutralBlock[] | undefined {
    return this.#items.at(-1)?.children
  }

  take(): readonly BlockList[] {
    this.#end()
    return this.#lists
  }

  #end(): void {
    const [items, start] = [this.#items, this.#start]
    this.#items = []
    const isTasks = items.length > 0 && items[0]?.checked !== null
    if (isTasks) {
      const tasks = items.map(({ checked, children }) => ({
        kind: 'taskItem' as const,
        checked: checked === true,
        children,
      }))
      this.#lists.push({ kind: 'taskList', children: tasks })
    } else if (items.length > 0) {
      const children = items.map((item) => ({ kind: 'listItem' as const, children: item.children }))
      this.#lists.push(
        start === null ? { kind: 'bulletList', children } : { kind: 'orderedList', start, children },
      )
      if (start !== null) this.#start = start + children.length
    }
  }
}
