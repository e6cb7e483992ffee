import type { FromSchema } from '../../core/base/schema.ts'
import { presetNames } from '../../core/content/schemas/presets/presets.ts'
import type { SchemaRecord } from '../../core/directory/schemas/schema-service.ts'

const time = { type: 'integer', description: 'Epoch milliseconds.' } as const

/** Maximum length of the name of a schema in characters. */
const nameLengthMax = 100

export const contentSchemaName = {
  type: 'string',
  format: 'id',
  maxLength: nameLengthMax,
  description: 'Name of the schema.',
  examples: ['article'],
} as const

/** The member `schema` of a write. */
export const attachedSchemaName = {
  type: 'string',
  format: 'id',
  maxLength: nameLengthMax,
  description:
    `Schema of the editor: ${presetNames.map((name) => `\`${name}\``).join(', ')}, or the name of a schema of the API key. ` +
    'It is attached to the editor. From then on, each write must match it.',
} as const

export const schemaDefinition = {
  type: 'object',
  properties: {},
  additionalProperties: {},
  description:
    'Nodes and marks, as in the `spec` of a ProseMirror schema: `nodes` by name, each with `content`, `marks`, `group`, ' +
    '`inline` and `attributes`; `marks` by name, each with `excludes`, `group` and `attributes`; `topNode`; and ' +
    '`contentKey`. An attribute has `default` and `type`.',
  examples: [
    {
      nodes: {
        doc: { content: 'paragraph+' },
        paragraph: { content: 'text*' },
        text: {},
      },
      marks: { bold: {} },
      contentKey: 'default',
    },
  ],
} as const

export const schemaEntry = {
  type: 'object',
  required: ['name', 'createdAt', 'lastUpdated'],
  properties: { name: { type: 'string' }, createdAt: time, lastUpdated: time },
} as const

export const toSchemaEntry = ({
  name,
  createdAt,
  lastUpdated,
}: SchemaRecord): FromSchema<typeof schemaEntry> => ({ name, createdAt, lastUpdated })

export const noSuchSchemaError = {
  status: 'NOT_FOUND',
  code: 'schema/not-found',
  when: 'there is no schema with this name',
} as const
