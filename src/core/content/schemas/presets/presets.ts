import {
  type AllowedTypes,
  type ContentSchema,
  compileSchema,
  type TextSchema,
  type XmlTextSchema,
} from '../compiled-schema.ts'
import type { AttributeSpec, SchemaSpec } from '../schema-spec.ts'
import { blocknoteSpec } from './blocknote.ts'
import { tiptapSpec } from './tiptap.ts'

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

const typed = (types: Readonly<Record<string, string>>): AllowedTypes =>
  new Map(Object.entries(types).map(([name, list]) => [name, new Set(list.split('|'))]))

/** The formats and embeds of Quill, with the types of their values in a delta. */
export const quillSchema: TextSchema = {
  is: 'text',
  contentKey: 'quill',
  formats: typed({
    align: 'string',
    background: 'string',
    blockquote: 'boolean',
    bold: 'boolean',
    code: 'boolean',
    'code-block': 'boolean|string',
    color: 'string',
    direction: 'string',
    font: 'string',
    header: 'number|string',
    indent: 'number|string',
    italic: 'boolean',
    link: 'string',
    list: 'string',
    script: 'string',
    size: 'string',
    strike: 'boolean',
    table: 'string',
    underline: 'boolean',
    // Attributes of embeds.
    alt: 'string',
    height: 'number|string',
    width: 'number|string',
  }),
  embeds: typed({ formula: 'string', image: 'string', video: 'string' }),
}

/** Lexical with the nodes of its rich text, list, link, code, table, hashtag, mark and overflow packages. */
export const lexicalSchema: XmlTextSchema = {
  is: 'xmltext',
  contentKey: 'root',
  topNode: 'root',
  typeAttribute: '__type',
  texts: new Set([
    'autolink',
    'code',
    'heading',
    'link',
    'list',
    'listitem',
    'mark',
    'overflow',
    'paragraph',
    'quote',
    'table',
    'tablecell',
    'tablerow',
  ]),
  maps: new Set(['code-highlight', 'hashtag', 'linebreak', 'tab', 'text']),
  elements: new Set(['horizontalrule']),
}

/** Slate: nested texts only. Slate has no names of its own, so a node may have any type, or none. */
const slateSchema: XmlTextSchema = {
  is: 'xmltext',
  contentKey: 'content',
  topNode: 'editor',
  typeAttribute: 'type',
  texts: null,
  maps: new Set(),
  elements: new Set(),
}

/** Names of the schemas that need no definition. */
export const presetNames = ['tiptap', 'prosemirror', 'blocknote', 'quill', 'lexical', 'slate'] as const

type PresetName = (typeof presetNames)[number]

export const isPresetName = (name: string): name is PresetName => presetNames.some((known) => known === name)

const presets: Readonly<Record<PresetName, ContentSchema>> = {
  tiptap: compileSchema(tiptapSpec),
  prosemirror: compileSchema(prosemirrorSpec),
  blocknote: compileSchema(blocknoteSpec),
  quill: quillSchema,
  lexical: lexicalSchema,
  slate: slateSchema,
}

export const presetSchema = (name: PresetName): ContentSchema => presets[name]

/** Returns whether a preset has a node or mark with this name. */
export const isPresetWord = (name: string): boolean => words.has(name)

const words: ReadonlySet<string> = new Set(
  [tiptapSpec, prosemirrorSpec, blocknoteSpec].flatMap(({ nodes, marks }) => [
    ...Object.keys(nodes),
    ...Object.keys(marks ?? {}),
  ]),
)
