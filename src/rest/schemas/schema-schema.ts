import { type FromSchema, json } from '../../core/base/schema.ts'
import { presetNames } from '../../core/content/schemas/presets/presets.ts'
import type { SchemaRecord } from '../../core/directory/schemas/schema-service.ts'

const time = json.integer('Epoch milliseconds.')

/** Maximum length of the name of a schema in characters. */
const nameLengthMax = 100

export const schemaVersion = json.integer('Version of the schema. It cannot decrease.', {
  minimum: 1,
  examples: [2],
})

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
  version: schemaVersion,
  createdAt: time,
  lastUpdated: time,
})

export const toSchemaEntry = ({
  name,
  version,
  createdAt,
  lastUpdated,
}: SchemaRecord): FromSchema<typeof schemaEntry> => ({ name, version, createdAt, lastUpdated })

const id = json.text()
const migratedEditor = { organizationId: id, documentId: id, editorId: id } as const

export const migrationReport = json.object(
  {
    status: json.choice(['running', 'done']),
    toVersion: schemaVersion,
    dryRun: json.boolean('True if nothing was written.'),
    processed: json.integer('Number of editors that were behind, so far.'),
    changed: json.integer('Number of those with other content now.'),
    failed: json.integer('Number of editors and branches that stay as they are.'),
    failures: json.list(json.object({ ...migratedEditor, code: json.text(), message: json.text() })),
    examples: json.list(json.object({ ...migratedEditor, changes: json.integer() })),
    startedAt: time,
    endedAt: json.orNull(time),
  },
  {},
  { description: 'The last migration or dry run, with its first failures and changed editors.' },
)

export const noSuchSchemaError = {
  code: 'schema/not-found',
  when: 'there is no schema with this name',
} as const
