import { type NodeSpec, Schema } from 'prosemirror-model'
import { marks, nodes } from 'prosemirror-schema-basic'
import { bulletList, listItem } from 'prosemirror-schema-list'

/**
 * Returns the level of a heading; at least 2, because the page has the heading of level 1. The attribute may
 * be a text if REST has written it.
 */
const levelOf = (level: unknown): number => Math.min(6, Math.max(2, Number(level) || 2))

/**
 * Heading that accepts any value as its level. The heading of the basic schema accepts only numbers. The
 * binding removes content that the schema rejects.
 */
const heading: NodeSpec = {
  ...nodes.heading,
  attrs: { level: { default: 2 } },
  toDOM: ({ attrs: { level } }) => [`h${levelOf(level)}`, 0],
}

/** Schema of the editor. It contains only nodes and marks that the toolbar can create. */
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
