import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  contentSchemaName,
  migrationReport,
  noSuchSchemaError,
  schemaDefinition,
  schemaEntry,
  toSchemaEntry,
} from '../../../schemas/schema-schema.ts'

export const getSchema = defineOperation({
  path: '/v2/crdt/schemas/get',
  auth: 'key',
  effect: 'reads',
  audited: 'read',
  summary: 'Read a schema of content',
  description: 'Returns a schema that the API key has stored, and the progress of its last migration.',
  request: json.object({ name: contentSchemaName }),
  response: json.object(
    { ...schemaEntry.properties, schema: schemaDefinition },
    { migration: migrationReport },
  ),
  errors: [noSuchSchemaError],
  async handler({ name }, { caller, services }) {
    const record = await services.schemas.get(caller.tenant, name)
    const schema: object = record.schema
    const migration = await services.schemas.migrationOf(caller.tenant, name)
    const progress = migration === null ? {} : { migration: migration.report }
    const data = { ...toSchemaEntry(record), schema: { ...schema }, ...progress }
    return { message: 'Schema found.', data }
  },
})
