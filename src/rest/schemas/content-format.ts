import { json } from '../../core/base/schema.ts'
import { readableTypes } from '../../core/content/content-type-names.ts'
import { type DocumentReading, readingFormats, updateEncodings } from '../../core/content/read-document.ts'
import { documentErrors } from './resource-schema.ts'

/** Schema of the format in which a response contains the content of an editor. */
export const contentFormat = json.choice(
  readingFormats,
  `\`json\`: as update takes it for the type found; ${readableTypes.map((name) => `\`${name}\``).join(', ')}: as update takes it for that type; ` +
    '`update`: base64 of the Yjs state; `roots`: `[{ contentKey, type }]` of all roots, where the type `none` is ' +
    'that of an empty root which may become any. `update` and `roots` need no root of the name `contentKey`.',
  { default: 'json' },
)

/** Schema of the encoding of updates. */
export const updateEncoding = { type: 'string', enum: updateEncodings, default: 'v1' } as const

/** Schema of the encoding in which a response contains a Yjs state. */
export const stateEncoding = {
  ...updateEncoding,
  description: 'Encoding of the Yjs state with `format` `update`.',
} as const

/** Errors of operations on the content of an editor. */
export const contentErrors = [
  ...documentErrors,
  { code: 'crdt/no-content', when: 'there is no CRDT data for the editor id' },
] as const

export const noSuchRoot = {
  code: 'crdt/root-not-found',
  when: 'there are roots, and none of them is called `contentKey`: `details.roots` names up to 20 of them',
} as const

/**
 * Returns the remedy for content that is too large in `format`. The remedy specifies formats in which the
 * content is shorter.
 */
export const smallerFormats = (format: DocumentReading['format']): string =>
  format === 'delta' ? 'request format "text" or "update"' : 'request format "update"'
