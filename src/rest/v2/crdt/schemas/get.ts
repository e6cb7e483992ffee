import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import {
  contentSchemaName,
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
  description: 'Returns a schema that the API key has stored.',
  request: json.object({ name: contentSchemaName }),
  response: json.object({ ...schemaEntry.properties, schema: schemaDefinition }),
  errors: [noSuchSchemaError],
  async handler({ name }, { caller, services }) {
    const record = await services.schemas.get(caller.tenant, name)
    const schema: object = record.schema
    return { message: 'Schema found.', data: { ...toSchemaEntry(record), schema: { ...schema } } }
  },
})
