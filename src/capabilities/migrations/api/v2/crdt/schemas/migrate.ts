import { json } from '../../../../../../core/base/schema.ts'
import { migrationRules } from '../../../../../../core/content/migration/rules.ts'
import { defineOperation } from '../../../../../../rest/operation.ts'
import {
  contentSchemaName,
  migrationReport,
  noSuchSchemaError,
} from '../../../../../../rest/schemas/schema-schema.ts'

const rulesMax = 100
const name = (description: string) => json.text(description, { maxLength: 100 })

const rule = json.object(
  {
    rule: json.choice(
      migrationRules,
      '`setDefault` sets an attribute that is absent. `wrapNode` puts each node into a node `to`, unless it is in one. ' +
        '`dropNode` deletes nodes with their content.',
    ),
    name: name('Name of the node, the mark or the attribute.'),
  },
  {
    node: name('The node with the attribute, by its new name.'),
    to: name('The new name, or the node that wraps.'),
    value: { description: 'The default of the attribute.' },
  },
)

export const migrateSchema = defineOperation({
  path: '/v2/crdt/schemas/migrate',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Migrate the documents of a schema',
  description:
    'Rewrites all editors with the schema that are one version behind, in the background, as edits of `userId`. ' +
    '`/v2/crdt/schemas/get` returns the progress. A repeated migration skips editors at the version.',
  request: json.object(
    {
      name: contentSchemaName,
      toVersion: json.integer('The version that the editors get.', { minimum: 2 }),
      rules: json.list(rule, {
        maxItems: rulesMax,
        description: 'No rule may apply to the result of another one.',
        examples: [[{ rule: 'renameNode', name: 'callout', to: 'panel' }]],
      }),
    },
    {
      dryRun: json.flag('True: counts the editors that would change, and writes nothing.'),
      userId: json.id('Author of the edits.'),
    },
  ),
  response: migrationReport,
  errors: [
    noSuchSchemaError,
    { code: 'schema/invalid-migration', when: 'a rule is invalid, or the schema has no such version' },
    { code: 'schema/migration-running', when: 'a migration of the schema is running' },
  ],
  async handler({ name: schema, dryRun = false, userId = '', ...request }, { caller, services }) {
    const data = await services.migrations.begin(caller.tenant, schema, { ...request, dryRun, userId })
    return { message: 'Migration started.', data }
  },
})
