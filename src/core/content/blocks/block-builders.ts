import type { BlockList, BlockMarks, Inline, InlineText, NeutralBlock } from './block.ts'
import { marksKey } from './block-keys.ts'

/** Adds a text to a line. Adjacent texts with the same marks are joined. */
export function addText(line: Inline[], text: string, marks: BlockMarks): void {
  if (text === '') return
  const last = line.at(-1)
  if (last?.kind === 'text' && marksKey(last.marks) === marksKey(marks))
    line[line.length - 1] = { ...last, text: last.text + text }
  else line.push({ kind: 'text', text, marks })
}

/** Returns a paragraph with this content. An image that stands alone is a block. */
export function paragraphOf(content: readonly Inline[]): NeutralBlock {
  const [only, ...others] = content
  return others.length === 0 && only?.kind === 'image' ? only : { kind: 'paragraph', content }
}

/** Divides a line at its images, if images are blocks. */
export function dividedAtImages(
  content: readonly Inline[],
  { blockImages }: { readonly blockImages: boolean },
): readonly (readonly Inline[])[] {
  if (!blockImages || content.every(({ kind }) => kind !== 'image')) return [content]
  const lines: Inline[][] = [[]]
  for (const inline of content) {
    if (inline.kind === 'image') lines.push([inline], [])
    else lines.at(-1)?.push(inline)
  }
  return lines.map(trimmedLine)
}

/** Removes space and line breaks at the start and the end of a line. */
export function trimmedLine(content: readonly Inline[]): Inline[] {
  const line = [...content]
  const isBlank = (inline: Inline | undefined): boolean =>
    inline?.kind === 'hardBreak' || (inline?.kind === 'text' && /^ *$/.test(inline.text))
  while (isBlank(line.at(-1))) line.pop()
  let start = 0
  while (isBlank(line[start])) start += 1
  const rest = line.slice(start)
  const [first, last] = [rest[0], rest.at(-1)]
  if (first?.kind === 'text') rest[0] = { ...first, text: first.text.replace(/^ +/, '') }
  if (last?.kind === 'text') {
    const { text } = (rest.length === 1 ? rest[0] : last) as InlineText
    let end = text.length
    while (text[end - 1] === ' ') end -= 1
    rest[rest.length - 1] = { ...last, text: text.slice(0, end) }
  }
  return rest
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
