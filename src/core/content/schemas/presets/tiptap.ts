import type { AttributeSpec, NodeSpec, SchemaSpec, SpecsByAttribute } from '../schema-spec.ts'

const text: AttributeSpec = { default: null, type: 'string|null' }
const size: AttributeSpec = { default: null, type: 'number|string|null' }

/** The attribute of the extension TextAlign. */
const aligned: SpecsByAttribute = { textAlign: text }

const cell: NodeSpec = {
  content: 'block+',
  attributes: {
    colspan: { default: 1, type: 'number' },
    rowspan: { default: 1, type: 'number' },
    colwidth: { default: null, type: 'array|null' },
    align: text,
  },
}

/**
 * Tiptap with StarterKit and the extensions Image, TableKit, TaskList, TaskItem, TextStyleKit, Mention,
 * TextAlign, Highlight, Subscript and Superscript. If an extension has several configurations, each of them
 * fits: an image may be a block or inline, and tasks may be nested.
 */
export const tiptapSpec: SchemaSpec = {
  contentKey: 'default',
  nodes: {
    paragraph: { content: 'inline*', group: 'block', attributes: aligned },
    blockquote: { content: 'block+', group: 'block' },
    bulletList: { content: 'listItem+', group: 'block list' },
    codeBlock: { content: 'text*', marks: '', group: 'block', attributes: { language: text } },
    doc: { content: 'block+' },
    hardBreak: { group: 'inline', inline: true },
    heading: {
      content: 'inline*',
      group: 'block',
      attributes: { level: { default: 1, type: 'number' }, ...aligned },
    },
    horizontalRule: { group: 'block' },
    image: {
      group: 'block inline',
      inline: true,
      attributes: { src: text, alt: text, title: text, width: size, height: size },
    },
    listItem: { content: 'paragraph block*' },
    mention: {
      group: 'inline',
      inline: true,
      attributes: { id: size, label: text, mentionSuggestionChar: { default: '@', type: 'string|null' } },
    },
    orderedList: {
      content: 'listItem+',
      group: 'block list',
      attributes: { start: { default: 1, type: 'number' }, type: text },
    },
    table: { content: 'tableRow+', group: 'block' },
    tableCell: cell,
    tableHeader: cell,
    tableRow: { content: '(tableCell | tableHeader)*' },
    taskItem: {
      content: 'paragraph block*',
      attributes: { checked: { default: false, type: 'boolean' } },
    },
    taskList: { content: 'taskItem+', group: 'block list' },
    text: { group: 'inline' },
  },
  marks: {
    bold: {},
    code: { excludes: '_' },
    highlight: { attributes: { color: text } },
    italic: {},
    link: {
      attributes: {
        href: text,
        target: { default: '_blank', type: 'string|null' },
        rel: { default: 'noopener noreferrer nofollow', type: 'string|null' },
        class: text,
        title: text,
      },
    },
    strike: {},
    subscript: {},
    superscript: {},
    textStyle: {
      attributes: { backgroundColor: text, color: text, fontFamily: text, fontSize: text, lineHeight: text },
    },
    underline: {},
  },
}
