import type { Json } from '../json/json.ts'

/**
 * The neutral block tree: the content of a rich-text root, independent of the format that it was written in
 * and of the editor that stores it. A dialect (`dialect.ts`) converts neutral nodes to stored names and back.
 */
export interface BlockTree {
  readonly blocks: readonly Block[]
}

/**
 * Attributes that a node stores in addition to its neutral members, by their stored names. Nodes of formats
 * without such attributes have none.
 */
export type ExtraAttributes = ReadonlyMap<string, Json>

interface Extras {
  readonly extra?: ExtraAttributes
}

export type Block =
  | Paragraph
  | Heading
  | Blockquote
  | BulletList
  | OrderedList
  | TaskList
  | CodeBlock
  | HorizontalRule
  | Table
  | Image
  | CustomNode

export interface Paragraph extends Extras {
  readonly kind: 'paragraph'
  readonly content: readonly Inline[]
}

export interface Heading extends Extras {
  readonly kind: 'heading'
  /** From 1 to 6. */
  readonly level: number
  readonly content: readonly Inline[]
}

export interface Blockquote extends Extras {
  readonly kind: 'blockquote'
  readonly blocks: readonly Block[]
}

export interface BulletList extends Extras {
  readonly kind: 'bulletList'
  readonly items: readonly ListItem[]
}

export interface OrderedList extends Extras {
  readonly kind: 'orderedList'
  /** Number of the first item. */
  readonly start: number
  readonly items: readonly ListItem[]
}

export interface TaskList extends Extras {
  readonly kind: 'taskList'
  readonly items: readonly TaskItem[]
}

export interface ListItem extends Extras {
  readonly kind: 'listItem'
  readonly blocks: readonly Block[]
}

export interface TaskItem extends Extras {
  readonly kind: 'taskItem'
  readonly checked: boolean
  readonly blocks: readonly Block[]
}

export interface CodeBlock extends Extras {
  readonly kind: 'codeBlock'
  /** Null if the block states no language. */
  readonly language: string | null
  readonly text: string
}

export interface HorizontalRule extends Extras {
  readonly kind: 'horizontalRule'
}

export interface Table extends Extras {
  readonly kind: 'table'
  readonly rows: readonly TableRow[]
}

export interface TableRow extends Extras {
  readonly kind: 'tableRow'
  readonly cells: readonly TableCell[]
}

export interface TableCell extends Extras {
  readonly kind: 'tableCell'
  readonly header: boolean
  readonly align: 'left' | 'center' | 'right' | null
  readonly blocks: readonly Block[]
}

/** An image. It is a block or part of a line, depending on its place in the tree. */
export interface Image extends Extras {
  readonly kind: 'image'
  readonly src: string
  readonly alt: string
  readonly title: string | null
  /** Formatting of an image in a line. */
  readonly marks: readonly Mark[]
}

/** A node that the dialect does not know: a block, or an atom in a line. */
export interface CustomNode {
  readonly kind: 'custom'
  readonly name: string
  readonly attributes: ExtraAttributes
  /** Blocks, or the content of a line. */
  readonly children: readonly (Block | Inline)[]
}

export type Inline = TextRun | HardBreak | Image | CustomNode

/** Characters with the same formatting. A run is not empty. */
export interface TextRun {
  readonly kind: 'text'
  readonly text: string
  /** At most one mark of each name. The order has no meaning. */
  readonly marks: readonly Mark[]
}

export interface HardBreak extends Extras {
  readonly kind: 'hardBreak'
}

/** Formatting of a text. */
export type Mark = SimpleMark | LinkMark | CustomMark

export interface SimpleMark {
  readonly kind: 'bold' | 'italic' | 'strike' | 'code'
}

export interface LinkMark extends Extras {
  readonly kind: 'link'
  readonly href: string
  readonly title: string | null
}

/** A mark that the dialect does not know, with its stored name and attributes. */
export interface CustomMark {
  readonly kind: 'custom'
  readonly name: string
  readonly attributes: ExtraAttributes
}
