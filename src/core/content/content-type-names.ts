import type { KnownKind } from './yjs/root-kind.ts'

/**
 * Name of a content type in the REST API: the kind of a root, or another form of a kind. `delta` is a form of
 * the kind `text`; `html` and `prosemirror` are forms of the kind `xml`; `markdown` is a form of both kinds.
 */
export type ContentTypeName = KnownKind | 'delta' | 'markdown' | 'html' | 'prosemirror'

/** Properties of a content type for schemas and commands. */
interface ContentTypeFacts {
  /** Describes the data in a noun phrase that fits into a sentence. */
  readonly data: string
  readonly editors?: string
  /**
   * Type of the data that a read returns if this content type is its format; null if a read cannot have this
   * format.
   */
  readonly reading: 'string' | 'json' | null
}

const facts = {
  text: { data: 'a string', reading: 'string' },
  map: { data: 'an object', reading: null },
  array: { data: 'an array', reading: null },
  xml: { data: 'a string', reading: 'string' },
  markdown: { data: 'a string', reading: 'string' },
  html: { data: 'a string', reading: 'string' },
  delta: { data: 'a Quill delta', reading: 'json' },
  xmltext: { data: '`{ attributes, delta }`', editors: 'Lexical, Slate', reading: 'json' },
  prosemirror: { data: 'a ProseMirror document in JSON', editors: 'ProseMirror, Tiptap', reading: 'json' },
} as const satisfies Record<ContentTypeName, ContentTypeFacts>

type NamesRead<Reading> = {
  [Name in ContentTypeName]: (typeof facts)[Name]['reading'] extends Reading ? Name : never
}[ContentTypeName]

export const contentTypeNames = Object.keys(facts) as readonly ContentTypeName[]

/** Content types that a read accepts as its format. */
export const readableTypes = contentTypeNames.filter(
  (name): name is NamesRead<'string' | 'json'> => facts[name].reading !== null,
)

/** Content types that a read returns as a string. */
export const stringTypes = contentTypeNames.filter(
  (name): name is NamesRead<'string'> => facts[name].reading === 'string',
)

/** The forms of the data as the end of a sentence, for example: ``a string for `text` and `xml`, …``. */
export const dataForms: string = [...new Set(contentTypeNames.map((name) => facts[name].data))]
  .map((data) => {
    const names = contentTypeNames.filter((name) => facts[name].data === data)
    const editors = names.map((name): ContentTypeFacts => facts[name]).flatMap((each) => each.editors ?? [])
    const note = editors.length > 0 ? ` (${editors.join(', ')})` : ''
    return `${data} for ${names.map((name) => `\`${name}\``).join(' and ')}${note}`
  })
  .join(', ')

/**
 * Formats of a comparison. `runs`: the content of both versions in parts. `markdown`: Markdown with `<ins>` and `<del>`.
 * `prosemirror`: ProseMirror JSON with marks. `patch`: JSON Patch (RFC 6902).
 */
export const diffFormats = ['runs', 'markdown', 'prosemirror', 'patch'] as const

export type DiffFormat = (typeof diffFormats)[number]
