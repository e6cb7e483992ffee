import { memoized } from '../../base/maps.ts'
import { type BlockMarks, type BlockNode, blockChildren, type Image, type Inline } from './block.ts'

/** Returns whether a block has no form of its own in text formats: a paragraph without content. */
export const isInvisible = (block: BlockNode): boolean =>
  block.kind === 'paragraph' && block.content.length === 0

/**
 * Numbers nodes by their content. Nodes that text formats write in the same way have the same number. Empty
 * paragraphs do not count.
 */
export class BlockKeys {
  readonly #numbers = new Map<string, number>()
  readonly #known = new Map<BlockNode, number>()

  of(block: BlockNode): number {
    return memoized(this.#known, block, () =>
      memoized(this.#numbers, this.#key(block), () => this.#numbers.size),
    )
  }

  #key(block: BlockNode): string {
    switch (block.kind) {
      case 'paragraph':
        return `p ${lineKey(block.content)}`
      case 'heading':
        return `h${block.level} ${lineKey(block.content)}`
      case 'codeBlock':
        return `code ${JSON.stringify([block.language, block.text])}`
      case 'image':
        return imageKey(block)
      case 'custom':
        return `custom ${block.id}`
      default:
        return `${block.kind} ${facts(block)} ${this.#children(block)}`
    }
  }

  #children(block: BlockNode): string {
    const visible = blockChildren(block).filter((child) => !isInvisible(child))
    return visible.map((child) => this.of(child)).join()
  }
}

function facts(block: BlockNode): string {
  if (block.kind === 'orderedList') return String(block.start)
  if (block.kind === 'taskItem') return String(block.checked)
  return block.kind === 'tableCell' || block.kind === 'tableHeader' ? String(block.align) : ''
}

const imageKey = ({ src, alt, title, href }: Image): string =>
  `image ${JSON.stringify([src, alt, title, href])}`

/** Returns a text that is equal for lines with equal content. */
function lineKey(line: readonly Inline[]): string {
  let key = ''
  let marks = ''
  for (const inline of line) {
    const nextMarks = inline.kind === 'text' ? marksKey(inline.marks) : ''
    if (nextMarks !== marks) key += `\u0001${nextMarks}\u0002`
    marks = nextMarks
    key += inline.kind === 'text' ? inline.text : `\u0003${atomKey(inline)}\u0003`
  }
  return key
}

/** Returns a text that is equal for equal atoms. */
export function atomKey(inline: Inline): string {
  if (inline.kind === 'image') return imageKey(inline)
  return inline.kind === 'custom' ? `custom ${inline.id}` : inline.kind
}

export const marksKey = ({
  bold,
  italic,
  strike,
  code,
  underline,
  subscript,
  superscript,
  link,
}: BlockMarks): string =>
  `${bold ? 'b' : ''}${italic ? 'i' : ''}${strike ? 's' : ''}${code ? 'c' : ''}` +
  `${underline ? 'u' : ''}${subscript ? 'v' : ''}${superscript ? '^' : ''}` +
  (link === undefined ? '' : JSON.stringify([link.href, link.title]))
