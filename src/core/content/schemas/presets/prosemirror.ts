import type { AttributeSpec, SchemaSpec } from '../schema-spec.ts'

const text: AttributeSpec = { default: null, type: 'string|null' }
const required: AttributeSpec = { type: 'string' }

/** The schemas `prosemirror-schema-basic` and `prosemirror-schema-list`, with lists as in their examples. */
export const prosemirrorSpec: SchemaSpec = {
  contentKey: 'prosemirror',
  nodes: {
    doc: { content: 'block+' },
    paragraph: { content: 'inline*', group: 'block' },
    blockquote: { content: 'block+', group: 'block' },
    horizontal_rule: { group: 'block' },
    heading: { content: 'inline*', group: 'block', attributes: { level: { default: 1, type: 'number' } } },
    code_block: { content: 'text*', marks: '', group: 'block' },
    text: { group: 'inline' },
    image: { group: 'inline', inline: true, attributes: { src: required, alt: text, title: text } },
    hard_break: { group: 'inline', inline: true },
    ordered_list: {
      content: 'list_item+',
      group: 'block',
      attributes: { order: { default: 1, type: 'number' } },
    },
    bullet_list: { content: 'list_item+', group: 'block' },
    list_item: { content: 'paragraph block*' },
  },
  marks: {
    link: { attributes: { href: required, title: text } },
    em: {},
    strong: {},
    code: {},
  },
}
