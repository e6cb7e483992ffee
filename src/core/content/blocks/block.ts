/**
 * The neutral block tree: the content of a rich-text root, independent of the format in which it was written
 * and of the editor that stores it. A dialect (`dialect.ts`) has the stored names of its nodes and marks.
 */
export type NeutralBlock =
  | Paragraph
  | Heading
  | Blockquote
  | BlockList
  | CodeBlock
  | HorizontalRule
  | TableBlock
  | Image
  | CustomNode

export interface Paragraph {
  readonly kind: 'paragraph'
  readonly content: readonly Inline[]
}

export interface Heading {
  readonly kind: 'heading'
  /** From 1 to 6. */
  readonly level: number
  readonly content: readonly Inline[]
}

interface Blockquote {
  readonly kind: 'blockquote'
  readonly children: readonly NeutralBlock[]
}

export type BlockList = BulletList | OrderedList | TaskList

export const isList = (block: NeutralBlock): block is BlockList =>
  block.kind === 'bulletList' || block.kind === 'orderedList' || block.kind === 'taskList'

interface BulletList {
  readonly kind: 'bulletList'
  readonly children: readonly ListItem[]
}

interface OrderedList {
  readonly kind: 'orderedList'
  /** Number of the first item. `continued` if the list continues the list before it. */
  readonly start: number
  readonly children: readonly ListItem[]
}

/** Number of an ordered list whose items continue the numbers of the list before it. */
export const continued = -1

export interface TaskList {
  readonly kind: 'taskList'
  readonly children: readonly TaskItem[]
}

export interface ListItem {
  readonly kind: 'listItem'
  readonly children: readonly NeutralBlock[]
}

export interface TaskItem {
  readonly kind: 'taskItem'
  readonly checked: boolean
  readonly children: readonly NeutralBlock[]
}

interface CodeBlock {
  readonly kind: 'codeBlock'
  /** Null if the block states no language. */
  readonly language: string | null
  readonly text: string
}

interface HorizontalRule {
  readonly kind: 'horizontalRule'
}

export interface TableBlock {
  readonly kind: 'table'
  readonly children: readonly TableRow[]
}

export interface TableRow {
  readonly kind: 'tableRow'
  readonly children: readonly TableCell[]
}

export interface TableCell {
  readonly kind: 'tableCell' | 'tableHeader'
  readonly align: 'left' | 'center' | 'right' | null
  readonly children: readonly NeutralBlock[]
}

/** An image. It is a block if it stands alone, otherwise part of a line. */
export interface Image {
  readonly kind: 'image'
  readonly src: string
  readonly alt: string
  readonly title: string | null
  /** Address to which the image links; null if it is not a link. */
  readonly href: string | null
}

/**
 * A node that the format cannot represent: a block, or an atom in a line. It has no content of its own. The
 * `id` is that of a stored node, for which this node stands.
 */
export interface CustomNode {
  readonly kind: 'custom'
  readonly id: string
  /** Stored name of the node, for readers; it has no other meaning. */
  readonly name: string
}

export type Inline = InlineText | HardBreak | Image | CustomNode

/** Characters with the same formatting. */
export interface InlineText {
  readonly kind: 'text'
  readonly text: string
  readonly marks: BlockMarks
}

export interface HardBreak {
  readonly kind: 'hardBreak'
}

/** The formatting of a text. */
export interface BlockMarks {
  readonly bold?: true
  readonly italic?: true
  readonly strike?: true
  readonly code?: true
  readonly underline?: true
  readonly subscript?: true
  readonly superscript?: true
  readonly link?: { readonly href: string; readonly title: string | null }
}

/** A node of the tree: a block, or a part of a block that has children of its own. */
export type BlockNode = NeutralBlock | ListItem | TaskItem | TableRow | TableCell

/** Returns the child nodes of a node. Nodes with a line of text, and atoms, have none. */
export const blockChildren = (node: BlockNode): readonly BlockNode[] =>
  'children' in node ? node.children : []
