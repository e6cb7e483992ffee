import type { AllowedTypes, TextSchema } from '../check-text.ts'

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
