import { json } from '../../../../core/base/schema.ts'
import { defineOperation } from '../../../operation.ts'
import { contentSchemaName, noSuchSchemaError } from '../../../schemas/schema-schema.ts'

export const deleteSchema = defineOperation({
  path: '/v2/crdt/schemas/delete',
  auth: 'key',
  effect: 'once',
  audited: 'admin',
  summary: 'Delete a schema of content',
  description:
    'Writes of editors to which the schema is attached are rejected until the schema is stored again, or until a write ' +
    'attaches another schema.',
  request: json.object({ name: contentSchemaName }),
  response: json.object({ name: json.text() }),
  errors: [noSuchSchemaError],
  async handler({ name }, { caller, services }) {
    await services.schemas.delete(caller.tenant, name)
    return { message: 'Schema deleted.', data: { name } }
  },
})
