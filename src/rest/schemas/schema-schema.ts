import { type FromSchema, json } from '../../core/base/schema.ts'
import { presetNames } from '../../core/content/schemas/presets/presets.ts'
import type { SchemaRecord } from '../../core/directory/schemas/schema-service.ts'

const time = json.integer('Epoch milliseconds.')

/** Maximum length of the name of a schema in characters. */
const nameLengthMax = 100

export const contentSchemaName = json.id('Name of the schema.', {
  maxLength: nameLengthMax,
  examples: ['article'],
})

/** The member `schema` of a write. */
export const attachedSchemaName = json.id(
  `Schema of the editor: ${presetNames.map((name) => `\`${name}\``).join(', ')}, or the name of a schema of the API key. ` +
    'It is attached to the editor. From then on, each write must match it.',
  { maxLength: nameLengthMax },
)

export const schemaDefinition = json.object(
  {},
  {},
  {
    additionalProperties: {},
    description:
      'Nodes and marks, as in the `spec` of a ProseMirror schema: `nodes` by name, each with `content`, `marks`, `group`, ' +
      '`inline` and `attributes`; `marks` by name, each with `excludes`, `group` and `attributes`; `topNode`; ' +
      '`contentKey`; and `protected`, the names of the marks and attributes whose content agents must not change. An attribute has `default` and `type`.',
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
  },
)

export const schemaEntry = json.object({
  name: json.text(),
  createdAt: time,
  lastUpdated: time,
})

export const toSchemaEntry = ({
  name,
  createdAt,
  lastUpdated,
}: SchemaRecord): FromSchema<typeof schemaEntry> => ({ name, createdAt, lastUpdated })

export const noSuchSchemaError = {
  code: 'schema/not-found',
  when: 'there is no schema with this name',
} as const
