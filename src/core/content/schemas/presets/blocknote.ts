import type { AttributeSpec, NodeSpec, SchemaSpec, SpecsByAttribute } from '../schema-spec.ts'

const text = (initial: string): AttributeSpec => ({ default: initial, type: 'string' })
const flag = (initial: boolean): AttributeSpec => ({ default: initial, type: 'boolean' })
const optional = (type: string): AttributeSpec => ({ default: null, type: `${type}|null` })

const colors: SpecsByAttribute = { backgroundColor: text('default'), textColor: text('default') }
const styles: SpecsByAttribute = { ...colors, textAlignment: text('left') }

const block = (attributes: SpecsByAttribute): NodeSpec => ({
  content: 'inline*',
  group: 'blockContent',
  attributes,
})

const file = (attributes: SpecsByAttribute): NodeSpec => ({
  content: '',
  group: 'blockContent',
  attributes: {
    backgroundColor: text('default'),
    name: text(''),
    url: text(''),
    caption: text(''),
    ...attributes,
  },
})

const picture = file({
  textAlignment: text('left'),
  showPreview: flag(true),
  previewWidth: optional('number'),
})

const cell: NodeSpec = {
  content: 'tableContent+',
  marks: '',
  attributes: {
    ...styles,
    colspan: { default: 1, type: 'number' },
    rowspan: { default: 1, type: 'number' },
    colwidth: optional('array'),
  },
}

/** BlockNote with its own blocks. */
export const blocknoteSpec: SchemaSpec = {
  contentKey: 'document-store',
  nodes: {
    audio: file({ showPreview: flag(true) }),
    blockContainer: {
      content: 'blockContent blockGroup?',
      marks: '',
      group: 'blockGroupChild bnBlock',
      attributes: { id: optional('string') },
    },
    blockGroup: { content: 'blockGroupChild+', marks: '', group: 'childContainer' },
    bulletListItem: block(styles),
    checkListItem: block({ ...styles, checked: flag(false) }),
    codeBlock: { content: 'text*', marks: '', group: 'blockContent', attributes: { language: text('text') } },
    divider: { content: '', group: 'blockContent' },
    doc: { content: 'blockGroup', marks: '' },
    file: file({}),
    hardBreak: { group: 'inline', inline: true },
    heading: block({ ...styles, level: { default: 1, type: 'number' }, isToggleable: flag(false) }),
    image: picture,
    numberedListItem: block({ ...styles, start: optional('number') }),
    paragraph: block(styles),
    quote: block(colors),
    table: {
      content: 'tableRow+',
      marks: '',
      group: 'blockContent',
      attributes: { textColor: text('default') },
    },
    tableCell: cell,
    tableHeader: cell,
    tableParagraph: { content: 'inline*', group: 'tableContent' },
    tableRow: { content: '(tableCell | tableHeader)+', marks: '' },
    text: { group: 'inline' },
    toggleListItem: block(styles),
    video: picture,
  },
  marks: {
    backgroundColor: { attributes: { stringValue: optional('string') } },
    bold: {},
    code: { excludes: '_' },
    italic: {},
    link: { attributes: { href: optional('string') } },
    strike: {},
    textColor: { attributes: { stringValue: optional('string') } },
    underline: {},
  },
}
