import { type NodeSpec, Schema } from 'prosemirror-model'
import { marks, nodes } from 'prosemirror-schema-basic'
import { bulletList, listItem } from 'prosemirror-schema-list'

/** An attribute from REST is also text. The level is below the heading of the page. */
const levelOf = (level: unknown): number => Math.min(6, Math.max(2, Number(level) || 2))

/** The heading of the basic schema accepts only numbers, and the binding removes values that the schema rejects. */
const heading: NodeSpec = {
  ...nodes.heading,
  attrs: { level: { default: 2 } },
  toDOM: ({ attrs: { level } }) => [`h${levelOf(level)}`, 0],
}

/** Only nodes and marks that the toolbar can create. */
export const schema = new Schema({
  nodes: {
    doc: nodes.doc,
    paragraph: nodes.paragraph,
    heading,
    bullet_list: { ...bulletList, content: 'list_item+', group: 'block' },
    list_item: { ...listItem, content: 'paragraph block*' },
    text: nodes.text,
    hard_break: nodes.hard_break,
  },
  marks: { em: marks.em, strong: marks.strong },
})
